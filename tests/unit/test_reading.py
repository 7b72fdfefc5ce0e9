"""Text that holds numbers, times or truth values: what is recognised, what is read, and what is counted as unreadable."""

import datetime as dt

import pyarrow as pa
import pytest

import reading_oracles as slow
from supersample._stored import check_fields, form_named
from supersample.records.reading import Reading, recognise


def _column(values):
    return pa.array(values, pa.string())


NUMBERS = {
    "dollars": (["$1,027.75", "$3.00", "$12.10"], "1,234.56", "$", [1027.75, 3.0, 12.1]),
    "euros after": (["1.027,75 €", "3,00 €"], "1.234,56", "€", [1027.75, 3.0]),
    "a code before": (["USD 1,000", "usd 12"], "1,234.56", "USD", [1000.0, 12.0]),
    "a code after": (["1000.5EUR", "12 EUR"], "1234.56", "EUR", [1000.5, 12.0]),
    "dollars of a country": (["US$5", "US$6.25"], "1234.56", "US$", [5.0, 6.25]),
    "percent": (["12.5%", "3 %", "0%"], "1234.56", "%", [12.5, 3.0, 0.0]),
    "yen and full signs": (["¥1,000", "¥2,500"], "1,234.56", "¥", [1000.0, 2500.0]),
    "rupees in lakhs": (["₹1,23,456", "₹12,34,56,789.50"], "1,234.56", "₹", [123456.0, 123456789.5]),
    "decimal comma": (["3,5", "-1,25", "7"], "1234,56", "", [3.5, -1.25, 7.0]),
    "thousands alone": (["1,234", "12,345", "999"], "1,234.56", "", [1234.0, 12345.0, 999.0]),
    "a comma that one value explains": (["1,234", "0,5"], "1234,56", "", [1.234, 0.5]),
    "points alone": (["1.234", "12.5"], "1234.56", "", [1.234, 12.5]),
    "points that one value explains": (["1.234", "1.234.567"], "1.234,56", "", [1234.0, 1234567.0]),
    "apostrophes": (["1'234.50", "12\u2019345.00"], "1'234.56", "", [1234.5, 12345.0]),
    "spaces": (["1 234,50", "12\u00a0345,00", "1\u202f234\u2009567,00"], "1 234,56", "", [1234.5, 12345.0, 1234567.0]),
    "underscores": (["1_000", "2_000_000"], "1_234.56", "", [1000.0, 2e6]),
    "signs": (["+5", "-6", "\u22127", "8-", "- 9"], "1234.56", "", [5.0, -6.0, -7.0, -8.0, -9.0]),
    "accounts": (["(1,234.50)", "($5)", "-$6", "$-7", "8"], "1,234.56", "", [-1234.5, -5.0, -6.0, -7.0, 8.0]),
    "powers of ten": (["1e5", "2.5E-3", ".5", "5.", "1e+2"], "1234.56", "", [1e5, 2.5e-3, 0.5, 5.0, 100.0]),
    "whole numbers": (["20241216", "1734307200"], "1234.56", "", [20241216.0, 1734307200.0]),
}


@pytest.mark.parametrize("case", NUMBERS)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())])
def test_numbers_are_recognised_and_read(case, kind):
    texts, form, unit, expected = NUMBERS[case]
    column = _column([*texts, None]).cast(kind)
    reading = recognise(column)
    assert (reading.kind, reading.form) == ("number", form)
    if case != "accounts":
        assert reading.unit.upper() == unit
    values, unreadable = reading.read(column)
    assert values.type == pa.float64()
    assert values.to_pylist() == [*expected, None]
    assert unreadable == 0


