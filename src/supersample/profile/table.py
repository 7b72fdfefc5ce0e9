"""A profile as a table: one row for each column, with the names that pandas uses where it has one."""

from typing import Any

import pyarrow as pa

from supersample.profile.column import ColumnProfile
from supersample.profile.profile import Profile

__all__ = ["QUANTILES", "to_table"]

#: The columns of quantiles, and their shares.
QUANTILES = {"q01": 0.01, "q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95, "q99": 0.99}

_TOP = pa.list_(pa.struct([("value", pa.string()), ("count", pa.int64()), ("at_least", pa.bool_())]))
_SCHEMA = pa.schema(
    [
        ("name", pa.string()), ("type", pa.string()), ("role", pa.string()),
        ("count", pa.int64()), ("missing", pa.int64()), ("unreadable", pa.int64()),
        ("distinct", pa.int64()), ("distinct_error", pa.float64()),
        ("min", pa.string()), ("max", pa.string()), ("mean", pa.float64()), ("sd", pa.float64()),
        *((name, pa.float64()) for name in QUANTILES), ("quantile_error", pa.float64()),
        ("zeros", pa.int64()), ("negatives", pa.int64()), ("infinite", pa.int64()),
        ("top", _TOP), ("top_error", pa.int64()),
        ("shortest", pa.int64()), ("mean_length", pa.float64()), ("longest", pa.int64()),
    ]
)  # fmt: skip


def to_table(profile: Profile) -> pa.Table:
    """Return the statistics of each column as a row of a table; null where a column has no such statistic.

    count: values that are there, as in pandas' `describe`; missing: null or NaN; unreadable: text that was to be read as a
    number, time or truth value and could not be. The three add up to the rows.
    distinct: different values, exact where distinct_error is 0 (up to 256 of them), else an estimate with this relative
    standard error.
    min, max: exact, as text, so that whole numbers, decimals and times keep all digits; times by ISO 8601, UTC with a Z.
    mean, sd: of the finite values, rounded once; sd has the divisor n - 1. Times are in seconds since 1970, or since midnight,
    and truth values 0 and 1. For lists of numbers they are those of the Euclidean lengths.
    q01 to q99: quantiles by linear interpolation, as in pandas; exact where quantile_error is 0, else off by at most this
    share of the distance from the centre of the column (the median of the rows that its scale was learned from).
    zeros, negatives, infinite: counts of such numbers.
    top: up to ten most frequent values with their counts, those certain to be more frequent than any other; where at_least is
    true a count may be too low, by at most top_error.
    shortest, mean_length, longest: lengths of texts in characters, and of lists.
    """
    return pa.Table.from_pylist([_row(column) for column in profile.columns], schema=_SCHEMA)


def _row(column: ColumnProfile) -> dict[str, Any]:
    numbers, lengths = column.numbers, column.lengths
    return {
        "name": column.name,
        "type": column.type,
        "role": column.role,
        "count": column.count,
        "missing": column.missing,
        "unreadable": column.unreadable,
        "distinct": column.distinct,
        "distinct_error": column.distinct_error,
        "min": column.minimum,
        "max": column.maximum,
        "mean": column.mean,
        "sd": column.sd,
        **{name: column.quantile(share) for name, share in QUANTILES.items()},
        "quantile_error": column.quantile_error,
        "zeros": None if numbers is None else numbers.zeros,
        "negatives": None if numbers is None else numbers.negatives,
        "infinite": None if numbers is None else numbers.infinite,
        "top": None if column.frequent is None else [vars(each) for each in column.top()],
        "top_error": column.top_error,
        "shortest": None if lengths is None else lengths.shortest,
        "mean_length": None if lengths is None or column.count == 0 else lengths.total / column.count,
        "longest": None if lengths is None else lengths.longest,
    }
