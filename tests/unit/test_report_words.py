"""What the report says in words."""

import math

import pyarrow as pa
import pytest

from supersample.report import words
from supersample.report.cells import clean, text_of


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0021, "0.0021"), (0.123456, "0.123"), (1234.5, "1,234"), (12.0, "12"), (0.0, "0"), (-0.5, "-0.5"), (1e-7, "1.00e-7"),
        (2.5e12, "2.50e12"), (math.nan, "unknown"), (math.inf, "infinite"), (0.05, "0.05"), (1.0, "1"), (100.0, "100"),
    ],
)  # fmt: skip
def test_amounts_are_short_and_plain(value, said):
    assert words.amount(value) == said


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.0213, "2.1%"), (0.0, "0%"), (1.0, "100%"), (0.9996, "over 99.9%"), (0.00042, "0.04%"), (1e-6, "under 0.01%")],
)
def test_shares_are_never_rounded_to_all_or_nothing(share, said):
    assert words.percent(share) == said


def test_headline_says_how_much_better_than_chance():
    said = words.headline(100, 581_012, 0.0021, 0.0002, 0.0195)
    assert said == (
        "100 rows stand for 581,012. They are 9.3 times closer to the data than 100 rows drawn at random "
        "(MMD 0.0021 ± 0.0002 against 0.0195)."
    )


def test_headline_of_one_row_is_grammatical():
    assert words.headline(1, 5, 0.1, 0.01, 0.4).startswith(
        "1 row stands for 5. It is 4.0 times closer to the data than 1 row drawn"
    )


def test_headline_does_not_boast():
    assert "no closer to the data than" in words.headline(10, 1_000, 0.02, 0.001, 0.0195)
    assert words.headline(10, 10, 0.0, 0.0, 0.1) == "All 10 rows are here: there was nothing to leave out."
    assert "nan" not in words.headline(10, 1_000, 0.02, math.nan, 0.1)
    assert "nan" not in words.headline(10, 1_000, math.nan, math.nan, math.nan)


def test_meaning_tells_how_many_random_rows_would_do_as_well():
    assert "about 1,600 rows" in words.meaning(100, 10**9, 0.01, 0.04)
    # MMD^2 of n of N rows goes as 1 / n - 1 / N, so that all N are at 0: 1 / (99 / 160,000 + 1 / 10,000) = 1,391.
    assert "about 1,400 rows" in words.meaning(100, 10_000, 0.01, 0.04)
    assert "about 980 rows" in words.meaning(100, 1_000, 0.002, 0.04)
    assert "drawing at random" not in words.meaning(100, 10_000, 0.04, 0.04)


def test_a_large_p_value_is_never_called_sameness():
    verdict, meaning = words.verdict(0.37, [], 3)
    assert verdict == "No difference found (p = 0.37)."
    assert "does not show that the two are alike" in meaning


def test_a_small_p_value_names_the_columns_and_is_never_zero():
    verdict, meaning = words.verdict(0.0, ["a", "b", "c"], 5)
    assert verdict == "The two differ (p < 0.0001)."
    assert "a, b and c" in meaning
    assert "No single column" in words.verdict(0.01, [], 3)[1]
    assert "column" not in words.verdict(0.01, [], 1)[1]


def test_lists_read_as_sentences():
    assert words.listed([]) == ""
    assert words.listed(["a"]) == "a"
    assert words.listed(["a", "b"]) == "a and b"
    assert words.listed(list("abcdefg")) == "a, b, c, d and 3 more"


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        (None, pa.int64(), "\u2013"),
        (True, pa.bool_(), "true"),
        (0.1 + 0.2, pa.float64(), "0.3"),
        (12345678, pa.int64(), "12345678"),
        (b"abc", pa.binary(), "(3 bytes)"),
        ([1, 2, 3, 4], pa.list_(pa.int8()), "[1, 2, 3, … 4 values]"),
        ({"a": 1, "b": None}, pa.struct({"a": pa.int8(), "b": pa.int8()}), "a: 1, b: \u2013"),
        (0, pa.timestamp("ns"), "1970-01-01"),
        (1_500, pa.timestamp("ms"), "1970-01-01 00:00:01.5"),
        (10**18, pa.timestamp("s"), "<value out of range: 1000000000000000000>"),
    ],
)
def test_values_are_written_in_a_line(value, kind, said):
    assert text_of(pa.scalar(value, kind)) == said


def test_bytes_that_are_no_text_are_said_to_be_unreadable():
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")])
    assert text_of(broken[0]) == "(unreadable)"


def test_text_is_cut_and_cannot_disturb_its_line():
    assert clean("a" * 200, 10) == "a" * 9 + "…"
    assert clean("one\ntwo\x00\u202ethree") == "one two\ufffd\ufffdthree"


def test_long_decimals_are_shortened():
    assert words.shortened("Gaussian(bandwidth=2.2452675764523438) + 0.5 * X(1.23456e-05)") == (
        "Gaussian(bandwidth=2.245) + 0.5 * X(1.235e-05)"
    )
