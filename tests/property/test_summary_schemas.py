"""Any table gives a summary or a clear error: all Arrow types, nulls, NaN, empty batches, one row, odd names."""

import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import supersample as ss

names = st.text(min_size=0, max_size=6)
finite = st.floats(width=64)
SCALARS = [
    (pa.bool_(), st.booleans()),
    (pa.int8(), st.integers(-128, 127)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.float16(), st.floats(width=16).map(np.float16)),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), finite),
    (pa.decimal128(12, 3), st.decimals(-(10**8), 10**8, places=3).map(lambda d: d.quantize(decimal.Decimal("0.001")))),
    (pa.string(), st.text(max_size=8)),
    (pa.large_string(), st.text(max_size=80)),
    (pa.binary(), st.binary(max_size=4)),
    (pa.date32(), st.dates()),
    (pa.date64(), st.dates()),
    (pa.timestamp("us"), st.datetimes()),
    (pa.timestamp("ns", "UTC"), st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1), timezones=st.just(dt.UTC))),
    (pa.time32("s"), st.times().map(lambda t: t.replace(microsecond=0))),
    (pa.time64("us"), st.times()),
    (pa.duration("ms"), st.integers(-(10**9), 10**9).map(lambda ms: dt.timedelta(milliseconds=ms))),
    (pa.null(), st.none()),
    (pa.list_(pa.float64()), st.lists(finite, max_size=3)),
    (pa.list_(pa.float32(), 2), st.lists(st.floats(width=32), min_size=2, max_size=2)),
    (pa.list_(pa.string()), st.lists(st.text(max_size=2), max_size=2)),
    (pa.struct([("a", pa.int32())]), st.fixed_dictionaries({"a": st.integers(-5, 5)})),
    (pa.map_(pa.string(), pa.int32()), st.lists(st.tuples(st.text(max_size=2), st.integers(-5, 5)), max_size=2)),
    (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["a", "b", "c"])),
    (pa.month_day_nano_interval(), st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))),
]


@st.composite
def tables(draw, names=names, sizes=(0, 1, 2, 3, 30)):
    n = draw(st.sampled_from(sizes))
    columns = {}
    for name in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        kind, values = draw(st.sampled_from(SCALARS))
        cells = draw(st.lists(st.none() | values, min_size=n, max_size=n)) if draw(st.booleans()) else [draw(values)] * n
        columns[name] = pa.array(cells, type=kind)
    return pa.table(columns)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(tables(), st.integers(1, 40), st.integers(0, 3))
def test_any_table_gives_a_summary_or_a_clear_error(table, prototypes, criticisms):
    try:
        made = ss.summarize(table, prototypes, criticisms, random_state=0)
        rows = made.prototypes
    except ss.errors.SupersampleError:
        return
    assert 1 <= rows.num_rows <= min(prototypes, table.num_rows)
    assert np.isfinite(made.mmd)
    chosen = table.take(rows.column("_row")).flatten()  # fields of structures are columns
    for name in chosen.column_names:
        assert _cells(rows.column(name)) == _cells(chosen.column(name))
    made.compare(ss.summarize(table, like=made, random_state=1))


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(*[tables(st.sampled_from("abc"), (1, 2, 30)) for _ in range(2)], st.sampled_from([1, 20]))
def test_any_two_summaries_are_compared_or_refused_clearly(first, second, copies):
    try:
        left, right = (ss.summarize(pa.concat_tables([each] * copies), 5, 2, random_state=0) for each in (first, second))
        left.prototypes, right.prototypes  # noqa: B018  the warm-up ends here
    except ss.errors.SupersampleError:
        return
    try:
        found = left.compare(right)
    except ss.errors.MismatchError as error:
        assert "no column that can be compared" in str(error)  # noqa: PT017
        return
    turned = right.compare(left)
    assert (found.pvalue, found.statistic) == (turned.pvalue, turned.statistic)
    assert found.left_rows["_row"].equals(turned.right_rows["_row"])
    assert found.right_rows["_ratio"].equals(turned.left_rows["_ratio"])
    assert str(found)


def _cells(column):
    return [repr(value) for value in column.to_pylist()]