TIMES = {
    "iso dates": (["2024-12-16", "2024-01-02"], "year-month-day", ["2024-12-16", "2024-01-02"]),
    "iso times": (
        ["2024-12-16T10:20:30", "2024-12-16 10:20", "2024-12-16T10:20:30.123456789"],
        "year-month-day hour:minute",
        ["2024-12-16T10:20:30", "2024-12-16T10:20", "2024-12-16T10:20:30.123456"],
    ),
    "offsets": (
        ["2024-12-16T00:30:00Z", "2024-12-16T00:30:00+02:00", "2024-12-16T00:30:00.5-0530", "2024-12-16 00:30 +01"],
        "year-month-day hour:minute",
        ["2024-12-16T00:30", "2024-12-15T22:30", "2024-12-16T06:00:00.500", "2024-12-15T23:30"],
    ),
    "years first with slashes": (["2024/12/16", "2024/1/2"], "year-month-day", ["2024-12-16", "2024-01-02"]),
    "months first": (["12/16/2024", "1/2/2024"], "month/day/year", ["2024-12-16", "2024-01-02"]),
    "days first": (["16/12/2024", "1/2/2024"], "day/month/year", ["2024-12-16", "2024-02-01"]),
    "days first with points": (["16.12.2024", "01.02.2024"], "day.month.year", ["2024-12-16", "2024-02-01"]),
    "months first with hyphens": (["12-16-2024", "01-02-2024"], "month-day-year", ["2024-12-16", "2024-01-02"]),
    "halves of the day": (
        ["12/16/2024 12:05 AM", "12/16/2024 12:05 PM", "12/16/2024 1:05:09 p.m.", "12/16/2024, 11:59 am"],
        "month/day/year hour:minute",
        ["2024-12-16T00:05", "2024-12-16T12:05", "2024-12-16T13:05:09", "2024-12-16T11:59"],
    ),
    "names of months": (
        ["Dec 16, 2024", "december 1 2024", "Sept. 2nd, 2024"],
        "month day, year",
        ["2024-12-16", "2024-12-01", "2024-09-02"],
    ),
    "days and names": (
        ["16 Dec 2024", "16-Dec-2024", "1. May 2024", "2/Jan/2024"],
        "day month year",
        ["2024-12-16", "2024-12-16", "2024-05-01", "2024-01-02"],
    ),
    "mail": (
        ["Mon, 16 Dec 2024 10:00:00 +0100", "Tue, 17 Dec 2024 10:00:00 GMT"],
        "day month year hour:minute",
        ["2024-12-16T09:00", "2024-12-17T10:00"],
    ),
    "leap days": (["2024-02-29", "2000-02-29"], "year-month-day", ["2024-02-29", "2000-02-29"]),
    "long ago": (["0001-01-01", "9999-12-31"], "year-month-day", ["0001-01-01", "9999-12-31"]),
}


@pytest.mark.parametrize("case", TIMES)
def test_times_are_recognised_and_read(case):
    texts, form, expected = TIMES[case]
    column = _column([*texts, None])
    reading = recognise(column)
    assert (reading.kind, reading.form) == ("time", form)
    values, unreadable = reading.read(column)
    assert values.type == pa.timestamp("us")
    assert values.to_pylist() == [*map(dt.datetime.fromisoformat, expected), None]
    assert unreadable == 0


@pytest.mark.parametrize(
    ("texts", "form", "expected"),
    [
        (["yes", "No", "YES", " no "], "yes/no", [True, False, True, False]),
        (["Y", "n", "yes"], "yes/no", [True, False, True]),
        (["true", "FALSE", "t"], "true/false", [True, False, True]),
        (["on", "Off"], "on/off", [True, False]),
        (["true"] * 20, "true/false", [True] * 20),
        (["no"] * 20, "yes/no", [False] * 20),
    ],
)
def test_truth_values_are_recognised_and_read(texts, form, expected):
    reading = recognise(_column(texts))
    assert (reading.kind, reading.form) == ("boolean", form)
    values, unreadable = reading.read(_column(texts))
    assert values.type == pa.bool_()
    assert (values.to_pylist(), unreadable) == (expected, 0)


@pytest.mark.parametrize(
    "texts",
    [
        ["00123", "12345", "98765"],  # a code may begin with 0
        [f"{place:05d}" for place in range(1000, 99999, 99)],
        ["+49 170 1234567", "(555) 123-4567", "555-1234"],
        ["1234567890123456", "1234567890123457"],
        ["1.2.3", "1.10.0"],
        ["192.168.1.1", "10.0.0.255"],
        ["12:30", "13:45"],
        ["01/02/24", "16/12/24"],
        ["2024-13-01", "2024-02-30"],
        ["2024-01/02", "2024-01/03"],
        ["20 kg", "30 kg"],
        ["10+", "5+", "0"],
        ["1,234.56", "1.234,56"],
        ["16/12/2024", "12/16/2024"],
        ["a", "b"],
        ["1", "2", "3", "three"],
        ["12.5"] * 98 + ["007"] * 2,
        ["oops"] * 6 + ["1.5"] * 94,
        ["inf", "-inf"],
        ["1e999", "1e998"],
        ["t"] * 30,
        ["true"] * 19,
        ["yes", "off"],
        ["m", "f"],
        ["C-004217", "C-004218"],
        ["Dec 2024", "Jan 2025"],
        ["Foo 16, 2024", "Bar 17, 2024"],
        ["12,34", "1,234,5"],
        ["-", "", "NA"],
        [],
        [None, None],
    ],
)
def test_what_is_none_of_these_stays_text(texts):
    assert recognise(_column(texts)) is None


def test_a_few_bad_cells_are_missing_and_counted_and_words_for_missing_are_not_counted():
    words = ["", " ", "NA", "n/a", "#N/A", "null", "None", "NaN", "-", "?", "\u2212"]
    bad = ["oops", "1,2,3", "12 kg", "007", "1e999"]
    texts = ["1.5"] * 200 + words + bad + [None, "oops"]
    reading = recognise(_column(texts))
    values, unreadable = reading.read(_column(texts))
    assert values.to_pylist() == [1.5] * 200 + [None] * (len(words) + len(bad) + 2)
    assert unreadable == len(bad) + 1
    assert reading.read(_column(texts).slice(200))[1] == len(bad) + 1


