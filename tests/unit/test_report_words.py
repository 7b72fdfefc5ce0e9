"""What the report says in words."""

import math

import pyarrow as pa
import pytest

from supersample.discrepancy.certificate import equal_random_rows
from supersample.report import words
from supersample.report.cells import clean, text_of
from supersample.summary.outcome import said_as_good_as


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


def test_headline_leads_with_as_many_random_rows():
    good = said_as_good_as(equal_random_rows(0.0021, 0.0195, 100, 581_012), 100, 581_012)
    assert words.headline(100, 581_012, good) == "100 rows stand for 581,012, as good as about 8,500 rows drawn at random."
    assert words.headline(1, 5, "as good as about 3 rows drawn at random").startswith("1 row stands for 5, as good as about 3")
    assert words.headline(10, 10, "") == "All 10 rows are here: there was nothing to leave out."
    assert words.headline(10, 1_000, "") == "10 rows stand for 1,000."


def test_the_measure_stands_behind_the_headline():
    said = words.meaning(100, 581_012, 0.0021, 0.0002, 0.0195)
    assert said.startswith("MMD 0.0021 ± 0.0002, against 0.0195 for 100 rows drawn at random. MMD, the maximum")
    assert "nan" not in words.meaning(10, 1_000, math.nan, math.nan, math.nan)
    assert "nan" not in words.meaning(10, 1_000, 0.02, math.nan, 0.1)
    assert words.meaning(10, 10, 0.0, 0.0, 0.1).startswith("MMD 0 (exact). MMD, the maximum")


@pytest.mark.parametrize(
    ("mmd", "size", "n_seen", "weighted", "said"),
    [
        (0.01, 100, 10**9, False, "as good as about 1,600 rows drawn at random"),
        # MMD^2 of n of N rows goes as 1 / n - 1 / N, so that all N are at 0: 1 / (99 / 160,000 + 1 / 10,000) = 1,391.
        (0.01, 100, 10_000, False, "as good as about 1,400 rows drawn at random"),
        (0.002, 100, 1_000, False, "as good as about 980 rows drawn at random"),
        (0.0001, 100, 1_000, False, "as good as nearly all 1,000 rows"),
        (0.0, 100, 1_000, False, "as good as all 1,000 rows"),
        (0.002, 100, 1_000, True, "as good as more than 1,000 rows drawn at random"),
        (0.04, 100, 10_000, False, "no better than 100 rows drawn at random"),
        (0.05, 1, 10_000, False, "no better than 1 row drawn at random"),
        (0.02, 2, 10_000, False, "as good as about 8 rows drawn at random"),
        (0.02, 1_000, 1_000, False, ""),
        (math.nan, 10, 1_000, False, ""),
    ],
)
def test_as_many_random_rows_are_never_more_than_there_are(mmd, size, n_seen, weighted, said):
    most = math.inf if weighted else n_seen
    assert said_as_good_as(equal_random_rows(mmd, 0.04, size, most, replaced=weighted), size, n_seen) == said


def test_a_large_p_value_is_never_called_sameness():
    verdict, meaning = words.verdict(0.37, [], [], 3)
    assert verdict == "No difference found (p = 0.37)."
    assert "does not show that the two are alike" in meaning


def test_a_level_that_is_not_the_usual_one_stands_beside_the_verdict():
    verdict, meaning = words.verdict(0.0087, [], [], 3, 0.001)
    assert verdict == "No difference found (p = 0.0087, at the 0.001 level)."
    assert "which is not rare at this level" in meaning
    assert words.verdict(0.2, ["a"], [], 3, 0.3)[0] == "The two differ (p = 0.2, at the 0.3 level)."
    assert "level" not in "".join(words.verdict(0.2, [], [], 3))


def test_a_small_p_value_names_the_columns_and_is_never_zero():
    verdict, meaning = words.verdict(0.0, ["a", "b", "c"], [], 5)
    assert verdict == "The two differ (p < 0.0001)."
    assert "a, b and c" in meaning
    assert "d and 2 more." in words.verdict(0.01, [], list("abcdef"), 9)[1]
    assert "d and at least 6 more." in words.verdict(0.01, [], list("abcdefghij"), 9)[1]
    assert "No single column is clear by itself" in words.verdict(0.01, [], [], 3)[1]
    assert "No single column is found to differ by 0.1 or more" in words.verdict(0.01, [], [], 3, at_least=0.1)[1]
    assert "column" not in words.verdict(0.01, [], [], 1)[1]
    assert "go together otherwise: a and b (" in words.verdict(0.01, [], ["a and b (rank correlation 0.00 -> 0.30)"], 3)[1]


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


def test_differences_that_were_not_to_count_are_not_called_chance():
    assert words.verdict(0.3, [], [], 3, at_least=0.05)[0] == "No difference of at least 0.05 found (p = 0.3)."
    verdict, meaning = words.verdict(1.0, [], [], 3, at_least=0.05, counts=False, smaller=["x 0.03", "y 0.01"])
    assert verdict == "No difference of at least 0.05 found."
    assert "No test found so much, so there is no p-value." in meaning
    assert meaning.endswith("Columns that differ clearly, but by less: x 0.03 and y 0.01.")
    assert "chance" not in meaning
    assert "Only differences of at least 0.05 were to count" in meaning


@pytest.mark.parametrize("pvalue", [1e-9, 0.3])
def test_what_a_smallest_difference_means_is_said_whatever_the_verdict(pvalue):
    _, meaning = words.verdict(pvalue, ["x"], [], 3, at_least=0.01)
    assert "Only differences of at least 0.01 were to count" in meaning
    assert "p-values of those that count are those of no difference at all" in meaning
    assert "at least" not in words.verdict(pvalue, ["x"], [], 3)[1].replace("look at least this different", "")
