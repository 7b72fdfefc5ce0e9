"""The judge of the peers benchmark against a double loop, and the Pareto front worked by hand."""

import math

import numpy as np
import pytest
from benchmarks.peers.judge import Judge, median_distance
from benchmarks.peers.pareto import beaten_by, front
from benchmarks.peers.verdicts import comparison_verdict, level_is_odd, selection_verdict


def slow_mmd(data, few, weights, bandwidth):
    """Return the MMD by loops over all pairs."""

    def k(x, y):
        return math.exp(-sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / (2.0 * bandwidth**2))

    within = sum(k(x, y) for x in data for y in data) / len(data) ** 2
    between = sum(w * k(x, y) for x in data for w, y in zip(weights, few, strict=True)) / len(data)
    among = sum(v * w * k(x, y) for v, x in zip(weights, few, strict=True) for w, y in zip(weights, few, strict=True))
    return math.sqrt(within - 2.0 * between + among)


@pytest.mark.parametrize("weights", [None, [0.5, 0.3, 0.1, -0.2]], ids=["equal", "free"])
def test_judge_is_the_double_loop(weights, monkeypatch):
    monkeypatch.setattr("benchmarks.peers.judge._BLOCK", 7)  # several blocks, the last one short
    rows = 100.0 + np.random.default_rng(0).normal(size=(25, 3))
    few = rows[[3, 1, 8, 20]] + 0.1
    expected = slow_mmd(rows, few, weights or [0.25] * 4, 1.3)
    assert Judge(rows, 1.3).mmd(few, weights) == pytest.approx(expected, rel=1e-9)


def test_all_rows_are_at_distance_zero():
    rows = np.random.default_rng(1).normal(size=(40, 2))
    assert Judge(rows, 1.0).mmd(rows) == pytest.approx(0.0, abs=1e-7)


def test_median_distance_by_hand():
    assert median_distance(np.array([[0.0], [1.0], [3.0]])) == pytest.approx(2.0)


def test_front_by_hand():
    measures = {"fast": (1.0, 9.0), "middle": (2.0, 5.0), "late": (3.0, 5.0), "slow": (4.0, 1.0), "bad": (5.0, 9.0)}
    assert front(measures) == ["fast", "middle", "slow"]
    assert beaten_by(measures, "late") == ["middle"]
    assert beaten_by(measures, "bad") == ["slow", "middle", "late", "fast"]


def test_equals_do_not_beat_each_other():
    assert front({"a": (1.0, 1.0), "b": (1.0, 1.0)}) == ["a", "b"]


def row(method, package, weights, mmd, seconds, *, cold=9.0, peak_mb=300.0):
    return {
        "method": method, "package": package, "weights": weights, "mmd": mmd, "warm": [seconds], "cold": cold,
        "peak_mb": peak_mb,
    }  # fmt: skip


def test_a_loss_is_said():
    rows = [
        row("herd", "supersample", "equal", [0.3, 0.32], 2.0),
        row("better", "them", "equal", [0.1, 0.12], 1.0, cold=0.5, peak_mb=40.0),
        row("sbq", "supersample", "free", [0.01, 0.012], 3.0),
    ]
    said = selection_verdict({"rows": rows})
    assert said[0] == "Of all rows, ours on the front: sbq [free weights]; with them: them better."
    assert "**Of the rows with equal weights, no method of ours is on the front**: there are them better." in said
    assert said[-3] == ("We lose: herd (MMD 0.31 in 2 s) is beaten by them better; the closest of these at MMD 0.11 in 1 s.")
    assert said[-2] == (
        "Where the first call counts (cold seconds), ours on the front: sbq [free weights]; with them: them better."
    )
    assert said[-1] == "Peak memory: ours 300 to 300 MB; less than all of ours take them better."


def test_a_peer_with_weights_beats_ours_without():
    rows = [row("herd", "supersample", "equal", [0.3], 2.0), row("better", "them", "free", [0.1], 1.0)]
    assert any(
        each.startswith("We lose: herd ") and "them better [free weights]" in each for each in selection_verdict({"rows": rows})
    )


def test_speed_counts_among_tests_that_see_the_shift():
    def outcome(method, package, seconds, rejects):
        taken = {"null_rejections": 10, "null_repetitions": 200, "far_pvalue": 0.01}
        return {"method": method, "package": package, "warm": [seconds], "cold": 9.0, "rejects": rejects, **taken}

    rows = [
        outcome("blind", "supersample", 0.1, [0, 0, 1, 1]), outcome("ours", "supersample", 2.0, [1, 1, 0, 1]),
        outcome("quick", "them", 0.5, [0, 0, 0, 0]), outcome("good", "them", 1.0, [1, 1, 1, 1]),
    ]  # fmt: skip
    assert comparison_verdict({"rows": rows})[:3] == [
        "The fastest that sees the shift is them good, 1 s, not ours.",
        "ours is **2 times as slow as** the fastest peer that sees the shift, them good.",
        "The shift is missed in half of the calls or more by blind, them quick.",
    ]


@pytest.mark.parametrize(("rejections", "odd"), [(10, False), (19, False), (20, True), (0, True)])
def test_level_is_odd_beyond_three_standard_errors(rejections, odd):
    # 200 repetitions at 5%: mean 10, standard error 3.08.
    assert level_is_odd({"null_rejections": rejections, "null_repetitions": 200}) is odd
