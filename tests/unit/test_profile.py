"""A profile beside pandas and NumPy: exact where it says so, within the stated error elsewhere."""

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from profile_oracles import around
from supersample import profile
from supersample.errors import InputError, MismatchError
from supersample.profile import ColumnPlan
from supersample.profile.frequent import COUNTERS

SHARES = tuple(profile.QUANTILES.values())


def plans(table, centres=None):
    known = centres or {}
    return [ColumnPlan(field.name, field.type, "any", None, known.get(field.name, 0.0)) for field in table.schema]


def profiled(table, centres=None, rows=997):
    state = profile.init(plans(table, centres))
    for batch in table.combine_chunks().to_batches(max_chunksize=rows):
        state = profile.update(state, batch)
    state.check()
    return state


def of(values, kind=None, **kwargs):
    return profiled(pa.table({"x": pa.array(values, kind)}), **kwargs)["x"]


def random_numbers(seed, n=5_000):
    """Columns of numbers with ties, missing values, infinities and huge whole numbers."""
    rng = np.random.default_rng(seed)
    gaps = rng.random(n) < 0.1
    some = rng.normal(size=n)
    some[rng.random(n) < 0.05] = np.nan
    ends = rng.standard_cauchy(n)
    ends[rng.random(n) < 0.03] = np.inf
    ends[rng.random(n) < 0.02] = -np.inf
    return pa.table(
        {
            "normal": pa.array(some, mask=gaps),
            "ends": pa.array(ends),
            "rounded": pa.array(np.round(rng.lognormal(size=n), 1)),
            "few": pa.array(rng.integers(-3, 40, n), pa.int8(), mask=gaps),
            "many": pa.array(rng.integers(0, 10**6, n), pa.int32()),
            "huge": pa.array(rng.integers(-(2**63), 2**63 - 1, n), pa.int64()),
            "unsigned": pa.array(rng.integers(0, 2**64 - 1, n, dtype=np.uint64)),
            "single": pa.array(rng.normal(size=n).astype(np.float32)),
            "half": pa.array(rng.normal(size=n).astype(np.float16)),
            "truth": pa.array(rng.random(n) < 0.3, mask=gaps),
        }
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", random_numbers(0, 1).column_names)
def test_numbers_are_as_pandas_has_them(seed, name):
    table = random_numbers(seed)
    found = profiled(table)[name]
    column = table.column(name)
    values = pd.Series(column.drop_null().to_numpy()).dropna()
    finite = values[np.isfinite(values.astype(np.float64))].astype(np.float64)
    assert (found.count, found.missing, found.unreadable) == (values.size, len(column) - values.size, 0)
    assert found.rows == len(column)
    assert found.minimum == found.form.text(values.min().item())
    assert found.maximum == found.form.text(values.max().item())
    assert found.numbers.zeros == (values == 0).sum()
    assert found.numbers.negatives == (values < 0).sum()
    assert found.numbers.lowest + found.numbers.highest == values.size - finite.size
    assert found.mean == pytest.approx(math.fsum(finite) / finite.size, rel=1e-15)
    assert found.sd == pytest.approx(np.std(finite.to_numpy(), ddof=1), rel=1e-9)
    assert abs(found.distinct / values.nunique() - 1) <= 3 * found.distinct_error
    assert (found.distinct_error == 0) == (values.nunique() <= COUNTERS)
    assert (found.quantile_error == 0) == (values.nunique() <= COUNTERS)
    for share in (0.0, *SHARES, 1.0):
        low, high, part = around(values.astype(np.float64), share)
        if math.isinf(low) or math.isinf(high):
            assert found.quantile(share) == (low if part < 0.5 else high)
        else:
            truth = low + (high - low) * part
            distance = max(abs(low - found.centre), abs(high - found.centre))
            assert abs(found.quantile(share) - truth) <= found.quantile_error * distance + 1e-12 * abs(truth)


def test_extremes_of_whole_numbers_are_exact_beyond_float64():
    found = of([2**63 - 1, 2**63 - 2, -(2**63), 2**53 + 1])
    assert (found.minimum, found.maximum) == (str(-(2**63)), str(2**63 - 1))
    assert found.distinct == 4
    assert {each.value for each in found.top()} == {str(2**63 - 1), str(2**63 - 2), str(-(2**63)), str(2**53 + 1)}
    assert of([2**64 - 1, 0], pa.uint64()).maximum == str(2**64 - 1)
    assert of([2**64 - 1, 2**64 - 1], pa.uint64()).top()[0].value == str(2**64 - 1)


def test_zeros_of_both_signs_are_one_value():
    found = of([0.0, -0.0, -0.0])
    assert (found.distinct, found.minimum, found.maximum, found.numbers.zeros) == (1, "0.0", "0.0", 3)


def test_infinite_values_are_the_extremes_and_are_counted_apart():
    found = of([1.0, 3.0, math.inf, math.inf])
    assert (found.minimum, found.maximum, found.mean, found.quantile(1.0)) == ("1.0", "inf", 2.0, math.inf)
    only = of([-math.inf, -math.inf])
    assert (only.minimum, only.maximum, only.mean, only.sd, only.quantile(0.5)) == ("-inf", "-inf", None, None, -math.inf)


def test_a_column_without_values_has_counts_alone():
    for values, kind in (([], pa.float64()), ([None, None], pa.int64()), ([math.nan], pa.float64()), ([None], pa.string())):
        found = of(values, kind)
        assert (found.count, found.missing, found.distinct, found.distinct_error) == (0, len(values), 0, 0.0)
        assert found.minimum is found.mean is found.sd is found.quantile(0.5) is None
        assert found.top() == ()


def test_one_value_has_no_deviation():
    found = of([2.5])
    assert (found.mean, found.sd, found.quantile(0.01), found.distinct) == (2.5, None, 2.5, 1)


@pytest.mark.parametrize("kind", [pa.decimal128(9, 2), pa.decimal256(60, 2), pa.decimal128(38, 2)])
def test_decimals_keep_all_places(kind):
    large = Decimal("12345.60") if kind.precision == 9 else Decimal("123456789012345678901234567890.12")
    found = of([Decimal("-0.05"), large, None, large], kind)
    assert (found.minimum, found.maximum, found.distinct, found.missing) == ("-0.05", str(large), 2, 1)
    assert found.top()[0] == profile.Counted(str(large), 2, False)
    assert found.quantile(0.0) == -0.05
    assert found.mean == pytest.approx((2 * float(large) - 0.05) / 3)


def test_many_decimals():
    values = [Decimal(int(each)).scaleb(-3) for each in np.random.default_rng(0).integers(-(10**7), 10**7, 3_000)]
    found = of(values, pa.decimal128(20, 3))
    assert Decimal(found.minimum) == min(values)
    assert Decimal(found.maximum) == max(values)
    assert found.mean == pytest.approx(float(sum(values) / 3_000))


MOMENTS = [dt.datetime(1969, 12, 31, 23, 59, 59, 500_000), dt.datetime(2024, 2, 29, 12, 0, 0), dt.datetime(2024, 3, 1, 0, 0, 1)]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_times_have_a_first_and_a_last(unit, zone):
    given = [moment.replace(tzinfo=dt.UTC) for moment in MOMENTS] if zone else MOMENTS
    found = of([given[1], None, given[0], given[2]], pa.timestamp(unit, tz=zone))
    end = "Z" if zone else ""
    first = {"ms": "1969-12-31T23:59:59.500", "us": "1969-12-31T23:59:59.500000", "ns": "1969-12-31T23:59:59.500000000"}[unit]
    assert (found.minimum, found.maximum) == (first + end, "2024-03-01T00:00:01" + end)
    assert found.text_of(found.quantile(0.5)) == "2024-02-29T12:00:00" + end
    assert found.mean == pytest.approx(np.mean([moment.replace(tzinfo=dt.UTC).timestamp() for moment in MOMENTS]))
    assert found.distinct == 3


def test_days_times_of_day_and_durations():
    days = of([dt.date(2024, 2, 29), dt.date(2024, 2, 28), dt.date(2024, 3, 2)])
    assert (days.minimum, days.maximum, days.text_of(days.quantile(0.5))) == ("2024-02-28", "2024-03-02", "2024-02-29")
    assert of([dt.date(2024, 2, 29)], pa.date64()).maximum == "2024-02-29"
    clock = of([dt.time(23, 0, 1), dt.time(7, 5)], pa.time64("us"))
    assert (clock.minimum, clock.maximum, clock.text_of(clock.quantile(0.0))) == ("07:05:00", "23:00:01", "07:05:00")
    assert of([dt.time(7, 5)], pa.time32("s")).minimum == "07:05:00"
    spans = of([dt.timedelta(seconds=90), dt.timedelta(milliseconds=1)], pa.duration("ms"))
    assert (spans.minimum, spans.maximum, spans.text_of(spans.mean)) == ("1 ms", "90000 ms", "45.0005 s")


def test_times_to_the_ends_of_their_type_are_written():
    found = of([-(2**62), 2**62], pa.timestamp("s"))
    assert found.text_of(found.quantile(1.0)).startswith("146138514283-")
    assert found.maximum.startswith("146138514283-")


def test_texts_have_lengths_and_frequent_values():
    found = of(["a", "größe", None, "a", "", "😀😀"])
    assert (found.count, found.missing, found.distinct) == (5, 1, 4)
    assert (found.lengths.shortest, found.lengths.longest, found.lengths.total) == (0, 5, 9)
    assert found.top()[0] == profile.Counted("a", 2, False)
    assert found.minimum is found.mean is found.quantile(0.5) is found.centre is None


def test_long_texts_are_told_apart_though_they_are_cut():
    found = of(["x" * 300 + "a", "x" * 300 + "b", "x" * 300 + "b"])
    assert found.distinct == 2
    assert [each.count for each in found.top()] == [2, 1]
    assert all(each.value == "x" * 200 + "…" for each in found.top())


def test_text_that_is_no_unicode_is_counted_and_replaced():
    broken = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 2, 3], dtype=np.int32)), pa.py_buffer(b"\xff\xfea")]
    )
    found = profile.update(profile.init([ColumnPlan("x", pa.string(), "text")]), pa.record_batch({"x": broken}))["x"]
    assert found.distinct == 2
    assert {each.value for each in found.top()} == {"\ufffd\ufffd", "a"}


