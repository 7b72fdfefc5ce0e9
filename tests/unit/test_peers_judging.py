"""The judge of the peers benchmark against a double loop, and the Pareto front worked by hand."""

import math

import numpy as np
import pytest
from benchmarks.peers.judge import Judge, median_distance
from benchmarks.peers.pareto import beaten_by, front
from benchmarks.peers.verdicts import level_is_odd, selection_verdict


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


def row(method, package, weights, mmd, seconds):
    return {"method": method, "package": package, "weights": weights, "mmd": mmd, "warm": [seconds], "cold": 9.0}


def test_a_loss_is_said():
    rows = [
        row("herd", "supersample", "equal", [0.3, 0.32], 2.0),
        row("better", "them", "equal", [0.1, 0.12], 1.0),
        row("sbq", "supersample", "free", [0.01, 0.012], 3.0),
    ]
    said = selection_verdict({"rows": rows})
    assert said[0] == "Of all rows, ours on the front: sbq [free weights]; with them: them better."
    assert "**Of the rows with equal weights, no method of ours is on the front**: there are them better." in said
    assert said[-1] == ("We lose: herd (MMD 0.31 in 2 s) is beaten by them better; the closest of these at MMD 0.11 in 1 s.")


@pytest.mark.parametrize(("rejections", "odd"), [(10, False), (19, False), (20, True), (0, True)])
def test_level_is_odd_beyond_three_standard_errors(rejections, odd):
    # 200 repetitions at 5%: mean 10, standard error 3.08.
    assert level_is_odd({"null_rejections": rejections, "null_repetitions": 200}) is odd
