"""SuperSampler on little, equal, far, tiny and huge data: what is kept is always a real row."""

import importlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stream_oracles
import supersample as ss
from supersample.features import Fastfood, Fourier, Landmark
from supersample.kernels import Function, Gaussian
from supersample.selection import stream as stream_module
from supersample.selection.batch.frank_wolfe_iterate import Atoms
from supersample.selection.stream import polish, second_look

RNG = np.random.default_rng(0)
DATA = RNG.normal(size=(6500, 2))


@pytest.fixture(autouse=True)
def short_second_look(monkeypatch):
    monkeypatch.setattr(polish, "_KICKS", 2)


def check_real_rows(sampler, data, n_prototypes):
    indices = sampler.prototype_indices_
    assert len(indices) == min(n_prototypes, len(data))
    assert (np.diff(indices) > 0).all()
    np.testing.assert_array_equal(sampler.prototypes_, data[indices])
    numbers = [sampler.mmd_, sampler.mmd_error_, sampler.random_mmd_, sampler.energy_, sampler.bound()]
    assert np.isfinite(numbers).all()
    assert min(numbers) >= 0
    assert sampler.n_seen_ == len(data)


EDGES = {
    "one row": DATA[:1],
    "two rows": DATA[:2],
    "as many as points": DATA[:10],
    "one more": DATA[:11],
    "all equal": np.full((6500, 2), 3.7),
    "few and equal": np.full((12, 2), 3.7),
    "half equal": np.where(np.arange(6500)[:, None] % 2, DATA, 1.0),
    "first rows equal": np.where(np.arange(6500)[:, None] < 5500, 1.0, DATA),
    "two values": np.tile([[0.0, 0.0], [1.0, 1.0]], (3000, 1)),
    "constant column": np.column_stack([DATA, np.full(6500, 7.0)]),
    "far from the origin": 1e6 + DATA,
    "tiny": 1e-30 * DATA,
    "huge": 1e30 * DATA,
    "columns of different scale": DATA * [1e-6, 1e6],
    "heavy tails": np.random.default_rng(1).standard_cauchy((6500, 2)),
    "one column": DATA[:, :1],
    "wide": np.random.default_rng(1).normal(size=(300, 50)),
    "wider than long": np.random.default_rng(1).normal(size=(20, 300)),
    "sorted": np.sort(DATA, axis=0),
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("n_prototypes", [1, 10])
@pytest.mark.parametrize("search", ["exact", "tree"])
def test_what_is_kept_are_real_rows(name, n_prototypes, search):
    data = EDGES[name]
    sampler = ss.SuperSampler(n_prototypes, search=search, n_features=64, random_state=0).fit(data)
    check_real_rows(sampler, data, n_prototypes)


@pytest.mark.parametrize("name", ["half equal", "constant column", "far from the origin", "tiny", "huge", "sorted"])
def test_awkward_data_are_summarised_well(name):
    sampler = ss.SuperSampler(20, random_state=0).fit(EDGES[name])
    assert sampler.mmd_ < sampler.random_mmd_ / 5


def test_data_far_from_the_origin_are_summarised_as_near_ones():
    # Whole multiples of 2^-20, so that moving by a million rounds nothing; float32 would keep no digit after the point.
    near = np.round(DATA * 2.0**20) / 2.0**20
    kernel = Gaussian(1.5)
    truth = stream_oracles.Truth(near, kernel)
    here, there = (ss.SuperSampler(20, kernel=kernel, random_state=0).fit(offset + near) for offset in (0.0, 1e6))
    assert truth.mmd(there.prototypes_ - 1e6) < 1.5 * truth.mmd(here.prototypes_) + 1e-4


@pytest.mark.parametrize("scale", [2.0**-60, 2.0**60])
def test_the_median_bandwidth_takes_the_scale_out(scale):
    plain, scaled = (ss.SuperSampler(10, random_state=0).fit(factor * DATA) for factor in (1.0, scale))
    assert scaled.kernel_.bandwidth == pytest.approx(scale * plain.kernel_.bandwidth, rel=1e-12)
    assert scaled.mmd_ == pytest.approx(plain.mmd_, rel=0.3)


def test_half_of_the_rows_equal_means_half_of_the_points_near_it():
    data = np.where(np.arange(6500)[:, None] % 2, 5.0 + DATA, 0.0)
    kept = ss.SuperSampler(20, bandwidth=1.0, random_state=0).fit(data).prototypes_
    assert np.sum((kept == 0.0).all(axis=1)) == 10


def test_two_values_are_kept_in_their_proportion():
    data = np.repeat([[0.0], [10.0]], [4500, 1500], axis=0)
    for search in ("exact", "tree"):
        kept = ss.SuperSampler(8, bandwidth=1.0, search=search, random_state=0).fit(data).prototypes_
        assert sorted(kept[:, 0]) == [0.0] * 6 + [10.0] * 2


def test_all_rows_equal_have_no_discrepancy():
    assert ss.SuperSampler(5, random_state=0).fit(EDGES["all equal"]).mmd_ < 1e-6


def test_fewer_rows_than_points_are_all_kept_and_judged_perfect():
    sampler = ss.SuperSampler(100, random_state=0).fit(DATA[:30])
    np.testing.assert_array_equal(sampler.prototypes_, DATA[:30])
    np.testing.assert_array_equal(sampler.prototype_indices_, np.arange(30))
    assert sampler.mmd_ < 1e-6


@pytest.mark.parametrize("n_prototypes", [1, 299, 300, 301])
def test_sorted_rows_may_be_as_many_as_the_points(n_prototypes):
    """Where rows are sorted, the second look starts from the background, which holds all 300 rows."""
    rows = np.sort(np.random.default_rng(0).normal(size=(300, 1)), axis=0)
    found = ss.SuperSampler(n_prototypes, random_state=0).fit(rows).prototypes_
    assert len(np.unique(found)) == min(n_prototypes, 300)


def test_one_point_is_the_row_that_stands_best_for_all():
    data = DATA[:300]
    sampler = ss.SuperSampler(1, bandwidth=1.0, features="nystroem", n_features=200, random_state=0).fit(data)
    means = Gaussian(1.0)(data).mean(axis=1)
    # The target is calibrated by features, so a row as good as the best to a thousandth is as good.
    assert means[sampler.prototype_indices_[0]] > means.max() - 1e-3


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 60), st.integers(1, 25), st.integers(1, 4), st.integers(0, 2**31), st.booleans())
def test_any_small_problem_ends_in_real_rows(n, m, width, seed, ties):
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 3, size=(n, width)).astype(np.float64) if ties else rng.normal(size=(n, width))
    check_real_rows(ss.SuperSampler(m, n_features=16, random_state=seed).fit(data), data, m)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64, np.int8, np.uint16, bool])
