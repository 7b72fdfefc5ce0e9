"""Make and print the page of the benchmark of changes: `python -m benchmarks.changes.page [--results DIR] [--out DIR]`."""

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.changes.protocol import RUN_LENGTH
from benchmarks.changes.streams import ORDER
from benchmarks.changes.watching import DETECTORS

__all__ = ["PAGE", "beaten", "compose", "read"]

Table = Mapping[str, Any]

_ROOT = Path(__file__).resolve().parents[2]
_RESULTS = Path(__file__).parent / "results"
PAGE = "docs/project/benchmark-changes.md"
#: Streams whose rows depend on the ones before; run lengths are promised by most for independent rows only.
_DEPENDENT = ("ar-05", "ar-09")
_CAVEATS = (
    f"Everybody is asked for {RUN_LENGTH:,} rows between false alarms. What parameters mean and how they were set is in the "
    "last table; settings were written down before any result was looked at, and nobody was tuned on these streams. How many "
    "streams there are was fitted to the time that they take, and peers with a reference were left out of the short digits "
    "after a trial: collecting a reference takes as long as a class.",
    "Delay: rows from a change to its alarm, 1 for the first row after it, the median; changes that were missed count as later "
    "than all others. In brackets how many were found.",
    "Detectors with a reference get the first 1,000 rows, in which nothing changes. After an alarm ours go on from the change; "
    "peers with a reference have no rule for that, and here collect 1,000 rows for the next one without a look; peers "
    "without one begin again with the next row.",
    "Columns come to peers less their mean, over their standard deviation, of the first rows. Detectors of one column run on "
    "each column, at a rate divided by the number of columns; an alarm of any is one.",
    "Slow detectors (about a millisecond for a row) get fewer streams, and the first part of long ones.",
    "Rows of `rbf` and `sea` never change: each alarm is a false one. Electricity has one change with a known place, and "
    "others that nobody knows: alarms elsewhere need not be false there.",
)  # fmt: skip


def read(folder: Path) -> dict[str, Table]:
    """Return the stored tables by name, in the order of the page."""
    files = {name: folder / f"{name}.json" for name in (*ORDER, "pace", "year")}
    return {name: json.loads(file.read_text("utf-8")) for name, file in files.items() if file.exists()}


def compose(tables: Mapping[str, Table]) -> str:
    """Return the page; every number in it comes from the tables."""
    changing, still, real = (_of_kind(tables, kind) for kind in ("changes", "still", "real"))
    missing = [name for name in (*ORDER, "pace", "year") if name not in tables]
    lines = [
        "# Beside the field: changes",
        "",
        "Our alarms beside those of river, frouros and alibi-detect. `make bench-changes` measures everything again and writes "
        "this page from `benchmarks/changes/results`; no number in it is written by hand.",
        "",
        *(f"- {each}" for each in _CAVEATS),
        "",
    ]
    if missing:
        lines += [f"Tables that the command takes and that are not here: {', '.join(missing)}.", ""]
    if changing:
        lines += ["## Gaussians that change, ten columns", "", *_grid(changing, _delay_cell), ""]
    if still:
        lines += ["## Nothing changes: alarms for 10,000 rows", "", *_grid(still, _rate_cell), ""]
    if real:
        lines += ["## Real rows", "", "Delay and changes found; after the semicolon alarms elsewhere, in how many rows.", ""]
        lines += [*_grid(real, _real_cell), ""]
    lines += ["## Who is sooner, who is quieter", "", *_verdict(tables), ""]
    if "pace" in tables:
        lines += ["## Seconds", "", *_pace(tables["pace"]), ""]
    if "year" in tables:
        lines += ["## A year in hourly blocks", "", *_year(tables["year"]), ""]
    lines += ["## Settings", "", "| detector | package | setting |", "|---|---|---|"]
    lines += [f"| {each.name} | {each.package} | {each.setting} |" for each in DETECTORS]
    return "\n".join([*lines, "", *_around(tables), ""])


