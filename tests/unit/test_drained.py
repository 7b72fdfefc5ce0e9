"""What the benchmarks look at: the reservoir of a sampler, before the second look."""

import numpy as np
from benchmarks.drained import drained

import supersample as ss


def test_the_stream_has_all_rows_and_the_sampler_stays_as_it_is():
    sampler = ss.SuperSampler(5, random_state=0).fit(np.random.default_rng(0).normal(size=(200, 2)))
    before = sampler.prototype_indices_
    held = drained(sampler)
    assert (held.n_used, len(held.pending), len(held.reservoir.rows)) == (200, 0, 5)
    np.testing.assert_array_equal(sampler.prototype_indices_, before)
