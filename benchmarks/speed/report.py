"""What a benchmark hands back, and how it is printed and kept."""

import json
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

__all__ = ["Benchmark", "Context", "Result", "Row", "Target", "print_caveats", "print_result", "surroundings", "write_json"]

Row = dict[str, str | int | float | None]

#: Packages whose versions belong to the numbers.
_NAMED = ("supersample", "numpy", "scipy", "numba", "hyppo", "goodpoints", "coreax", "jax")


@dataclass(frozen=True)
class Context:
    """Where data lie, where results go, whether sizes are shrunk to see that everything runs, and an older checkout."""

    data: Path
    out: Path
    quick: bool
    against: Path | None = None


@dataclass(frozen=True)
class Target:
    """A measured number beside the number that was promised."""

    name: str
    value: float
    sense: Literal["at least", "at most"]
    goal: float

    @property
    def met(self) -> bool:
        """Whether the promise is kept; a number that is not one keeps no promise."""
        return self.value >= self.goal if self.sense == "at least" else self.value <= self.goal


@dataclass(frozen=True)
class Result:
    """A table, the promises it bears on, and remarks that only the measurement could supply."""

    rows: Sequence[Row]
    targets: Sequence[Target] = ()
    remarks: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class Benchmark:
    """A named measurement: what it is, what it does not show, and the function that takes it."""

    title: str
    caveats: Sequence[str]
    run: Callable[[Context], Result]


def surroundings(names: Sequence[str] = _NAMED) -> dict[str, Any]:
    """Describe the machine and the versions that the numbers belong to."""
    versions = {each.metadata["Name"]: each.version for each in metadata.distributions() if each.metadata["Name"] in names}
    return {
        "machine": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load_before": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": dict(sorted(versions.items())),
    }


def print_caveats(name: str, benchmark: Benchmark, context: Context) -> None:
    """Say what is about to be measured and what it does not show."""
    print(f"\n{name}: {benchmark.title}{' (quick: small sizes, no verdicts)' if context.quick else ''}")
    for caveat in benchmark.caveats:
        print(f"  - {caveat}")


def print_result(result: Result, context: Context) -> None:
    """Print the table, then each promise with its verdict."""
    for line in _aligned(result.rows):
        print(f"  {line}", flush=True)
    for remark in result.remarks:
        print(f"  {remark}")
    for target in result.targets:
        verdict = "" if context.quick else "PASS" if target.met else "MISS"
        print(f"  {verdict:<4} {target.name}: {_cell(target.value)} (target: {target.sense} {target.goal:,g})", flush=True)


def write_json(name: str, benchmark: Benchmark, result: Result, context: Context) -> Path:
    """Keep the numbers unrounded in OUT/NAME.json."""
    context.out.mkdir(parents=True, exist_ok=True)
    path = context.out / f"{name}.json"
    targets = [
        {
            "name": each.name,
            "value": each.value,
            "sense": each.sense,
            "goal": each.goal,
            "met": None if context.quick else each.met,
        }
        for each in result.targets
    ]
    content = {
        "title": benchmark.title,
        "caveats": list(benchmark.caveats),
        "quick": context.quick,
        "surroundings": surroundings(),
        "rows": list(result.rows),
        "remarks": list(result.remarks),
        "targets": targets,
    }
    path.write_text(json.dumps(content, indent=2) + "\n")
    return path


def _aligned(rows: Sequence[Row]) -> list[str]:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = [columns, *([_cell(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[index]) for line in table) for index in range(len(columns))]
    lines = []
    for line in table:
        others = (cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))
        lines.append("  ".join([line[0].ljust(widths[0]), *others]).rstrip())
    return lines


def _cell(value: str | int | float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        if names:
            return names[0]
    return platform.processor() or platform.machine()
