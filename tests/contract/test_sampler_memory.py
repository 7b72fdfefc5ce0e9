"""`SuperSampler.fit` holds a slice of an array of other numbers at a time, as of a file that is larger than memory."""

import tracemalloc

import numpy as np
import pytest

import supersample as ss
from supersample.selection.stream.plan import CHUNK
from supersample.summary import sampler

WIDTH = 64


@pytest.fixture(scope="module")
def data():
    return np.random.default_rng(0).normal(size=(48 * CHUNK + 7, WIDTH)).astype(np.float32)


def fitted(points):
    return ss.SuperSampler(20, n_features=64, random_state=0).fit(points)


def peak(points):
    tracemalloc.start()
    try:
        fitted(points)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_twice_the_rows_take_no_second_copy(data, monkeypatch):
    monkeypatch.setattr(sampler, "_CONVERTED", 4 * CHUNK * WIDTH)
    half = data[: len(data) // 2]
    peak(half)  # compiles
    more = peak(data) - peak(half)
    assert more < len(half) * WIDTH * 2  # a copy in float64 would be eight bytes a number


def test_slices_change_nothing(data, monkeypatch):
    whole = fitted(data)
    monkeypatch.setattr(sampler, "_CONVERTED", 1)
    sliced = fitted(data)
    np.testing.assert_array_equal(sliced.prototype_indices_, whole.prototype_indices_)
    assert sliced.mmd_ == whole.mmd_
