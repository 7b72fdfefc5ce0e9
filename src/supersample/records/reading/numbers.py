"""Numbers in text: amounts of money, percentages, thousands separators, decimal points and decimal commas.

A percentage is read as the number before its sign: "12.5%" is 12.5. Digits that begin with a superfluous zero, and whole
numbers of more than 15 digits, are codes, not numbers: a float64 would not hold them as they are.
"""

import re
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from supersample.records.reading.texts import agreeing, enough, groups_of

__all__ = ["FEW_CODES", "FORMS", "has_thousands_dots", "numbers_in", "recognise_numbers", "unit_shown"]

_CODES = (
    "aed ars aud bdt bgn brl cad chf clp cny cop czk dkk egp eur gbp hkd huf idr ils inr jpy kes krw lkr mxn myr ngn nok nzd "
    "pen php pkr pln qar ron rub sar sek sgd thb try twd uah usd vnd zar"
)
_UNIT = rf"[%‰]|[A-Z]{{0,2}}\p{{Sc}}|(?i:{_CODES.replace(' ', '|')})|kr\.?|zł|Kč|Ft|Fr\.|lei"
#: Text with one run of digits and marks. The point of an abbreviated unit is no decimal mark.
_PARTS = (
    r"^(?P<left>(?:[^0-9]*(?:kr|Fr)\.)?[^0-9]*?)"
    r"(?P<body>(?:[0-9]|[.,][0-9])(?:[0-9.,' _]*[0-9.,])?(?:[eE][-+]?[0-9]+)?)(?P<right>[^0-9]*)$"
)
#: Signs and units around the digits, which # stands for.
_AROUND = (
    rf"^(?P<open>\(?) ?(?P<before>[-+]?) ?(?P<first>(?:{_UNIT})?) ?(?P<inside>[-+]?) ?#"
    rf" ?(?P<last>(?:{_UNIT})?) ?(?P<after>-?) ?(?P<close>\)?)$"
)
#: The longest whole number that float64 holds exactly whatever its digits.
_MOST_DIGITS = 15
#: If more than this share of the rows are digits that begin with a superfluous zero, the column holds codes: of codes of one
#: length, about a tenth begin with a zero.
FEW_CODES = 0.01
#: Separators of thousands in the order in which they are looked for, the other decimal mark before them.
_APART = ("'", " ", "_")
#: Examples of all conventions: a decimal mark, and a separator of thousands or none.
FORMS: Final = (
    "1234.56", "1,234.56", "1'234.56", "1 234.56", "1_234.56",
    "1234,56", "1.234,56", "1'234,56", "1 234,56", "1_234,56",
)  # fmt: skip


def _digits(decimal: str) -> str:
    """Return the pattern of unsigned numbers with a decimal mark."""
    other = {".": ",", ",": "."}[decimal]
    grouped = [f"[1-9][0-9]{{0,2}}(?:{re.escape(mark)}[0-9]{{3}})+" for mark in (other, *_APART)]
    if decimal == ".":
        grouped.append("[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}")  # lakhs and crores
    whole = "|".join(["0", "[1-9][0-9]*", *grouped])
    mark = re.escape(decimal)
    return f"^(?:(?:{whole})(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][-+]?[0-9]+)?$"


_PATTERNS = {decimal: _digits(decimal) for decimal in ".,"}


def numbers_in(texts: pa.Array, form: str) -> pa.Array:
    """Return tidied texts as float64 under the convention of a form, null where they are no finite number."""
    return _numbers(_parts(texts), _decimal(form))


def recognise_numbers(texts: pa.Array, counts: npt.NDArray[np.int64], least: float) -> tuple[str, str, str] | None:
    """Return the form of a column of numbers, its most frequent unit, and a note; None if the column holds no numbers.

    texts, counts: the distinct values, and how many rows have each; least: the share of rows that must parse.
    """
    padded = np.asarray(pc.match_substring_regex(texts, pattern="^0[0-9]+$").to_numpy(zero_copy_only=False), dtype=np.bool_)
    if counts[padded].sum() > FEW_CODES * counts.sum():
        return None
    parts = _parts(texts)
    point, comma = (_valid(_numbers(parts, decimal)) for decimal in ".,")
    agreed = agreeing(point, comma, counts)
    if agreed is None:
        return None
    dots = not agreed[1] and has_thousands_dots(parts["body"].filter(pa.array(point)))
    decimal, parsed = (".", point) if agreed[0] and not dots else (",", comma)
    if not enough(parsed, counts, least):
        return None
    unit, note = _units(parts, np.where(parsed, counts, 0))
    commas = not agreed[1] and decimal == "." and bool(pc.any(pc.match_substring(parts["body"], ",")).as_py())
    if dots or commas:
        note = "; ".join(filter(None, [note, f"{'dots' if dots else 'commas'} are taken for separators of thousands"]))
    return _form(parts["body"].filter(pa.array(parsed)), decimal), unit, note


