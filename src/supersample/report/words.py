"""Numbers and verdicts as readable text."""

import math
import re
from collections.abc import Sequence

from supersample._text import amount
from supersample.summary.comparison import MOST_PAIRS, level_in_words, nothing_found
from supersample.summary.outcome import said_error

__all__ = [
    "amount",
    "certified",
    "clock",
    "correlation",
    "count",
    "headline",
    "limit",
    "listed",
    "meaning",
    "not_changed",
    "percent",
    "probability",
    "shortened",
    "times",
    "verdict",
]

#: The level that is not named beside a verdict.
_USUAL = 0.05


def count(number: int, noun: str = "", plural: str | None = None) -> str:
    """Write a whole number with separators, and what it counts."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def clock(seconds: float) -> str:
    """Write seconds since midnight as a time of day.

    >>> clock(44_189.2)
    '12:16:29'
    """
    if math.isnan(seconds):
        return "unknown"
    minutes, second = divmod(round(seconds), 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}"


def percent(share: float) -> str:
    """Write a share of the whole, with enough digits to distinguish it from 0."""
    if math.isnan(share):
        return "unknown"
    if share <= 0:
        return "0%"
    if share < 0.0001:
        return "under 0.01%"
    if share < 0.001:
        return f"{share:.2%}"
    if share >= 1:
        return "100%"
    return "over 99.9%" if share >= 0.9995 else f"{share:.1%}"


def times(ratio: float) -> str:
    """Write a ratio as a number of times."""
    return f"{ratio:,.1f}" if ratio < 10 else f"{ratio:,.0f}"


def certified(mmd: float, error: float) -> str:
    """Write an estimate with its standard error, both to the first significant digit of the error.

    >>> certified(0.0213, 0.002), certified(0.0213, 1e-9), certified(0.0213, math.nan)
    ('0.021 ± 0.002', '0.0213 (exact)', '0.0213')
    """
    said = said_error(mmd, error)
    if "+-" not in said:
        return f"{amount(mmd)}{said}"
    places = min(12, max(0, -math.floor(math.log10(error))))
    return f"{mmd:.{places}f} ± {error:.{places}f}"


def correlation(value: float) -> str:
    """Write a correlation with two digits, never as 1 unless it is.

    >>> correlation(-0.825), correlation(0.9999), correlation(1.0)
    ('-0.82', 'over 0.99', '1')
    """
    if 0.995 <= abs(value) < 1:
        return f"{'below -' if value < 0 else 'over '}0.99"
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) == 1 else f"{value:.2f}"


def probability(pvalue: float) -> str:
    """Write a p-value, never as 0."""
    return "< 0.0001" if pvalue < 0.0001 else amount(pvalue, 2)


def shortened(text: str) -> str:
    """Round the long decimals in a text to four digits."""
    return re.sub(r"\d+\.\d{4,}(?:e[-+]?\d+)?", lambda found: f"{float(found[0]):.4g}", text)


def listed(names: list[str], most: int = 5, *, more: bool = False) -> str:
    """Join names as in a sentence; of too many, the last are only counted. more: whether there may be others yet."""
    if len(names) > most:
        return ", ".join(names[: most - 1]) + f" and {'at least ' * more}{len(names) - most + 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def headline(rows: int, n_seen: int, good: str, n_target: int | None = None) -> str:
    """Say how many rows represent how many, and how many random rows are as good; `good` is empty if that is not known.

    n_target: the rows of the target that they are to match, if they are not to match those seen.
    """
    if n_target is not None:
        stand = count(rows, "row stands", "rows stand")
        return f"{stand} for a target of {count(n_target, 'row')}, chosen from {count(n_seen)}{good and f', {good}'}."
    if rows >= n_seen:
        return f"All {count(n_seen, 'row')} are here: there was nothing to leave out."
    return f"{count(rows, 'row stands', 'rows stand')} for {count(n_seen)}{good and f', {good}'}."


def meaning(rows: int, n_seen: int, mmd: float, error: float, random_mmd: float, *, n_target: int | None = None) -> str:
    """Give the measure behind the headline, and explain it to a reader who does not know it."""
    whole, drawn = ("data", "") if n_target is None else ("target", " from the target")
    known = math.isfinite(random_mmd) and (rows < n_seen or n_target is not None)
    against = f", against {amount(random_mmd)} for {count(rows, 'row')} drawn at random{drawn}" if known else ""
    measured = f"MMD {certified(mmd, error)}{against}. " if math.isfinite(mmd) else ""
    return (
        f"{measured}MMD, the maximum mean discrepancy, is the most by which an average over these rows can differ from the "
        f"same average over all of the {whole}, for smooth quantities of size one. At 0, no such average tells them apart."
    )


def verdict(
    pvalue: float,
    changed: list[str],
    pairs: list[str],
    n_columns: int,
    level: float = _USUAL,
    *,
    at_least: float = 0.0,
    smaller: Sequence[str] = (),
    counts: bool = True,
) -> tuple[str, str]:
    """Say whether two summaries differ, and what that does and does not mean.

    smaller: columns that differ by less than `at_least`, with their difference. counts: whether any test found that much.
    """
    less = f" Columns that differ clearly, but by less: {listed(list(smaller))}." if smaller else ""
    p = f"p {probability(pvalue)}" if pvalue < 0.0001 else f"p = {probability(pvalue)}"
    if level != _USUAL:
        p += f", at the {level_in_words(level)} level"
    often = f"in up to {percent(pvalue)} of comparisons" if pvalue >= 0.0001 else "in fewer than 1 of 10,000 comparisons"
    if pvalue > level and at_least > 0:
        said = f"No difference of at least {amount(at_least)} found{f' ({p})' if counts else ''}."
        return said, f"{limit(at_least)}{'' if counts else ' No test found so much, so there is no p-value.'}{less}"
    if pvalue > level:
        so = "so chance can explain what is seen here" if pvalue > _USUAL else "which is not rare at this level"
        return (
            f"No difference found ({p}).",
            f"Two samples of one population would look at least this different {often}, {so}. That does not show that the two "
            "are alike: a small change, or one in a column that was left out, may have gone unseen.",
        )
    where = ""
    if changed and n_columns > 1:
        where = f" The columns that differ by themselves: {listed(changed)}."
    if pairs:
        where += f" Columns that go together otherwise: {listed(pairs, more=len(pairs) == MOST_PAIRS)}."
    elif n_columns > 1 and not changed:
        alone = f"is found to differ by {amount(at_least)} or more" if at_least > 0 else "is clear by itself"
        where = f" No single column {alone}; all of them together are."
    counted = f" {limit(at_least)}{less}" if at_least > 0 else ""
    return f"The two differ ({p}).", f"Two samples of one population would look this different {often}.{where}{counted}"


def limit(at_least: float) -> str:
    """Say what the smallest difference that was to count means, and what p-values say of it."""
    least = amount(at_least)
    return (
        f"Only differences of at least {least} were to count: a share of the rows in a column, a rank correlation in a pair "
        "of columns, an MMD in all columns together. Smaller ones count for nothing, however clear they are. The limit is one "
        "on the difference found, and p-values of those that count are those of no difference at all: where the true "
        f"difference is just {least}, half of all comparisons or more find so much."
    )


def not_changed(difference: float, at_least: float) -> str:
    """Say of a column that it was not found to differ, or by less than was to count.

    >>> not_changed(0.02, 0.0), not_changed(0.02, 0.01), not_changed(0.004, 0.01)
    ('no difference found', 'no difference of at least 0.01 found', 'its difference, 0.004, is below 0.01')
    """
    if difference < at_least:
        return f"its difference, {amount(difference, 2)}, is below {amount(at_least)}"
    return nothing_found(at_least)