def test_points_come_back_in_their_precision(dtype):
    data = np.random.default_rng(0).integers(0, 2 if dtype is bool else 100, size=(400, 3)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        data += dtype(0.1)
    sampler = ss.SuperSampler(10, random_state=0).fit(data)
    expected = np.float32 if dtype is np.float32 else np.float64
    assert sampler.prototypes_.dtype == expected
    assert sampler.prototypes_.tobytes() == data[sampler.prototype_indices_].astype(expected).tobytes()


def test_float32_and_float64_batches_give_float64():
    sampler = ss.SuperSampler(10, random_state=0).partial_fit(DATA[:50].astype(np.float32))
    assert sampler.prototypes_.dtype == np.float32
    assert sampler.partial_fit(DATA[50:100]).prototypes_.dtype == np.float64


def test_lists_and_transposed_and_strided_arrays_are_fine():
    expected = ss.SuperSampler(5, random_state=0).fit(DATA[:100]).prototypes_
    for rows in (DATA[:100].tolist(), np.asfortranarray(DATA[:100]), np.repeat(DATA[:100], 2, axis=0)[::2]):
        np.testing.assert_array_equal(ss.SuperSampler(5, random_state=0).fit(rows).prototypes_, expected)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, Landmark),
        ({"features": "fourier"}, Fourier),
        ({"kernel": "laplacian"}, Landmark),
        ({"features": Fastfood(Gaussian(1.0), 64, random_state=0)}, Fastfood),
        ({"features": Fourier(Gaussian(1.0), 64, dtype=np.float64, random_state=0)}, Fourier),
    ],
)
def test_the_feature_map_asked_for_is_used(options, kind):
    sampler = ss.SuperSampler(5, random_state=0, **options).fit(DATA[:300])
    assert isinstance(sampler.feature_map_, kind)
    if isinstance(options.get("features"), kind):
        assert sampler.feature_map_ == options["features"]
        assert sampler.kernel_ == options["features"].kernel
    check_real_rows(sampler, DATA[:300], 5)


