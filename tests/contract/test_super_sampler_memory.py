"""The state of a SuperSampler does not grow with the stream."""

import numpy as np
import pytest

import stream_oracles
import supersample as ss
from supersample.selection.stream.plan import CHUNK


def size(sampler):
    return sum(array.nbytes for array in stream_oracles.arrays(sampler._now.state))


@pytest.mark.parametrize("search", ["exact", "tree"])
@pytest.mark.parametrize("weighted", [False, True])
def test_two_hundred_thousand_rows_leave_no_more_than_fifty_thousand(search, weighted):
    rng = np.random.default_rng(0)
    sampler = ss.SuperSampler(50, search=search, features="fourier", n_features=32, random_state=0)
    sizes = {}
    for batch in range(1, 21):
        rows = rng.normal(size=(10_000, 2))
        sampler.partial_fit(rows, sample_weight=rng.exponential(size=10_000) if weighted else None)
        sizes[batch] = size(sampler)
    # What may come on top: rows that wait for their chunk, and early rows that wait for the background to be cut back.
    row = 8 * (2 + 1 + 1 + 1)
    waiting = CHUNK * row + 5000 * (row + 16)
    assert abs(sizes[20] - sizes[5]) < 0.01 * sizes[5] + waiting
    assert max(sizes.values()) < 5000 * (row + 16) + waiting + 1e5


def test_no_array_keeps_a_larger_one_alive():
    rng = np.random.default_rng(0)
    sampler = ss.SuperSampler(50, features="fourier", n_features=32, random_state=0)
    for _ in range(3):
        sampler.partial_fit(rng.normal(size=(40_000, 2)))
    for array in stream_oracles.arrays(sampler._now.state):
        base = array
        while isinstance(base.base, np.ndarray):
            base = base.base
        assert base.nbytes <= max(2 * array.nbytes, 1 << 19)
