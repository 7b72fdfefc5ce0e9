"""Make BENCHMARKS.md, the page of all tables and the pictures: `python -m benchmarks.peers.document [--results DIR]`."""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.peers.pareto import beaten_by
from benchmarks.peers.rows import Row, Table, is_ours, label, mean, measures, seconds
from benchmarks.peers.tables_page import IMAGES, around, compose_tables, missing_tables, read
from benchmarks.peers.verdicts import fronts, level_is_odd

__all__ = ["TABLES_PAGE", "TRADE_OFFS", "compose", "trade_offs"]

_ROOT = Path(__file__).resolve().parents[2]
_RESULTS = Path(__file__).parent / "results"
#: The page of the site that has every table.
TABLES_PAGE = "docs/project/benchmark-tables.md"
#: The page of the benchmark of change detectors, which `make bench-changes` writes.
CHANGES_PAGE = "docs/project/benchmark-changes.md"
#: The table whose rows of ours docs/which-method.md shows, between these lines.
TRADE_OFFS = "mixture-10-large"
_BEGIN, _END = "<!-- made from the peers benchmark -->", "<!-- end of what was made -->"
#: The table whose picture stands on the short page.
_SHOWN = "covtype-large"
_RANDOM, _K_MEANS = "random rows", "scikit-learn k-means nearest rows [cluster weights]"

_CAVEATS = (
    "One judge for all, in plain NumPy, imports nothing of ours; nobody was tuned on these tables. All methods that take a "
    "kernel have the same one: Gaussian, with the median distance as its bandwidth.",
    "k-means aims at distances to the nearest point, not at MMD: it is judged here by something that it does not aim at.",
    "Weights alone lower the MMD of any points. `sbq` solves for weights; hardly any peer does, so compare it with care.",
    "Times are warm: the mean of calls after the first. Ours compile in the first call of a process.",
    "One machine and few draws: the page of all tables has standard errors, and a difference of less than two is none.",
)


def compose(tables: Mapping[str, Table]) -> str:
    """Return the short document; every number in it comes from the tables."""
    selections = [table for table in tables.values() if table["kind"] == "selection"]
    comparisons = [table for table in tables.values() if table["kind"] == "comparison"]
    minutes = sum(table["seconds"] for table in tables.values()) / 60.0
    lines = [
        "# Beside the field",
        "",
        "Our ways to choose a few rows of many, and to test whether two samples differ, beside those of other packages. "
        f"`make bench-peers` measures everything again ({minutes:.0f} minutes) and writes this page from the results; no "
        f"number in it is written by hand. [All tables]({TABLES_PAGE}) has every method, first calls, memory, pictures, and "
        f"what was left out and why. Alarms on streams have [a page of their own]({CHANGES_PAGE}).",
        "",
        *missing_tables(tables),
    ]
    if selections:
        lines += ["## Choosing rows", "", *_choosing(selections), ""]
    if comparisons:
        lines += ["## Testing whether two samples differ", "", *_testing(comparisons), ""]
    lines += ["## Before you trust it", "", *(f"- {each}" for each in _CAVEATS), "", *around(tables), ""]
    return "\n".join(lines)


def _choosing(selections: Sequence[Table]) -> list[str]:
    """Return how far the rows of a few methods are from the data, who is nearest how often, and where we lose."""
    lines = [
        "True MMD between the chosen rows and the data: 0 if they have the same distribution; lower is better. In brackets "
        "warm seconds. `stream` is `ss.SuperSampler`, one pass over the rows; the closest peer is the best of all that weigh "
        "their rows equally.",
        "",
        "| data | rows to M | random rows | k-means, nearest rows | closest peer | `stream` | `herd` | `sbq`, free weights |",
        "|---|---:|---:|---:|---|---:|---:|---:|",
    ]
    for table in selections:
        by_label = {label(row): row for row in table["rows"]}
        peer = _closest_peer(table)
        cells = [table["data"], f"{table['n']:,} to {table['m']}"]
        cells += ["" if name not in by_label else _place(by_label[name]) for name in (_RANDOM, _K_MEANS)]
        cells.append(f"{label(peer)}: {_place(peer)}")
        cells += [_place(by_label[name]) if name in by_label else "" for name in ("stream", "herd", "sbq [free weights]")]
        lines.append(f"| {' | '.join(cells)} |")
    shown = next((table for table in selections if table["name"] == _SHOWN), selections[-1])
    picture = f"![True MMD against seconds: {shown['data']}](docs/{IMAGES}/{shown['name']}.png)"
    return [*lines, "", *_counts(selections), "", "Where we lose:", "", *_losses(selections), "", picture]