@pytest.mark.parametrize("bad", [5, 6])
def test_at_least_95_of_100_rows_must_parse(bad):
    texts = [str(place) for place in range(100 - bad)] + ["oops"] * bad + ["NA"] * 50
    assert (recognise(_column(texts)) is not None) == (bad == 5)


def test_a_value_of_the_other_convention_is_unreadable():
    reading = recognise(_column(["3.5"] * 99 + ["3,5"]))
    assert reading.read(_column(["3,5", "1,000"])) == (pa.array([None, 1000.0]), 1)
    dates = recognise(_column(["12/16/2024"] * 99 + ["16/12/2024"]))
    assert dates.read(_column(["16/12/2024", "x"]))[1] == 2


def test_dates_of_a_form_that_was_not_decided_are_unreadable():
    reading = recognise(_column(["2024-12-16"]))
    assert reading.read(_column(["1/2/2024", "1 Feb 2024"]))[1] == 1


def test_invalid_cells_do_not_decide_the_form():
    assert recognise(_column(["2024-12-16"] * 99 + ["99/99/2024"])).form == "year-month-day"


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (["1/2/2024"], "no value tells the day from the month; read as month/day/year"),
        (["1-2-2024"], "no value tells the day from the month; read as month-day-year"),
        (["1.2.2024"], "no value tells the day from the month; read as day.month.year"),
        (["13/2/2024"], ""),
        (["12/16/2024", "2024-12-17"], "some are written year-month-day, and read as such"),
        (["2024-12-16", "Dec 16, 2024", "2024-12-17"], "some are written month day, year, and read as such"),
        (["2024-01-02T00:00Z"], ""),
        (["2024-01-02T00:00+01:00"], "converted to UTC"),
        (["2024-01-02T00:00+01:00", "2024-01-02"], "converted to UTC; values without an offset are taken as UTC"),
        (["$5", "€6", "$7"], "not all values carry the same unit ($, €)"),
        (["12", "13%"], "not all values carry the same unit (none, %)"),
    ],
)
def test_what_a_reader_should_know_is_noted(texts, note):
    assert recognise(_column(texts)).note == note


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["1,234.5"], "numbers stored as text (1,234.56)"),
        (["$1,027.75"], "numbers stored as text ($1,234.56)"),
        (["12.5%"], "numbers stored as text (1234.56%)"),
        (["3,5 EUR"], "numbers stored as text (1234,56 EUR)"),
        (["12/16/2024"], "dates stored as text (month/day/year)"),
        (["2024-12-16 10:00"], "times stored as text (year-month-day hour:minute)"),
        (["yes", "no"], "truth values stored as text (yes/no)"),
    ],
)
def test_a_reading_says_in_words_what_the_column_holds(texts, words):
    assert recognise(_column(texts)).words == words


def test_a_reading_is_stored_and_checked():
    reading = recognise(_column(["12/16/2024"]))
    check_fields(reading)
    reading.check()
    assert form_named("ColumnReading").make(kind="time", form="month/day/year", unit="", note="") == reading
    with pytest.raises(ValueError, match="a form of its own, not yes/no"):
        Reading("number", "yes/no").check()
    with pytest.raises(ValueError, match="not as colour"):
        Reading("colour", "red").check()


@pytest.mark.parametrize("form", slow.TRUTHS)
def test_truth_values_are_read_as_by_hand(form):
    words = [word for each in slow.TRUTHS.values() for word in each] + ["maybe", "1", "", "nope", "ye s", " ON"]
    values, unreadable = Reading("boolean", form).read(_column(words))
    assert values.to_pylist() == [slow.truth(word, form) for word in words]
    assert unreadable == sum(slow.truth(word, form) is None and not slow.is_missing(word) for word in words)


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["487", "1.234", "34.040", "999"], [487.0, 1234.0, 34040.0, 999.0]),
        (["487 EUR", "1.234 EUR"], [487.0, 1234.0]),
        (["1.234", "34.040"], [1.234, 34.04]),  # without a number under 1,000, nothing tells; as in CSV, dots are decimal
        (["1.234", "0.487", "5"], [1.234, 0.487, 5.0]),
        (["1.234", "1000"], [1.234, 1000.0]),
    ],
)
def test_dots_separate_thousands_if_all_values_say_so(texts, values):
    reading = recognise(pa.array(texts * 20))
    assert reading.read(pa.array(texts))[0].to_pylist() == values
    assert ("dots are taken for separators of thousands" in reading.note) == (values[-1] >= 999 and "1000" not in texts)


@pytest.mark.parametrize(
    ("texts", "told"), [(["20,208", "9,871", "11,004"], True), (["1,208.50", "9,871"], False), (["20,20", "9,871"], False)]
)
def test_commas_that_nothing_decides_are_told(texts, told):
    assert ("commas are taken for separators of thousands" in recognise(pa.array(texts * 20)).note) == told
