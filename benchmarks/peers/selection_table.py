"""A table of selections: every method on the same draws, judged by one judge."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.children import measured
from benchmarks.peers.judge import Judge
from benchmarks.peers.selection_child import selected
from benchmarks.peers.selection_methods import METHODS, Method
from benchmarks.peers.selection_protocol import EQUAL
from benchmarks.peers.workloads import Workload, written

__all__ = ["selection_table"]


def selection_table(workload: Workload) -> dict[str, Any]:
    """Return the table of a data set: what it was, a row for each method and weighting, and what is missing and why."""
    rows: list[dict[str, Any]] = []
    missing: list[dict[str, str]] = []
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        files, bandwidth = written(workload, Path(folder))
        judges = [Judge(np.load(file), bandwidth) for file in files]
        for place, method in enumerate(METHODS):
            if workload.n > method.most_rows:
                missing.append(_missing(method, f"left out: {method.limit}"))
                continue
            taken = measured(
                selected,
                method.environment,
                place=place,
                files=[str(file) for file in files],
                m=workload.m,
                bandwidth=bandwidth,
            )
            if "error" in taken:
                missing.append(_missing(method, taken["error"]))
            else:
                rows += _rows(method, taken, judges)
            print(f"  {method.name} ({method.package}): {_progress(taken)}", flush=True)
    return {
        "kind": "selection",
        "name": workload.name,
        "data": workload.title,
        "n": workload.n,
        "d": int(judges[0].points.shape[1]),
        "m": workload.m,
        "draws": workload.draws,
        "bandwidth": bandwidth,
        "rows": rows,
        "missing": missing,
    }


def _rows(method: Method, taken: Mapping[str, Any], judges: Sequence[Judge]) -> list[dict[str, Any]]:
    rows = []
    for weighting in taken["results"][0]["weights"]:
        mmds = []
        for result, judge in zip(taken["results"], judges, strict=False):
            points = judge.points[result["rows"]] if "rows" in result else result["points"]
            mmds.append(judge.mmd(points, result["weights"][weighting]))
        rows.append(
            {
                "method": method.name,
                "package": method.package,
                "weights": weighting,
                "points": float(np.mean([len(each.get("rows", each.get("points"))) for each in taken["results"]])),
                "mmd": mmds,
                "cold": taken["cold"],
                "warm": taken["warm"],
                "peak_mb": taken["peak_mb"],
                "before_mb": taken["before_mb"],
            }
        )
    return sorted(rows, key=lambda row: row["weights"] != EQUAL)


def _missing(method: Method, why: str) -> dict[str, str]:
    return {"method": method.name, "package": method.package, "reason": why}


def _progress(taken: Mapping[str, Any]) -> str:
    if "error" in taken:
        return str(taken["error"])
    warm = f", warm {np.mean(taken['warm']):.3g} s" if taken["warm"] else ""
    return f"cold {taken['cold']:.3g} s{warm}, {taken['peak_mb']:.0f} MB"
