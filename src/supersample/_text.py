"""Text of messages: numbers, counts with their nouns, and errors of other libraries in one line."""

import math
from collections.abc import Sequence
from difflib import get_close_matches

__all__ = ["about", "amount", "did_you_mean", "number_text", "one_line", "plural"]

#: Longest message of another library's error, in characters: some quote the bytes that they could not read.
_LONGEST = 300


def one_line(error: BaseException) -> str:
    """Return an error's message as one line, cut if it is long, or its type if it has no message."""
    text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def about(number: float) -> str:
    """Write a number of rows with two digits that count.

    >>> about(517.3), about(5.2), about(1_234_567.0), about(99.6)
    ('520', '5', '1,200,000', '100')
    """
    return f"{float(f'{number:.2g}'):,.0f}"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun.

    >>> plural(1, "row"), plural(65536, "row")
    ('1 row', '65,536 rows')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def did_you_mean(name: object, names: Sequence[str]) -> str:
    """Return the end of a message about a name that is unknown: the known one that is most like it, if any is.

    >>> did_you_mean("AMOUNT", ["status", "Amount"]), did_you_mean("x", ["status"])
    ("; did you mean 'Amount'?", '')
    """
    known = {each.casefold(): each for each in reversed(names)}
    near = get_close_matches(str(name).casefold(), known, 1)
    return f"; did you mean {known[near[0]]!r}?" if near else ""


def amount(value: float, digits: int = 3) -> str:
    """Write a measured number with a few significant digits, and without an exponent if possible."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    if value == 0:
        return "0"
    if not 1e-5 <= abs(value) < 1e9:
        return f"{value:.{digits - 1}e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def number_text(value: float, digits: int) -> str:
    """Return a number with about so many digits, but with all digits before its point, and two after it, if it is large.

    >>> number_text(12345678.125, 4), number_text(-1000000.0, 6), number_text(0.123456789, 4), number_text(1e300, 6)
    ('12345678.12', '-1000000', '0.1235', '1e+300')
    """
    if 10**digits <= abs(value) < 1e15:
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{value:.{digits}g}"
