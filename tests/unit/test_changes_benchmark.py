"""What the benchmark of changes computes itself: thresholds for peers, scores, and the page, which is made from the results."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.changes.calibration import page_threshold, window_places, window_thresholds
from benchmarks.changes.page import PAGE, beaten, compose, read
from benchmarks.changes.scoring import score
from benchmarks.changes.year import batches, measured_year

ROOT = Path(__file__).resolve().parents[2]


def test_an_alarm_counts_for_the_change_before_it_and_once():
    assert score([90, 130, 140, 500], [100, 300], horizon=50, end=1_000) == ([31, None], 3)


def test_a_change_whose_horizon_is_cut_off_is_left_out_with_its_alarms():
    assert score([10, 960], [950], horizon=100, end=1_000) == ([], 1)


def test_the_threshold_of_page_is_that_of_published_run_lengths():
    # Two-sided CUSUM with k = 1/2: h = 4 runs 168 rows, h = 5 runs 465 (Montgomery, Statistical Quality Control).
    assert page_threshold(168, 0.5) == pytest.approx(4.0, abs=0.02)
    assert page_threshold(465, 0.5) == pytest.approx(5.0, abs=0.02)


def test_thresholds_of_windows_are_those_of_a_loop_over_windows():
    rng = np.random.default_rng(0)
    rows, window, run_length = rng.normal(size=(60, 3)), 5, 20
    kernel = np.exp(-np.square(rows[:, None] - rows).sum(axis=2) / 6)
    places = window_places(60, window, 300, rng)
    squares = np.array([[_square(kernel, each, each[t : t + window]) for t in range(window)] for each in places])
    expected = []
    for step in range(window):
        expected.append(np.quantile(squares[:, step], 1 - 1 / run_length))
        squares = squares[squares[:, step] < expected[-1]]
    np.testing.assert_allclose(window_thresholds(kernel, window, run_length, places), expected, rtol=1e-10)


def _square(kernel, taken, inside):
    rest = np.setdiff1d(np.arange(len(kernel)), taken)
    within, among = kernel[np.ix_(rest, rest)], kernel[np.ix_(inside, inside)]
    n, w = len(rest), len(inside)
    first, second = (within.sum() - np.trace(within)) / (n * (n - 1)), (among.sum() - np.trace(among)) / (w * (w - 1))
    return first + second - 2 * kernel[np.ix_(rest, inside)].mean()


def _table(kind, *rows):
    found = [dict(zip(("detector", "package", "delays", "elsewhere", "watched"), each, strict=True)) for each in rows]
    return {"kind": kind, "title": kind, "rows": found}


def test_a_peer_beats_ours_only_with_fewer_false_alarms_and_less_delay():
    def peers(delay, elsewhere):
        ours = ("ChangeDetector", "supersample", [20, 20, None], 1, 10_000)
        tables = {"mean-1": _table("changes", ours, ("ADWIN", "river", [delay] * 3, elsewhere, 10_000))}
        return beaten(tables, "ChangeDetector")["changes"]

    assert peers(10, 0) == ["ADWIN"]
    assert peers(30, 0) == peers(10, 1) == peers(None, 0) == []


def test_the_page_is_made_from_the_results():
    tables = read(ROOT / "benchmarks" / "changes" / "results")
    assert (ROOT / PAGE).read_text(encoding="utf-8") == compose(tables), "run python -m benchmarks.changes.page"


def test_rows_of_the_year_are_the_same_each_time_and_their_moments_those_of_the_history():
    assert next(batches(300)).equals(next(batches(300)))
    found = measured_year(300)
    assert found["rows"] == 300
    assert found["columns"] == 10
    assert found["moments_apart"] <= 1e-12
