"""The page of the site with every table of the benchmark beside the field; BENCHMARKS.md, which is short, links to it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.rows import Row, Table, error, is_ours, label, mean, seconds
from benchmarks.peers.verdicts import comparison_verdict, fronts, selection_verdict

__all__ = ["IMAGES", "ORDER", "around", "compose_tables", "missing_tables", "read"]

#: The folder of the pictures, seen from the folder of the documentation.
IMAGES = "images/peers"

#: The order of the document; a table that was not taken is left out.
ORDER = (
    "mixture-2",
    "mixture-10",
    "mixture-50",
    "mnist",
    "covtype",
    "electricity",
    "mixture-2-large",
    "mixture-10-large",
    "mixture-50-large",
    "mnist-large",
    "covtype-large",
    "electricity-large",
    "mixture-10-largest",
    "tests",
    "tests-large",
)

_CAVEATS = (
    "Ours are `stream` (`ss.SuperSampler`), `herd`, `sbq` (with the weights it solves for, and its points weighed alike), "
    "`critic` and, of the tests, `ss.two_sample_test` with the method and null named.",
    "One machine, few draws: a difference of less than two standard errors (the column after the MMD) is none.",
    "All methods that take a kernel have the same one, Gaussian with the median distance of the first draw as its bandwidth. "
    "k-means and k-medoids take none: they aim at distances to the nearest point, facility location at similarity to it, and "
    "RPCholesky at the kernel matrix. They are judged here by something that they do not aim at.",
    "True MMD is by the exact kernel in float64, from one judge in plain NumPy that imports nothing of ours "
    "(`benchmarks/peers/judge.py`). Weights count as the method returns them; those of the density sketch are "
    "made to sum to one.",
    "Weighted and unweighted selections share a table; weights alone lower the MMD, so there are two fronts: of all rows, and "
    "of those with equal weights.",
    "Cold is the first call in a fresh process with an empty compile cache, imports left out. Warm is the mean of the next "
    "calls, each with other rows. A time marked * was measured once: the call was long, compiled nothing and was not repeated.",
    "Peak memory is that of the whole process. The column after it is what the calls added to imports and data.",
    "Everyone may use all cores. coreax computes in float32, as it comes; the others in float64.",
    "The stream reads its rows once and could go on; the others hold all rows, except for the density sketch.",
    "Nobody was tuned on these tables. coreax is set as in its own benchmarks, but for the square-root kernel, which lacks its "
    "constant factor. Kernel thinning of goodpoints works on the stored matrix. Facility location has Gaussian similarities "
    "and lazy search. The k of the density sketch is chosen here so that about M points are kept. The rest is as it comes.",
    "At the largest size methods that hold an N x N matrix, and ProtoDash, are left out; all are in the other tables.",
    "Weights lower the MMD of any points, and the weights of `sbq` are solved for. Of the peers only RPCholesky, k-means, "
    "k-medoids, ProtoDash and the density sketch come with weights; none were solved for the points of the others.",
    "Peak memory does not count worker processes of a peer (hyppo, frouros), to their advantage.",
    "Peers whose requirements do not fit ours run in a second environment, with an older NumPy and SciPy.",
)


def read(folder: Path) -> dict[str, Table]:
    """Return the stored tables by name, in the document's order."""
    return {
        name: json.loads((folder / f"{name}.json").read_text("utf-8")) for name in ORDER if (folder / f"{name}.json").exists()
    }


def compose_tables(tables: Mapping[str, Table]) -> str:
    """Return the page; every number in it comes from the tables."""
    selections = [table for table in tables.values() if table["kind"] == "selection"]
    comparisons = [table for table in tables.values() if table["kind"] == "comparison"]
    lines = [
        "# Beside the field: all tables",
        "",
        "Our ways to choose a few rows of many, and to test whether two samples differ, beside those of other packages. "
        "The two pages to read first are [BENCHMARKS](../../BENCHMARKS.md). This page is made from `benchmarks/peers/results` "
        "by the command at its end; no number in it is written by hand.",
        "",
    ]
    lines += missing_tables(tables)
    lines += ["## Before you read on", "", *(f"- {each}" for each in _CAVEATS), "", *around(tables), ""]
    if selections:
        lines += ["## Choosing rows", "", *_summary(selections), ""]
    for table in selections:
        lines += [*_selection(table), ""]
    if comparisons:
        lines += ["## Testing whether two samples differ", ""]
    for table in comparisons:
        lines += [*_comparison(table), ""]
    lines += ["## Not measured, and why", "", *_missing(tables), ""]
    minutes = sum(table["seconds"] for table in tables.values()) / 60.0
    lines += ["## Again", "", f"Everything above took {minutes:.0f} minutes: `make bench-peers`.", ""]
    return "\n".join(lines)


def missing_tables(tables: Mapping[str, Table]) -> list[str]:
    """Return lines that say which tables are not there, or are there in a small size only."""
    lines = []
    if any(table["quick"] for table in tables.values()):
        lines += ["**These are quick runs with small sizes, made to see that everything works. They show nothing.**", ""]
    left_out = [name for name in ORDER if name not in tables]
    if left_out:
        lines += [f"Tables that the command takes and that are not here: {', '.join(left_out)}.", ""]
    return lines


