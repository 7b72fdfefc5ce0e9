"""How near the kept points come to the data: small versions of what the benchmarks measure at length."""

import numpy as np
import pytest

import stream_oracles
import supersample as ss
from supersample.kernels import Gaussian
from supersample.selection.stream import polish

N, M = 20_000, 100


@pytest.fixture(scope="module", autouse=True)
def shorter_second_look():
    """Ten kicks in place of forty: what passes with fewer passes with more, in a third of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polish, "_KICKS", 10)
        yield


class Case:
    def __init__(self, seed, width=2):
        self.data, self.part = stream_oracles.mixture(N, np.random.default_rng(seed), width)
        self.kernel = Gaussian(float(np.median(np.linalg.norm(self.data[:5000] - self.data[5000:10_000], axis=1))))
        self.truth = stream_oracles.Truth(self.data, self.kernel)
        self.sampler = self.fit(self.data)
        self.mmd = self.truth.mmd(self.sampler.prototypes_)

    def fit(self, rows, **options):
        return ss.SuperSampler(M, kernel=self.kernel, random_state=0, **options).fit(rows)


@pytest.fixture(scope="module")
def cases():
    return [Case(seed) for seed in (10, 11, 12)]


def ratio(cases, others):
    """The mean MMD of other samplers over the mean MMD of one pass over shuffled rows."""
    return np.mean([case.truth.mmd(other.prototypes_) for case, other in zip(cases, others, strict=True)]) / np.mean(
        [case.mmd for case in cases]
    )


def test_a_hundred_points_are_far_better_than_random_ones(cases):
    for case in cases:
        assert case.mmd < case.truth.random_mmd(M) / 40
        assert case.sampler.mmd_ < case.sampler.random_mmd_ / 20


def test_in_ten_columns_they_are_still_better():
    case = Case(13, width=10)
    assert case.mmd < case.truth.random_mmd(M) / 10


def test_the_paper_s_features_do_well_too(cases):
    for case in cases:
        found = case.fit(case.data, features="fourier", n_features=200)
        assert case.truth.mmd(found.prototypes_) < case.truth.random_mmd(M) / 5


def test_the_tree_comes_near_the_exact_search(cases):
    assert ratio(cases, [case.fit(case.data, search="tree") for case in cases]) < 1.5


def test_the_stream_alone_does_most_of_the_work(cases):
    # Without the second look: the reservoir as the pass left it.
    for case in cases:
        assert case.truth.mmd(case.sampler._now.state.reservoir.rows.points) < case.truth.random_mmd(M) / 15


@pytest.mark.parametrize("order", ["by a coordinate", "by part"])
def test_the_order_of_rows_costs_less_than_a_factor_of_two(cases, order):
    others = []
    for case in cases:
        key = case.data[:, 0] if order == "by a coordinate" else case.part
        others.append(case.fit(case.data[np.argsort(key, kind="stable")]))
    assert ratio(cases, others) < 2.0


def test_five_passes_are_hardly_better_than_one(cases):
    assert ratio(cases, [case.fit(np.tile(case.data, (5, 1))) for case in cases]) > 1 / 1.3


def test_merged_halves_are_nearly_as_good(cases):
    merged = []
    for case in cases:
        left = case.fit(case.data[: N // 2])
        merged.append(left.merge(left.empty_like().partial_fit(case.data[N // 2 :])))
    assert ratio(cases, merged) < 1.5


def test_merged_halves_that_differ_are_good_as_well(cases):
    merged = []
    for case in cases:
        rows = case.data[np.argsort(case.data[:, 0])]
        left = case.fit(rows[: N // 2])
        merged.append(left.merge(left.empty_like().partial_fit(rows[N // 2 :])))
    assert ratio(cases, merged) < 2.0


def test_weights_do_what_repeated_rows_do(cases):
    case = cases[0]
    times = np.random.default_rng(0).integers(0, 4, size=N)
    weighted = ss.SuperSampler(M, kernel=case.kernel, random_state=0).fit(case.data, sample_weight=times)
    repeated = stream_oracles.Truth(np.repeat(case.data, times, axis=0)[::2], case.kernel)
    assert repeated.mmd(weighted.prototypes_) < repeated.random_mmd(M) / 8