def _counts(selections: Sequence[Table]) -> list[str]:
    """Say in how many tables ours are closest, and on the Pareto front."""
    lowest, lowest_equal = Counter[str](), Counter[str]()
    on_both = 0
    for table in selections:
        rows = table["rows"]
        equal = [row for row in rows if row["weights"] == "equal"]
        lowest[label(min(rows, key=lambda row: mean(row["mmd"])))] += 1
        lowest_equal[label(min(equal, key=lambda row: mean(row["mmd"])))] += 1
        ours = {label(row) for row in rows if is_ours(row)}
        on_both += all(ours & set(names) for names in fronts(table))
    count = len(selections)
    return [
        f"- The lowest MMD of all: {_tally(lowest, count)}. Of rows that count equally: {_tally(lowest_equal, count)}.",
        f"- In {on_both} of {count} tables a method of ours is on both fronts (of all rows, and of those with equal weights): "
        "nobody is both faster and closer.",
    ]


def _losses(selections: Sequence[Table]) -> list[str]:
    """Say of each method of ours in how many tables a peer is both faster and closer, and how ours do cold and in memory."""
    beaten: dict[str, Counter[str]] = {}
    tables_of = Counter[str]()
    for table in selections:
        by_label = {label(row): row for row in table["rows"]}
        for name in (label(row) for row in table["rows"] if is_ours(row)):
            peers = [each for each in beaten_by(measures(table["rows"]), name) if not is_ours(by_label[each])]
            beaten.setdefault(name, Counter()).update(peers)
            tables_of[name] += bool(peers)
    lines = [
        f"- {_ours(name)} is beaten by a peer that is both faster and closer in {tables_of[name]} of {len(selections)} tables"
        + (f": {', '.join(f'{peer} ({times})' for peer, times in peers.most_common(3))}." if peers else ".")
        for name, peers in beaten.items()
    ]
    ours = [row for table in selections for row in table["rows"] if is_ours(row)]
    lines.append(
        f"- The first call of a process compiles: ours take {min(row['cold'] for row in ours):.2g} to "
        f"{max(row['cold'] for row in ours):.2g} s then."
    )
    lighter = Counter(
        label(row)
        for table in selections
        for row in table["rows"]
        if not is_ours(row)
        and row["package"] != "none"
        and row["peak_mb"] < min(each["peak_mb"] for each in table["rows"] if is_ours(each))
    )
    lines.append(
        f"- Ours take {min(row['peak_mb'] for row in ours):,.0f} to {max(row['peak_mb'] for row in ours):,.0f} MB at their "
        f"peak, compiler included; less than all of ours take {_tally(lighter, len(selections))}."
    )
    return lines