def test_n_features_is_the_number_of_features():
    assert ss.SuperSampler(5, features="fourier", n_features=40, random_state=0).fit(DATA[:300]).feature_map_.n_features == 40
    assert ss.SuperSampler(5, features="nystroem", n_features=10, random_state=0).fit(DATA[:300]).feature_map_.n_features == 10
    landmark = ss.SuperSampler(5, n_features=20, bandwidth=0.1, random_state=0).fit(DATA[:300]).feature_map_
    assert landmark.n_features == 20


def test_a_kernel_of_the_users_own_works_and_has_no_standard_error():
    kernel = Function(lambda x, y: (1.0 + x @ y.T) ** 2, name="square")
    sampler = ss.SuperSampler(5, kernel=kernel, random_state=0).fit(DATA[:500])
    assert sampler.mmd_ < sampler.random_mmd_ / 3
    assert np.isnan(sampler.mmd_error_)
    moments = np.column_stack([DATA[:500], DATA[:500] ** 2]).mean(axis=0)
    kept = np.column_stack([sampler.prototypes_, sampler.prototypes_**2]).mean(axis=0)
    np.testing.assert_allclose(kept, moments, atol=0.2)


def test_a_median_bandwidth_ignores_what_comes_after_the_warm_up():
    first = ss.SuperSampler(5, random_state=0).fit(DATA[:5000])
    more = ss.SuperSampler(5, random_state=0).fit(np.concatenate([DATA[:5000], 1e3 * DATA[:1500]]))
    assert more.kernel_ == first.kernel_
    assert more.feature_map_ == first.feature_map_


def test_reservoirs_too_large_for_the_exact_second_look_use_the_streams_own(monkeypatch):
    monkeypatch.setattr(second_look, "FEW", 0)
    monkeypatch.setattr(second_look, "_MOST_FOR_SWAPS", 0)
    for search in ("exact", "tree"):
        sampler = ss.SuperSampler(20, search=search, random_state=0).fit(np.sort(DATA, axis=0))
        check_real_rows(sampler, np.sort(DATA, axis=0), 20)
        assert sampler.mmd_ < sampler.random_mmd_ / 3


@pytest.mark.parametrize(("n_prototypes", "search", "tree"), [(5, "auto", False), (5, "tree", True), (2500, "auto", True)])
def test_the_search_that_is_used(n_prototypes, search, tree):
    sampler = ss.SuperSampler(n_prototypes, search=search, features="fourier", n_features=16, random_state=0).partial_fit(DATA)
    assert (stream_module.drain(sampler._now.state).reservoir.tree is not None) == tree


def test_far_more_criticisms_than_rows_take_no_room():
    data = np.random.default_rng(0).standard_cauchy(size=(200, 2))
    most, all_there_are = (ss.SuperSampler(3, count, random_state=0).fit(data) for count in (1_000_000, 197))
    np.testing.assert_array_equal(most.criticism_indices_, all_there_are.criticism_indices_)
    assert len(most.criticisms_) >= 10


def test_far_more_steps_than_candidates_take_no_room(monkeypatch):
    data = np.random.default_rng(0).normal(size=(40, 2))
    found = ss.frank_wolfe(data, 400, variant="fully-corrective")
    assert found.mmd[-1] < 1e-6
    rooms = []

    class Told(Atoms):
        def __init__(self, field, count, **options):
            rooms.append(count)
            super().__init__(field, count, **options)

    monkeypatch.setattr(importlib.import_module("supersample.selection.batch.frank_wolfe"), "Atoms", Told)  # not the function
    for m, start in ((400, None), (500, found), (20, None)):
        assert ss.frank_wolfe(data, m, variant="fully-corrective", resume=start).mmd.size == m
    assert rooms == [40, 40 + len(found), 20]