def has_thousands_dots(bodies: pa.Array) -> bool:
    """Return whether dots in numbers separate thousands: three digits follow each, and only numbers under 1,000 have none.

    Decimals of three digits would stand behind every number, or behind a zero, too.

    >>> has_thousands_dots(pa.array(["487", "1.234", "34.040"])), has_thousands_dots(pa.array(["1.234", "0.487"]))
    (True, False)
    """
    dotted = pc.match_substring_regex(bodies, pattern=r"^[1-9][0-9]{0,2}(?:\.[0-9]{3})+$")
    small = pc.match_substring_regex(bodies, pattern="^(?:0|[1-9][0-9]{0,2})$")
    each = pc.or_(dotted, small)
    return bool(pc.any(dotted).as_py() and pc.any(small).as_py() and pc.all(each).as_py())


def unit_shown(form: str, unit: str) -> str:
    """Return an example of a form with its unit: currency signs stand before it, all else after it.

    >>> unit_shown("1,234.56", "$"), unit_shown("1234.56", "%"), unit_shown("1.234,56", "EUR")
    ('$1,234.56', '1234.56%', '1.234,56 EUR')
    """
    if unit in ("", "%", "‰"):
        return form + unit
    return f"{form} {unit}" if unit.isalpha() else unit + form


def _decimal(form: str) -> str:
    return form[-3]


def _parts(texts: pa.Array) -> dict[str, pa.Array]:
    """Return the digits, signs and units of texts, null where these are not all there is."""
    parts = groups_of(texts, _PARTS)
    # What stands around the digits takes few different values, and one long pattern with many groups is slow.
    around = pc.binary_join_element_wise(parts["left"], parts["right"], pa.scalar("#", pa.large_string())).dictionary_encode()
    found = groups_of(around.dictionary, _AROUND)
    return {"body": parts["body"]} | {name: values.take(around.indices) for name, values in found.items()}


def _numbers(parts: dict[str, pa.Array], decimal: str) -> pa.Array:
    """Return the numbers under a decimal mark, null where a text is not a number."""
    body = parts["body"]
    fits = pc.match_substring_regex(body, pattern=_PATTERNS[decimal])
    plain = pc.replace_substring_regex(body, pattern=f"[^0-9eE+{decimal}-]", replacement="")
    long = pc.match_substring_regex(plain, pattern=f"^[0-9]{{{_MOST_DIGITS + 1},}}$")
    signs = [pc.equal(parts[name], "-") for name in ("before", "inside", "after")]
    stated = [pc.not_equal(parts[name], "") for name in ("before", "inside", "after", "open")]
    at_most_one_sign = pc.less_equal(_count(stated), 1)
    closed = pc.equal(pc.equal(parts["open"], ""), pc.equal(parts["close"], ""))
    good = pc.and_(pc.and_(fits, pc.invert(long)), pc.and_(at_most_one_sign, closed))
    nothing = pa.scalar(None, pa.large_string())
    sizes = pc.if_else(good, plain, nothing)
    if decimal == ",":
        sizes = pc.replace_substring(sizes, pattern=",", replacement=".")
    sizes = sizes.cast(pa.float64())
    negative = pc.equal(_count([*signs, stated[3]]), 1)
    numbers = pc.if_else(negative, pc.negate(sizes), sizes)
    return pc.if_else(pc.is_finite(numbers), numbers, pa.scalar(None, pa.float64()))


def _count(masks: list[pa.Array]) -> pa.Array:
    """Return how many of some masks are true in each place."""
    total = masks[0].cast(pa.int8())
    for mask in masks[1:]:
        total = pc.add(total, mask.cast(pa.int8()))
    return total


def _valid(numbers: pa.Array) -> npt.NDArray[np.bool_]:
    return np.asarray(numbers.is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)


def _form(bodies: pa.Array, decimal: str) -> str:
    """Return the example that shows the decimal mark and the most frequent separator of thousands, if there is one."""
    marks = ("," if decimal == "." else ".", *_APART)
    seen = {mark: pc.sum(pc.match_substring(bodies, pattern=mark)).as_py() or 0 for mark in marks}
    apart = max(marks, key=lambda mark: seen[mark])
    return f"1{apart if seen[apart] else ''}234{decimal}56"


def _units(parts: dict[str, pa.Array], rows: npt.NDArray[np.int64]) -> tuple[str, str]:
    """Return the most frequent unit, and a note if values carry different ones."""
    first, last = parts["first"], parts["last"]
    units = pc.if_else(pc.equal(first, ""), last, first).to_pylist()
    found: dict[str, int] = {}
    for unit, count in zip(units, rows.tolist(), strict=True):
        if count:
            found[unit] = found.get(unit, 0) + count
    ordered = sorted(found, key=lambda unit: (-found[unit], unit))
    if len(ordered) == 1:
        return ordered[0], ""
    shown = ", ".join(unit or "none" for unit in ordered[:4])
    return ordered[0], f"not all values carry the same unit ({shown}{', ...' if len(ordered) > 4 else ''})"