def _testing(comparisons: Sequence[Table]) -> list[str]:
    """Return seconds, power, level and zeros of every test at each size."""
    labels = list(dict.fromkeys(label(row) for table in comparisons for row in sorted(table["rows"], key=seconds)))
    sizes = [f"{table['n']:,} + {table['n']:,} rows" for table in comparisons]
    lines = [
        "Warm seconds, and in how many calls a shift was seen (in brackets). The levels, counted where nothing changed, and "
        "the p-values are in the page of all tables.",
        "",
        f"| test | {' | '.join(sizes)} |",
        f"|---|{'---:|' * len(sizes)}",
    ]
    for name in labels:
        found = [next((row for row in table["rows"] if label(row) == name), None) for table in comparisons]
        ours = any(row is not None and is_ours(row) for row in found)
        cells = [
            "" if row is None else f"{seconds(row):.3g} ({sum(row['rejects']):.3g} of {len(row['rejects'])})" for row in found
        ]
        lines.append(f"| {f'**{name}**' if ours else name} | {' | '.join(cells)} |")
    rows = [row for table in comparisons for row in table["rows"]]
    zero = sorted({label(row) for row in rows if row["far_pvalue"] == 0.0})
    odd = sorted({label(row) for row in rows if level_is_odd(row)})
    lines += ["", f"- A p-value of exactly 0 was returned by {', '.join(zero) or 'nobody'}."]
    lines += [f"- The level was more than three standard errors from 5% for {', '.join(odd) or 'nobody'}."]
    return lines


def _closest_peer(table: Table) -> Row:
    peers = [row for row in table["rows"] if not is_ours(row) and row["weights"] == "equal" and row["package"] != "none"]
    return min(peers, key=lambda row: mean(row["mmd"]))


def _place(row: Row) -> str:
    return f"{mean(row['mmd']):.3g} ({seconds(row):.2g})"


def _ours(name: str) -> str:
    """Return the name of a method of ours in a sentence; the points of sbq are chosen for the weights that it solves for."""
    return {"sbq": "`sbq` with equal weights in place of its own", "sbq [free weights]": "`sbq`"}.get(name, f"`{name}`")


def _tally(counts: Counter[str], total: int) -> str:
    return ", ".join(f"{name} ({times} of {total})" for name, times in counts.most_common()) or "nobody"


def trade_offs(table: Table) -> str:
    """Return what ours cost and give in one table, as Markdown, for the page that says which method to use."""
    rows = sorted(filter(is_ours, table["rows"]), key=lambda row: mean(row["mmd"]))
    lines = [
        f"{table['n']:,} rows of {table['data']} to {table['m']} ([BENCHMARKS](../BENCHMARKS.md)):",
        "",
        "| | true MMD | seconds, warm | cold | peak MB |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| `{row['method']}`, {row['weights']} weights | {mean(row['mmd']):.3g} | {seconds(row):.3g} | {row['cold']:.3g} "
            f"| {row['peak_mb']:,.0f} |"
            for row in rows
        ),
    ]
    return "\n".join(lines)


def main() -> int:
    """Write both documents, a picture for each table of selections, and our trade-offs into the page on methods."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers.document", description="BENCHMARKS.md from the results.")
    parser.add_argument("--results", type=Path, default=_RESULTS, help="folder of NAME.json")
    parser.add_argument("--out", type=Path, default=_ROOT, help="folder of BENCHMARKS.md and docs/")
    arguments = parser.parse_args()
    from benchmarks.peers.pictures import draw  # the documents themselves need no pictures to be made

    tables = read(arguments.results)
    if not tables:
        parser.error(f"--results {arguments.results} holds no table; run python -m benchmarks.peers first")
    folder = arguments.out / "docs" / IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        if table["kind"] == "selection":
            draw(table, folder / f"{name}.png")
    (arguments.out / "BENCHMARKS.md").write_text(compose(tables), encoding="utf-8")
    every = arguments.out / TABLES_PAGE
    every.parent.mkdir(parents=True, exist_ok=True)
    every.write_text(compose_tables(tables), encoding="utf-8")
    page = arguments.out / "docs" / "which-method.md"
    if TRADE_OFFS in tables and page.exists():
        before, begin, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
        _, end, after = rest.partition(_END)
        page.write_text(f"{before}{begin}\n\n{trade_offs(tables[TRADE_OFFS])}\n\n{end}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