@pytest.mark.parametrize("share", [0.02, 0.2])
def test_frequent_values_among_many_are_found_and_bounded(share):
    rng = np.random.default_rng(0)
    values = [f"id {k}" for k in range(20_000)]
    for row in np.flatnonzero(rng.random(20_000) < share):
        values[row] = "none"
    found = of(values)
    (only,) = found.top()
    assert only.value == "none"
    assert only.at_least
    assert only.count <= values.count("none") <= only.count + found.top_error
    assert found.top_error <= 20_000 / 257


def test_only_some_frequent_values_are_shown():
    found = of([k % 100 for k in range(1_000)])
    assert len(found.top()) == 10
    assert len(found.top(1_000)) == 100


@pytest.mark.parametrize("kind", [pa.list_(pa.float64(), 2), pa.list_(pa.float32()), pa.large_list(pa.int64())])
def test_vectors_have_lengths_and_norms(kind):
    found = of([[3, 4], None, [6, 8], [0, 0]], kind)
    assert (found.count, found.missing, found.distinct) == (3, 1, None)
    assert (found.lengths.shortest, found.lengths.longest) == (2, 2)
    assert (found.mean, found.sd) == (5.0, 5.0)


def test_vectors_with_gaps_have_no_norm():
    found = of([[3.0, 4.0], [None, 1.0], [math.inf]], pa.list_(pa.float64()))
    assert (found.count, found.norms.count, found.mean, found.lengths.shortest) == (3, 1, 5.0, 1)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([b"x", None], pa.binary()), ([{"a": 1}, None], pa.struct([("a", pa.int64())])), ([["a"], None], pa.list_(pa.string())),
        ([None, None], pa.null()),
    ],
)  # fmt: skip
def test_other_types_are_counted(values, kind):
    found = of(values, kind)
    assert (found.count, found.missing) == (sum(each is not None for each in values), sum(each is None for each in values))
    assert found.distinct is found.distinct_error is found.minimum is found.mean is found.top_error is found.lengths is None


