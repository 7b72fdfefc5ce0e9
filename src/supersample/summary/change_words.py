"""Changes of columns in words: numbers with the digits that tell them apart, values, shares and their bounds."""

import math
from collections.abc import Sequence

from supersample._text import amount

__all__ = ["IN_SAMPLES", "bounded", "change_of_value", "named", "pair", "percent", "percents", "short"]

#: Characters of a value that are shown.
_LONGEST = 40
#: What follows numbers that are those of samples, not of all rows.
IN_SAMPLES = " in the samples"


def named(value: str, *, quoted: bool) -> str:
    """Write a value: texts in quotes and cut if they are long, numbers without a point that they do not need."""
    short = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."
    return repr(short) if quoted else short.removesuffix(".0")


def change_of_value(name: str | None, before: float, after: float) -> str:
    """Write how the share of a value changed; None if it is not to be named."""
    value = "a rare value" if name is None else name
    if before == 0:
        return f"new: {value} {percent(after)}"
    if after == 0:
        return f"gone: {value}, was {percent(before)}"
    return f"{value} {percents(before, after)}"


def bounded(before: tuple[float, float], after: tuple[float, float]) -> str:
    """Write two shares by their bounds: the lower one of the larger share, and the upper one of the smaller.

    >>> bounded((0.769, 0.769), (0.0, 0.004)), bounded((0.1, 0.1001), (0.5, 0.504))
    ('76.9% -> at most 0.4%', '10.0% -> at least 50.0%')
    """
    falls = before[0] > after[1]
    digits = _digits(max(before[0] - after[1], after[0] - before[1], 0.0))
    out = []
    for (least, most), larger in ((before, falls), (after, not falls)):
        shown = f"{least:.{digits}%}", f"{most:.{digits}%}"
        bound = f"at least {shown[0]}" if larger else f"at most {shown[1]}"
        out.append(shown[0] if shown[0] == shown[1] else bound)
    return " -> ".join(out)


def short(edge: float, beyond: float) -> str:
    """Write a number of few digits that lies at the edge of some values, and not beyond the next of the others.

    >>> short(1.9837, 141.6), short(1.9837, 1.984), short(-3.0, -3.0)
    ('2', '1.984', '-3')
    """
    ends = sorted((edge, beyond))
    return next((text for text in (amount(edge, digits) for digits in range(1, 4)) if _between(text, ends)), amount(edge, 4))


def _between(text: str, ends: Sequence[float]) -> bool:
    return math.isfinite(ends[0]) and math.isfinite(ends[1]) and ends[0] <= float(text.replace(",", "")) <= ends[1]


def pair(before: float, after: float) -> str:
    """Write two numbers with the digits that tell them apart."""
    size = max(abs(before), abs(after))
    digits = min(max(3, 2 + math.ceil(math.log10(size / abs(after - before)))), 17) if math.isfinite(size) else 3
    return f"{amount(before, digits)} -> {amount(after, digits)}"


def percents(before: float, after: float) -> str:
    """Write two shares with the digits that tell them apart.

    >>> percents(0.01, 0.051), percents(0.5, 0.50004)
    ('1.0% -> 5.1%', '50.000% -> 50.004%')
    """
    digits = _digits(abs(after - before))
    return f"{before:.{digits}%} -> {after:.{digits}%}"


def _digits(gap: float) -> int:
    """Return how many digits of percents tell two shares apart."""
    return 1 if gap >= 0.002 or gap == 0 else min(6, math.ceil(-math.log10(gap)) - 2)


def percent(share: float) -> str:
    """Write a share that is not 0.

    >>> percent(0.01), percent(0.00004)
    ('1.0%', '0.004%')
    """
    return f"{share:.{1 if share >= 0.001 else min(8, math.ceil(-math.log10(share)) - 2)}%}"
