"""What the benchmark of changes computes itself: thresholds for peers, scores, and the page, which is made from the results."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.changes.calibration import page_threshold, window_places, window_thresholds
from benchmarks.changes.page import PAGE, beaten, compose, read
from benchmarks.changes.scoring import score
from benchmarks.changes.year import batches

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
    def peers(delays, elsewhere):
        changes = _table("changes", ("ChangeDetector", "supersample", [20, 20, 30], 0, 900), ("ADWIN", "river", delays, 9, 900))
        still = _table("still", ("ChangeDetector", "supersample", [], 1, 10_000), ("ADWIN", "river", [], elsewhere, 10_000))
        return beaten({"mean-1": changes, "gaussian": still}, "ChangeDetector")["changes"]

    assert peers([10, 10, 10], 0) == ["ADWIN"]
    assert peers([30, 30, 30], 0) == peers([10, 10, 10], 1) == peers([10, None, None], 0) == []
    assert peers([19], 0) == ["ADWIN"]  # slow ones have fewer streams, and are compared on those


def test_the_page_is_made_from_the_results():
    tables = read(ROOT / "benchmarks" / "changes" / "results")
    assert (ROOT / PAGE).read_text(encoding="utf-8") == compose(tables), "run python -m benchmarks.changes.page"


def test_rows_of_the_year_are_the_same_each_time_and_fill_it():
    first, second = list(batches(300)), list(batches(300))
    assert all(one.equals(other) for one, other in zip(first, second, strict=True))
    when = np.concatenate([each.column("when").to_numpy() for each in first])
    assert len(when) == 300
    assert (np.diff(when) > np.timedelta64(0, "us")).all()
    assert np.datetime64("2025-12-30") < when[-1] < np.datetime64("2026-01-01")