def test_an_extension_type_is_profiled_as_what_it_is_stored_as():
    kind = pa.fixed_shape_tensor(pa.float32(), (2,))
    tensors = pa.ExtensionArray.from_storage(kind, pa.array([[3.0, 4.0], [0.0, 0.0]], pa.list_(pa.float32(), 2)))
    state = profile.update(profile.init([ColumnPlan("x", kind, "vector")]), pa.record_batch({"x": tensors}))
    assert state["x"].mean == 2.5


class Euros:
    """Reads "3 EUR" as 3.0 and an empty text as missing."""

    def read(self, column):
        texts = column.to_pylist()
        known = [float(each[:-4]) if each and each.endswith(" EUR") else None for each in texts]
        unreadable = sum(value is None and bool(text) for value, text in zip(known, texts, strict=True))
        return pa.array(known, pa.float64()), unreadable


def test_text_is_profiled_as_what_it_is_read_as():
    state = profile.init([ColumnPlan("price", pa.string(), "number", Euros(), 2.0)])
    for part in (["3 EUR", "oops", None], ["", "1 EUR", "2 EUR"]):
        state = profile.update(state, pa.record_batch({"price": pa.array(part, pa.string())}))
    found = state["price"]
    found.check()
    assert (found.type, found.values, found.role) == ("string", "double", "number")
    assert (found.count, found.missing, found.unreadable, found.rows) == (3, 2, 1, 6)
    assert (found.minimum, found.maximum, found.mean, found.centre) == ("1.0", "3.0", 2.0, 2.0)
    assert found.lengths is None