def around(tables: Mapping[str, Table]) -> list[str]:
    """Return lines on the machine and the versions; refuse tables that were taken with different ones."""
    first: Mapping[str, Any] = next(iter(tables.values()))["surroundings"]
    for name, table in tables.items():
        odd = [key for key in first if key != "load_before" and table["surroundings"].get(key) != first[key]]
        if odd:
            raise SystemExit(f"{name} was taken with other {', '.join(odd)} than the first table; take all of them again")
    loads = [table["surroundings"]["load_before"] for table in tables.values()]
    most = max((load for load in loads if load is not None), default=0.0)
    lines = [
        f"Measured on {first['machine']}, {first['cores']} cores, Python {first['python']}: {_versions(first['versions'])}."
    ]
    if first["older_versions"]:
        lines.append(f"In the second environment: {_versions(first['older_versions'])}.")
    if most > 0.5:
        lines.append(f"**The machine was not idle (load {most:.1f}): times are too long.**")
    return lines


def _versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _summary(selections: Sequence[Table]) -> list[str]:
    """Return a line for each table: which of ours are on which front."""
    lines = ["| data | rows | M | ours on the front of all | ours on the front with equal weights |", "|---|---:|---:|---|---|"]
    for table in selections:
        ours = {label(row) for row in table["rows"] if is_ours(row)}
        cells = [", ".join(name for name in names if name in ours) or "**none**" for names in fronts(table)]
        lines.append(f"| {table['data']} | {table['n']:,} | {table['m']} | {cells[0]} | {cells[1]} |")
    return ["A method is on the front if no other is both faster (warm) and closer (true MMD).", "", *lines]


def _selection(table: Table) -> list[str]:
    whole, equal = fronts(table)
    lines = [
        f"### {table['data'][0].upper()}{table['data'][1:]}: {table['n']:,} rows to {table['m']}",
        "",
        f"{table['d']} columns, bandwidth {table['bandwidth']:.3g}, up to {table['draws']} draws."
        + (" What is left out, and why, is said further down." if table["missing"] else ""),
        "",
        *(f"- {each}" for each in selection_verdict(table)),
        "",
        "| method | weights | true MMD | ± | warm s | cold s | peak MB | added MB | draws | points | front |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for row in sorted(table["rows"], key=lambda each: mean(each["mmd"])):
        spread = error(row["mmd"])
        plain = {**row, "weights": "equal"}
        on = "equal" if label(row) in equal else "all" if label(row) in whole else ""
        cells = [
            f"**{label(plain)}**" if is_ours(row) else label(plain),
            row["weights"],
            f"{mean(row['mmd']):.3g}",
            "" if spread is None else f"{spread:.1g}",
            f"{seconds(row):.3g}{'' if row['warm'] else ' *'}",
            f"{row['cold']:.3g}",
            f"{row['peak_mb']:,.0f}",
            f"{max(0.0, row['peak_mb'] - row['before_mb']):,.0f}",
            str(len(row["mmd"])),
            f"{row['points']:.0f}",
            "both" if label(row) in equal and label(row) in whole else on,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", f"![True MMD against seconds: {table['data']}](../{IMAGES}/{table['name']}.png)"]


def _comparison(table: Table) -> list[str]:
    lines = [
        f"### {table['n']:,} + {table['n']:,} rows, {table['d']} columns",
        "",
        f"Normal samples, the second moved by {table['shift']:g} in each column; {table['permutations']} permutations where "
        f"there are any. Rejections at 5% are counted with {table['level_rows']} + {table['level_rows']} rows of one "
        "population, as many times as fit into a fixed time. The last column is the p-value where the samples lie far apart.",
        "",
        *(f"- {each}" for each in comparison_verdict(table)),
        "",
        "| test | warm s | cold s | peak MB | added MB | rejects shift | p-value, shift | rejects, none | p-value, far |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in sorted(table["rows"], key=seconds):
        cells = [
            f"**{label(row)}**" if is_ours(row) else label(row),
            f"{seconds(row):.3g}{'' if row['warm'] else ' *'}",
            f"{row['cold']:.3g}",
            f"{row['peak_mb']:,.0f}",
            f"{max(0.0, row['peak_mb'] - row['before_mb']):,.0f}",
            f"{sum(row['rejects']):.3g} of {len(row['rejects'])}",
            _pvalue(row),
            f"{row['null_rejections']:.3g} of {row['null_repetitions']}",
            "gives none" if row["far_pvalue"] is None else f"{row['far_pvalue']:.2g}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _pvalue(row: Row) -> str:
    """Return the median p-value under the shift."""
    known = sorted(each for each in row["pvalues"] if each is not None)
    return f"{known[len(known) // 2]:.2g}" if known else "gives none"


def _missing(tables: Mapping[str, Table]) -> list[str]:
    """Return one line for each method and reason, with the tables that it is missing from."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, table in tables.items():
        for each in table["missing"]:
            found.setdefault((label(each), each["reason"]), []).append(name)
    if not found:
        return ["Nothing is missing."]
    lines = ["| method | why | tables |", "|---|---|---|"]
    return lines + [f"| {who} | {why.replace('|', '/')} | {', '.join(where)} |" for (who, why), where in found.items()]
