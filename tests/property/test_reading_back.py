"""Numbers and times written in some convention are recognised and read back exactly; other text is read as by hand."""

import datetime as dt

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

import reading_oracles as slow
from supersample.records.reading import Reading, recognise

amounts = st.decimals(min_value=-(10**9), max_value=10**9, places=2)
apart = st.sampled_from(["", ",", ".", "'", " ", "\u00a0", "\u202f", "_"])
around = st.sampled_from(["{}", "${}", "{} €", "£ {}", "USD {}", "{}EUR", "{}%", "{} %", "¥{}", "₹ {}", "US${}", "{} kr"])
negative = st.sampled_from(["-{}", "- {}", "\u2212{}", "({})", "{}-"])
moments = st.datetimes(min_value=dt.datetime(1, 1, 2), max_value=dt.datetime(9999, 12, 30))
DATES = {
    "year-month-day": ["%Y-%m-%d", "%Y/%m/%d"],
    "month/day/year": ["%m/%d/%Y", "%m-%d-%Y", "%m.%d.%Y"],
    "day/month/year": ["%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y"],
    "named": ["%b %d, %Y", "%B %d %Y", "%d %b %Y", "%d-%b-%Y", "%a, %d %b %Y"],
}
CLOCKS = ["", "T%H:%M:%S.%f", " %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M%p", ", %H:%M"]


def _written(amount, decimal, mark):
    text = f"{abs(amount):,.2f}".replace(",", "T").replace(".", decimal)
    return text.replace("T", mark)


@given(st.lists(amounts, min_size=1, max_size=30), st.sampled_from(".,"), apart, around, negative)
def test_amounts_are_read_back_exactly(values, decimal, mark, pattern, minus):
    if mark == decimal:
        mark = ""
    texts = [_written(value, decimal, mark) for value in values]
    texts = [pattern.format(text) for text in texts]
    texts = [minus.format(text) if value < 0 else text for value, text in zip(values, texts, strict=True)]
    reading = recognise(pa.array(texts))
    assert reading.kind == "number"
    assert reading.read(pa.array(texts)) == (pa.array([float(value) for value in values]), 0)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_floats_as_python_writes_them_are_read_back_to_the_bit(values):
    texts = pa.array([repr(value) for value in values])
    found, unreadable = recognise(texts).read(texts)
    assert found.to_numpy().tobytes() == pa.array(values, pa.float64()).to_numpy().tobytes()
    assert unreadable == 0


@given(
    st.lists(
        st.text("0123456789.,'_ -+()$€%eE", max_size=9)
        | st.from_regex(
            r"\A[-(]?(\$|EUR|kr)? ?[0-9]{1,3}([,.' _][0-9]{2,3}){0,3}([.,][0-9]{1,2})?(e-?[0-9])?( ?(%|USD))?[-)]?\Z"
        ),
        min_size=1,
        max_size=50,
    ),
    st.sampled_from(["1234.56", "1234,56"]),
)
@example(
    ["0", "00", "0.0", "-0", "1,234", "1,23,456", "12,34", "EURO 5", "5 -", "(5", "5)", "()", "1e5-", "e5", "kr.5", "5 - $"],
    "1234.56",
)
def test_any_text_is_read_as_by_hand(texts, form):
    values, unreadable = Reading("number", form).read(pa.array(texts))
    expected = [None if slow.is_missing(text) else slow.number(text, form[-3]) for text in texts]
    assert values.to_pylist() == expected
    assert unreadable == sum(value is None and not slow.is_missing(text) for text, value in zip(texts, expected, strict=True))


@given(st.lists(moments, min_size=1, max_size=30), st.sampled_from(sorted(DATES)), st.sampled_from(CLOCKS), st.data())
def test_times_are_read_back_exactly(values, order, clock, data):
    pattern = data.draw(st.sampled_from(DATES[order])) + clock
    told = dt.datetime(2020, 1, 31)  # tells the day from the month
    texts = [_formatted(value, pattern) for value in [*values, told]]
    reading = recognise(pa.array(texts * 20))
    found, unreadable = reading.read(pa.array(texts[:-1]))
    assert found.to_pylist() == [_cut(value, clock) for value in values]
    assert unreadable == 0


def _formatted(value, pattern):
    """Write a time; the C library writes years before 1000 without their zeros."""
    return value.strftime(pattern.replace("%Y", f"{value.year:04d}"))


def _cut(value, clock):
    kept = [("%f", "microsecond"), ("%S", "second"), ("%M", "minute"), ("%M", "hour")]
    return value.replace(**{part: 0 for mark, part in kept if mark not in clock})


numbers = st.tuples(st.integers(0, 9999), st.integers(0, 13), st.integers(0, 32), st.integers(0, 25), st.integers(0, 61))


@given(st.lists(st.tuples(numbers, st.integers(0, 61), st.integers(-1500, 1500)), min_size=1, max_size=50))
def test_times_that_do_not_exist_are_unreadable(drawn):
    texts, expected = [], []
    for (year, month, day, hour, minute), second, ahead in drawn:
        hours, minutes = divmod(abs(ahead), 60)
        zone = f"{'-' if ahead < 0 else '+'}{hours:02d}:{minutes:02d}"
        texts.append(f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}{zone}")
        known = year > 1 and year < 9999 and hours < 24
        expected.append(slow.moment(year, month, day, hour, minute, second, 0, ahead) if known else "unknown")
    values, unreadable = Reading("time", "year-month-day").read(pa.array(texts))
    pairs = list(zip(values.cast(pa.int64()).to_pylist(), expected, strict=True))
    for found, wanted in pairs:
        if wanted != "unknown":
            assert found == (None if wanted is None else (wanted - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1))
    assert unreadable == values.null_count


@given(st.lists(st.sampled_from(["1", "2.5", "x", "NA", "", "2024-01-02", "yes"]) | st.none(), max_size=40))
def test_a_column_in_parts_is_read_as_in_one(texts):
    column = pa.array(texts, pa.string())
    for reading in (Reading("number", "1234.56"), Reading("time", "year-month-day"), Reading("boolean", "yes/no")):
        whole, count = reading.read(column)
        parts = [reading.read(column.slice(start, 7)) for start in range(0, len(column), 7)]
        assert count == sum(each for _, each in parts)
        assert whole.to_pylist() == [value for values, _ in parts for value in values.to_pylist()]