def beaten(tables: Mapping[str, Table], ours: str) -> dict[str, list[str]]:
    """Return for each stream that changes the peers with both fewer false alarms, where nothing changes, and less delay."""
    rates = _rates(tables)
    most = rates.get(ours, 0.0)
    return {
        title: [name for name in names if rates.get(name, math.inf) < most] for title, names in _sooner(tables, ours).items()
    }  # fmt: skip


def _sooner(tables: Mapping[str, Table], ours: str) -> dict[str, list[str]]:
    """Return for each stream that changes the peers with less delay, the median of the same streams for both."""
    found: dict[str, list[str]] = {}
    for table in (*_of_kind(tables, "changes"), *_of_kind(tables, "real")):
        rows = {row["detector"]: row for row in table["rows"] if row.get("delays")}
        if ours in rows:
            peers = {name: row for name, row in rows.items() if row["package"] != "supersample"}
            found[table["title"]] = [
                name for name, row in peers.items() if _median(row) < _median(rows[ours], len(row["delays"]))
            ]  # fmt: skip
    return found


def _of_kind(tables: Mapping[str, Table], kind: str) -> list[Table]:
    return [table for table in tables.values() if table["kind"] == kind]


def _grid(tables: Sequence[Table], cell: Any) -> list[str]:
    """Return a line for each detector, with a cell for each table."""
    lines = [f"| detector | {' | '.join(table['title'] for table in tables)} |", f"|---|{'---:|' * len(tables)}"]
    for detector in DETECTORS:
        found = [next((row for row in table["rows"] if row["detector"] == detector.name), None) for table in tables]
        if any(row is not None for row in found):
            name = f"**{detector.name}**" if detector.package == "supersample" else f"{detector.package} {detector.name}"
            lines.append(f"| {name} | {' | '.join(_cell(row, cell) for row in found)} |")
    notes = sorted({f"{row['detector']}: {row['error']}" for table in tables for row in table["rows"] if "error" in row})
    return lines + (["", f"Not taken (-): {'; '.join(notes)}."] if notes else [])


def _cell(row: Mapping[str, Any] | None, cell: Any) -> str:
    return "" if row is None else "-" if "error" in row else str(cell(row))