def test_the_table_has_a_row_for_each_column_and_the_names_of_pandas():
    table = random_numbers(0)
    shown = profile.to_table(profiled(table))
    described = table.select(["many", "rounded"]).to_pandas().describe()
    assert shown.column("name").to_pylist() == table.column_names
    for row in shown.to_pylist():
        if row["name"] in described:
            wanted = described[row["name"]]
            assert row["count"] == wanted["count"]
            assert row["mean"] == pytest.approx(wanted["mean"])
            assert row["sd"] == pytest.approx(wanted["std"])
            assert float(row["min"]) == wanted["min"]
            assert float(row["max"]) == wanted["max"]
            for mine, other in (("q25", "25%"), ("median", "50%"), ("q75", "75%")):
                assert row[mine] == pytest.approx(wanted[other], rel=1e-2)


def test_the_table_of_texts_and_lists():
    table = pa.table({"word": ["a", "bb", "bb"], "place": pa.array([[3.0, 4.0]] * 3), "raw": [b"", b"", None]})
    word, place, raw = profile.to_table(profiled(table)).to_pylist()
    assert word["top"] == [{"value": "bb", "count": 2, "at_least": False}, {"value": "a", "count": 1, "at_least": False}]
    assert (word["shortest"], word["longest"], word["mean_length"], word["mean"]) == (1, 2, 5 / 3, None)
    assert (place["mean"], place["sd"], place["longest"], place["top"]) == (5.0, 0.0, 2, None)
    assert (raw["count"], raw["missing"], raw["distinct"]) == (2, 1, None)


def test_what_is_given_is_not_changed():
    table = random_numbers(0)
    before = profiled(table)
    shown = profile.to_table(before)
    profile.update(before, table.to_batches()[0])
    profile.merge(before, before)
    assert profile.to_table(before).equals(shown)


def test_columns_are_found_by_name():
    state = profiled(pa.table({"x": [1], "y": [2]}))
    assert (state["y"].maximum, state.rows) == ("2", 1)
    with pytest.raises(KeyError):
        state["z"]


def test_a_column_of_another_type_is_refused():
    state = profile.init([ColumnPlan("x", pa.int64(), "number")])
    with pytest.raises(MismatchError, match="'x' must be of type int64, as in the rows profiled before, got string; give"):
        profile.update(state, pa.record_batch({"x": ["a"]}))


def test_a_column_that_is_not_there_is_refused():
    state = profile.init([ColumnPlan("x", pa.int64(), "number")])
    with pytest.raises(MismatchError, match=r"the columns profiled before, got none named 'x' among \['y'\]; pass"):
        profile.update(state, pa.record_batch({"y": [1]}))


def test_a_centre_that_is_no_number_is_refused():
    with pytest.raises(InputError, match=r"centre of column 'x' must be a finite number, got nan; pass 0\.0"):
        profile.init([ColumnPlan("x", pa.float64(), "number", None, math.nan)])


@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("columns", ColumnPlan("y", pa.float64(), "number")), ("type", ColumnPlan("x", pa.int64(), "number")),
        ("role", ColumnPlan("x", pa.float64(), "id")), ("centre", ColumnPlan("x", pa.float64(), "number", None, 1.0)),
        ("reading", ColumnPlan("x", pa.float64(), "number", Euros())),
    ],
)  # fmt: skip
def test_profiles_that_do_not_fit_are_not_merged(what, other):
    left = profile.init([ColumnPlan("x", pa.float64(), "number")])
    if what == "reading":  # both read as float64
        left = profile.init([ColumnPlan("x", pa.float64(), "number", Other())])
    with pytest.raises(MismatchError, match=f"the same {what} to be merged, got"):
        profile.merge(left, profile.init([other]))


class Other(Euros):
    pass
