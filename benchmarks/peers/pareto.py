"""Who is beaten by whom: lower is better in both of two measures."""

from collections.abc import Mapping

__all__ = ["beaten_by", "front"]

Measures = Mapping[str, tuple[float, float]]


def beaten_by(measures: Measures, name: str) -> list[str]:
    """Return those at least as good as this one in both measures and better in one, best in the second measure first."""
    first, second = measures[name]
    better = [
        other
        for other, (a, b) in measures.items()
        if other != name and a <= first and b <= second and (a < first or b < second)
    ]
    return sorted(better, key=lambda other: measures[other][1])


def front(measures: Measures) -> list[str]:
    """Return those that nobody beats, in order of the first measure."""
    return sorted((name for name in measures if not beaten_by(measures, name)), key=lambda name: measures[name])