def _median(row: Mapping[str, Any], first: int | None = None) -> float:
    """Return the median delay, of the first streams alone if said so; the lower one of two."""
    delays = sorted(math.inf if each is None else float(each) for each in row["delays"][:first])
    return delays[(len(delays) - 1) // 2] if delays else math.inf


def _delay_cell(row: Mapping[str, Any]) -> str:
    median, caught = _median(row), sum(each is not None for each in row["delays"])
    shown = "missed" if math.isinf(median) else f"{median:.0f}"
    return f"{shown} ({caught} of {len(row['delays'])})" if row["delays"] else "no change in its rows"


def _rate_cell(row: Mapping[str, Any]) -> str:
    return f"{1e4 * row['elsewhere'] / row['watched']:.2g} ({row['elsewhere']} in {row['watched']:,})"


def _real_cell(row: Mapping[str, Any]) -> str:
    found = f"{_delay_cell(row)}; " if row["delays"] else ""
    return f"{found}{row['elsewhere']} in {row['watched']:,}"


def _rates(tables: Mapping[str, Table]) -> dict[str, float]:
    """Return false alarms for 10,000 rows of each detector, over all streams of independent rows that never change."""
    return {name: 1e4 * alarms / rows for name, (alarms, rows) in _false_alarms(tables).items()}


def _false_alarms(tables: Mapping[str, Table]) -> dict[str, tuple[int, int]]:
    """Return how many false alarms each detector raised on these streams, and in how many rows."""
    counts: dict[str, tuple[int, int]] = {}
    for name, table in tables.items():
        if table["kind"] == "still" and name not in _DEPENDENT:
            for row in table["rows"]:
                if "error" not in row:
                    alarms, rows = counts.get(row["detector"], (0, 0))
                    counts[row["detector"]] = alarms + row["elsewhere"], rows + row["watched"]
    return counts


def _verdict(tables: Mapping[str, Table]) -> list[str]:
    """Say how many false alarms there were on all independent rows, who has less delay, and who has fewer of them as well."""
    rates = _rates(tables)
    counts = _false_alarms(tables)
    told = "; ".join(f"{name} {counts[name][0]} in {counts[name][1]:,}" for name in sorted(rates, key=rates.__getitem__))
    lines = [f"- False alarms in independent rows that never change, by their rate: {told}."] if rates else []
    lines += ["- A count of few rows says little: none in 5,000 rows is what a rate of 6 for 10,000 gives one time in twenty."]
    for detector in DETECTORS:
        if detector.package == "supersample" and not detector.only:
            sooner, both = (each(tables, detector.name) for each in (_sooner, beaten))
            unknown = sorted({name for names in sooner.values() for name in names} - set(rates))
            told = f" False alarms of {', '.join(unknown)} were not measured." if unknown else ""
            lines.append(
                f"- Less delay than `{detector.name}` on the same streams: {_listed(sooner)}. Fewer false alarms, too: "
                f"{_listed(both)}.{told}"
            )
    return lines


def _listed(found: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{title}: {', '.join(names)}" for title, names in found.items() if names) or "nobody"


def _pace(table: Table) -> list[str]:
    """Return seconds for a million rows of ten columns, and until the first row."""
    lines = ["| detector | seconds a million rows | seconds before the first row |", "|---|---:|---:|"]
    for row in table["rows"]:
        name = f"**{row['detector']}**" if row["package"] == "supersample" else f"{row['package']} {row['detector']}"
        cells = ("-", "-") if "error" in row else (f"{1e6 * row['seconds'] / row['rows']:,.0f}", f"{row['ready']:.2g}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    own = table["bootstrap"]
    if "error" not in own:
        lines += [
            "",
            f"Thresholds of windows are those of alibi-detect's bootstrap, computed faster here: with {own['bootstraps']:,} "
            f"bootstraps of window {own['window']} its own takes {own['seconds']:,.0f} s, and they differ by "
            f"{own['apart']:.1g} of {own['threshold']:.2g}. Ours compile before the first row.",
        ]
    return lines


def _year(table: Table) -> list[str]:
    """Return what a history of a year took."""
    slowest = max(each["seconds_between"] for each in table["ranges"])
    read_in = max(each["seconds_read"] for each in table["ranges"])
    return [
        f"{table['rows']:,} rows of {table['columns']} columns: {table['rows_a_second']:,.0f} rows/s "
        f"({table['rows_a_second_cold']:,.0f} with compilation), {table['growth_mb']:,.0f} MB more than after imports "
        f"({table['peak_mb']:,.0f} MB in all), {table['blocks']:,} blocks, {table['alarms']} alarms. A range is merged in "
        f"{slowest:.2g} s at most, and its rows are chosen in {read_in:.2g} s. Moments differ from those of the rows by "
        f"{table['moments_apart']:.1g}. Command: `python -m benchmarks.changes.year --rows {table['rows']:.0e}`.",
    ]  # fmt: skip


def _around(tables: Mapping[str, Table]) -> list[str]:
    """Return a line on machine and versions, and on the load if there was any when times were taken."""
    if not tables:
        return []
    around = next(iter(tables.values()))["surroundings"]
    versions = {
        **around["versions"],
        **{f"{name} (second environment)": each for name, each in around["older_versions"].items()},
    }
    told = ", ".join(f"{name} {each}" for name, each in versions.items())
    lines = [f"Measured on {around['machine']}, {around['cores']} cores, Python {around['python']}: {told}."]
    loads = [tables[name]["surroundings"]["load_before"] or 0.0 for name in ("pace", "year") if name in tables]
    if loads and max(loads) > 0.5:
        lines.append(f"**The machine was not idle (load {max(loads):.1f}) when seconds were measured: they are too long.**")
    return lines


def main() -> int:
    """Write the page, and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.changes.page", description="The page, from the results.")
    parser.add_argument("--results", type=Path, default=_RESULTS, help="folder of NAME.json")
    parser.add_argument("--out", type=Path, default=_ROOT, help="folder of docs/")
    arguments = parser.parse_args()
    tables = read(arguments.results)
    if not tables:
        parser.error(f"--results {arguments.results} holds no table; run python -m benchmarks.changes first")
    page = arguments.out / PAGE
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(compose(tables), encoding="utf-8")
    print(page.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
