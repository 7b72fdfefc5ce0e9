"""What a profile says of a column in a few words."""

import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
import pytest

from supersample import profile as profiles
from supersample.profile import ColumnPlan, wording


def profile_of(values, kind=None):
    column = pa.array(values, kind)
    found = profiles.init([ColumnPlan("x", column.type, "number")])
    return profiles.update(found, pa.record_batch([column], names=["x"])).columns[0]


DAY = dt.datetime(2024, 2, 29)


@pytest.mark.parametrize(
    ("values", "kind", "said"),
    [
        ([3, 1, 2], None, ("1", "2", "3")),
        ([700_001, 700_002, 834_529], None, ("700,001", "700,002", "834,529")),
        ([2**63, 2**64 - 1], pa.uint64(), ("9.223e18", "1.384e19", "1.845e19")),
        ([0.5, 1234.5678, 1e12], None, ("0.5", "1,235", "1.000e12")),
        ([float("-inf"), 1.0, float("inf")], None, ("minus infinite", "1", "infinite")),
        ([float("inf")], None, ("infinite", "infinite", "infinite")),
        ([decimal.Decimal("1.50"), decimal.Decimal("2.25")], pa.decimal128(9, 2), ("1.5", "1.875", "2.25")),
        ([DAY, DAY + dt.timedelta(days=10)], None, ("2024-02-29", "2024-03-05", "2024-03-10")),
        ([DAY, DAY + dt.timedelta(hours=2)], None, ("2024-02-29 00:00:00", "2024-02-29 01:00:00", "2024-02-29 02:00:00")),
        ([DAY, DAY + dt.timedelta(seconds=1)], None, ("2024-02-29 00:00:00", "2024-02-29 00:00:00.500000", "2024-02-29 00:00:01")),  # noqa: E501
        ([DAY.date(), dt.date(2024, 3, 2)], None, ("2024-02-29", "2024-03-01", "2024-03-02")),
        ([dt.time(1), dt.time(3)], None, ("01:00:00", "02:00:00", "03:00:00")),
        ([dt.timedelta(seconds=1.5), dt.timedelta(seconds=2.5)], None, ("1.5 s", "2 s", "2.5 s")),
        ([dt.timedelta(seconds=0.1), dt.timedelta(seconds=2342)], None, ("0.1 s", "1,171 s", "2,342 s")),
        # In the zone of the column, as its rows are shown; in UTC, and said so, if Python does not know it.
        ([23 * 3600 + 1800, 30 * 86_400], pa.timestamp("s", "Europe/Berlin"), ("1970-01-02", "1970-01-16", "1970-01-31")),
        ([-1800, 1800], pa.timestamp("s", "+01:00"), ("1970-01-01 00:30:00+01:00", "1970-01-01 01:00:00+01:00", "1970-01-01 01:30:00+01:00")),  # noqa: E501
        ([-1800, 30 * 86_400], pa.timestamp("s", "No/Where"), ("1969-12-31 UTC", "1970-01-15 UTC", "1970-01-31 UTC")),
        # Enough digits to tell values apart that differ within the column's spread.
        ([2018.2, 2020.5, 2023.0], None, ("2,018.2", "2,020.5", "2,023")),
        ([1e6 + 0.25, 1e6 + 0.5, 1e6 + 0.75], None, ("1,000,000.25", "1,000,000.5", "1,000,000.75")),
        ([None], pa.float64(), ("", "", "")),
        (["a"], None, ("", "", "")),
    ],
)  # fmt: skip
def test_extremes_and_medians(values, kind, said):
    column = profile_of(values, kind)
    assert (wording.minimum_text(column), wording.quantile_text(column, 0.5), wording.maximum_text(column)) == said


def test_distinct_values_are_called_estimates_where_they_are():
    assert wording.distinct_text(profile_of([1, 1, 2])) == "2"
    assert wording.distinct_text(profile_of([[1.0]])) == ""
    about = wording.distinct_text(profile_of(np.arange(40_000)))
    assert about.startswith("about ")
    number = int(about.removeprefix("about ").replace(",", ""))
    assert number % 100 == 0 or number == 40_000  # three digits, and never more than there are values
    assert number == pytest.approx(40_000, rel=0.07)
    assert number <= 40_000


def test_counts_are_called_lower_bounds_where_they_are():
    many = profile_of(np.concatenate([np.zeros(5_000), np.arange(1, 2_000)]))
    top = many.top(1)[0]
    assert wording.count_text(top) == f"at least {top.count:,}"
    assert top.count <= 5_000
    assert wording.count_text(profile_of(["a", "a"]).top(1)[0]) == "2"


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1.0, None, float("nan"), -0.0, 0.0, float("inf")]),
        pa.array([1, None, 2**63 - 1]),
        pa.array([2**64 - 1, None], pa.uint64()),
        pa.array([True, None, False]),
        pa.array([DAY, None]),
        pa.array([decimal.Decimal("1.50"), None], pa.decimal128(9, 2)),
        pa.array(["b", None, "a" * 300]),
    ],
)
def test_rows_are_written_as_the_frequent_values_are(values):
    column = profile_of(values.to_pylist(), values.type)
    texts = profiles.texts_of(column, values)
    assert [text is None for text in texts] == [not each.is_valid or str(each) == "nan" for each in values]
    counts = {each.value: each.count for each in column.top()}
    assert counts == {text: texts.count(text) for text in texts if text is not None}
    if column.numbers is not None:
        floats = profiles.floats_of(column, values)
        assert np.isnan(floats).tolist() == [text is None for text in texts]
