"""What a stored row says: its label, its mean discrepancy with standard error, its seconds."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Row", "Table", "error", "is_ours", "label", "mean", "measures", "seconds"]

Row = Mapping[str, Any]
Table = Mapping[str, Any]


def is_ours(row: Row) -> bool:
    """Whether a row is a method of ours; rows at random are nobody's."""
    return bool(row["package"] == "supersample")


def label(row: Row) -> str:
    """Return a name that no other row of a table has: ours by its own, a peer's with its package, weights where not equal."""
    own = row["package"] in ("supersample", "none")
    name = row["method"] if own else f"{row['package']} {row['method']}"
    weights = row.get("weights", "equal")
    return str(name if weights == "equal" else f"{name} [{weights} weights]")


def mean(values: Sequence[float]) -> float:
    """Return the mean."""
    return sum(values) / len(values)


def error(values: Sequence[float]) -> float | None:
    """Return the standard error of the mean, or None for a single value."""
    if len(values) < 2:
        return None
    centre = mean(values)
    return math.sqrt(sum((each - centre) ** 2 for each in values) / (len(values) - 1) / len(values))


def seconds(row: Row) -> float:
    """Return the mean of warm calls, or the only call's time where it was not repeated."""
    return mean(row["warm"]) if row["warm"] else float(row["cold"])


def measures(rows: Sequence[Row]) -> dict[str, tuple[float, float]]:
    """Return seconds and mean MMD of each row by its label."""
    return {label(row): (seconds(row), mean(row["mmd"])) for row in rows}
