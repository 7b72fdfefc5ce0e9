"""Summaries of disjoint halves of the same shuffled data differ as often as the level says.

Default run: 25 pairs, allowed so many rejections that a correct test exceeds it with a chance of 1e-5 a case. The whole study
asks 500 pairs of each case for the 99.9% binomial band, two-sided.
"""

import numpy as np
import pyarrow as pa
import pytest

import oracles
import supersample as ss

ROWS = 12_000
CASES = {
    "mixed columns": (2000, None),
    "unequal halves": (700, None),
    "weighted rows": (2000, "w"),
    "past the warm-up": (6000, None),
}


def table():
    rng = np.random.default_rng(0)
    kind = rng.choice(3, ROWS, p=[0.5, 0.3, 0.2])
    return pa.table(
        {
            "x": rng.normal(kind * 2.0, 1.0),
            "tail": rng.standard_t(3, ROWS),
            "kind": np.array(["a", "b", "c"])[kind],
            "count": rng.poisson(2.0, ROWS),
            "gone": pa.array(np.where(rng.random(ROWS) < 0.1, np.nan, rng.exponential(size=ROWS)), from_pandas=True),
            "w": rng.gamma(2.0, size=ROWS) * (1.0 + kind),
        }
    )


def rejections(case, pairs):
    first, weight = CASES[case]
    data, rng = table(), np.random.default_rng(sorted(CASES).index(case))
    columns = ["x", "tail", "kind", "count", "gone"]
    count = columns_named = 0
    for seed in range(pairs):
        order = rng.permutation(ROWS)
        parts = [data.take(order[:first]), data.take(order[first : first + max(first, 2000)])]
        left = ss.summarize(parts[0], 20, 0, columns=columns, weight=weight, random_state=seed)
        right = ss.summarize(parts[1], like=left, random_state=seed)
        found = left.compare(right)
        count += found.rejects(0.05)
        columns_named += bool(found.changed)
    return count, columns_named


@pytest.mark.parametrize("case", [name for name in CASES if name != "past the warm-up"])
def test_halves_of_the_same_data_rarely_differ(case):
    _, most = oracles.binomial_band(10, 0.05, 1 - 2e-5)
    count, named = rejections(case, 10)
    assert count <= most
    assert named <= most


@pytest.mark.level
@pytest.mark.parametrize("case", CASES)
def test_halves_of_the_same_data_differ_at_the_level(case, capsys):
    least, most = oracles.binomial_band(500, 0.05, 0.999)
    count, named = rejections(case, 500)
    with capsys.disabled():
        line = f"{case:20} rejects {count / 5:.1f}%  names columns {named / 5:.1f}%  band {least / 5:.1f}% to {most / 5:.1f}%"
        print(line)  # noqa: T201
    assert least <= count <= most
    assert named <= most
