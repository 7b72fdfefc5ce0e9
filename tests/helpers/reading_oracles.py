"""Slow and simple readers of one text each: what a column of text holds, value by value."""

import datetime as dt
import math
import unicodedata

MISSING = {"", "-", "?", "na", "n/a", "#n/a", "nan", "none", "null"}
CODES = {"USD", "EUR", "GBP", "JPY", "CHF", "INR", "SEK", "kr", "kr.", "zł", "Kč", "Ft", "Fr.", "lei"}
TRUTHS = {
    "yes/no": {"yes": True, "y": True, "no": False, "n": False},
    "true/false": {"true": True, "t": True, "false": False, "f": False},
    "on/off": {"on": True, "off": False},
}


def tidy(text):
    return " ".join(text.split()).replace("\u2212", "-").replace("\u2019", "'").replace("\u02bc", "'")


def is_missing(text):
    return tidy(text).lower() in MISSING


def is_unit(text):
    if text in CODES | {"%", "‰"} or (text.isascii() and text.upper() in CODES):
        return True
    letters, sign = text[:-1], text[-1:]
    return (
        bool(sign) and unicodedata.category(sign) == "Sc" and len(letters) <= 2 and all("A" <= each <= "Z" for each in letters)
    )


def number(text, decimal):
    """Return the number in a text, None if there is none: peel off what is around the digits, one thing after the other."""
    text, signs = tidy(text), []
    if text.startswith("(") != text.endswith(")"):
        return None
    if text.startswith("("):
        text = text[1:-1].strip(" ")
        signs.append("-")
    text = _without_sign(text, signs)
    for length in (4, 3, 2, 1):
        if is_unit(text[:length]):
            text = text[length:].removeprefix(" ")
            break
    text = _without_sign(text, signs)
    if text.endswith("-"):
        text = text[:-1].removesuffix(" ")
        signs.append("-")
    for length in (4, 3, 2, 1):
        if len(text) > length and is_unit(text[-length:]):
            text = text[:-length].removesuffix(" ")
            break
    size = unsigned(text, decimal)
    if size is None or len(signs) > 1 or math.isinf(size):
        return None
    return -size if signs == ["-"] else size


def _without_sign(text, signs):
    if text[:1] not in ("+", "-"):
        return text
    signs.append(text[0])
    return text[1:].removeprefix(" ")


def unsigned(text, decimal):
    """Return the number that digits with one decimal mark write, with thousands apart or not."""
    head, exponent = text, ""
    for mark in "eE":
        if mark in text:
            head, exponent = text.split(mark, 1)
            if not exponent.removeprefix("-").removeprefix("+") or exponent[:2] in ("-+", "+-"):
                return None
            if not is_digits(exponent[1:] if exponent[0] in "+-" else exponent):
                return None
    if head.count(decimal) > 1:
        return None
    whole, has_mark, fraction = head.partition(decimal)
    if fraction and not is_digits(fraction):
        return None
    digits = whole_number(whole or "0", "," if decimal == "." else ".") if whole or fraction else None
    if digits is None or (not has_mark and not exponent and len(digits) > 15):
        return None
    return float(f"{digits}.{fraction or 0}e{exponent or 0}")


def whole_number(text, apart):
    for mark in (apart, "'", " ", "_"):
        if mark in text:
            first, *others = text.split(mark)
            thousands = len(first) in (1, 2, 3) and all(len(each) == 3 for each in others)
            lakhs = (
                mark == "," and len(first) in (1, 2) and all(len(each) == 2 for each in others[:-1]) and len(others[-1]) == 3
            )
            if not (thousands or lakhs) or first[0] == "0":
                return None
            text = "".join([first, *others])
            break
    if not is_digits(text) or (text[0] == "0" and len(text) > 1):
        return None
    return text


def is_digits(text):
    return text.isascii() and text.isdigit()


def truth(text, form):
    return TRUTHS[form].get(tidy(text).lower())


def moment(year, month, day, hour=0, minute=0, second=0, microsecond=0, ahead=0):
    """Return the time in UTC, None if there is no such time."""
    try:
        return dt.datetime(year, month, day, hour, minute, second, microsecond) - dt.timedelta(minutes=ahead)
    except ValueError:
        return None
