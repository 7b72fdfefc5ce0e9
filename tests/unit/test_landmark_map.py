"""The landmark map: sharp near its landmarks, plain Fourier far from them, and fixed for life."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import supersample as ss
from supersample.errors import InputError, InputTypeError
from supersample.features import Fourier, Landmark
from supersample.features.nystroem import Nystroem
from supersample.kernels import Cauchy, Gaussian, Laplacian, Matern

SAMPLE = np.random.default_rng(0).normal(size=(800, 2))
PHI = Landmark.from_sample(Gaussian(1.0), SAMPLE, n_residual=256, random_state=0)


def error(phi, points):
    features = phi.transform(points).astype(np.float64)
    return np.abs(features @ features.T - phi.kernel(points)).max()


def test_kernel_values_near_the_landmarks_are_good_to_a_thousandth():
    assert error(PHI, np.random.default_rng(1).uniform(-2, 2, size=(100, 2))) < 1e-3


def test_values_at_the_landmarks_are_good_to_the_eigenvalues_left_out():
    assert error(PHI, PHI.spanned.landmarks) < 2e-5


def test_far_from_all_landmarks_the_map_is_its_fourier_part():
    far = 50.0 + np.random.default_rng(1).normal(size=(60, 2))
    features = PHI.transform(far)
    rank = PHI.spanned.n_features
    assert np.abs(features[:, :rank]).max() < 1e-30
    np.testing.assert_array_equal(features[:, rank:], PHI.waves.transform(far))
    # 128 frequencies: errors of 1 / sqrt(2 * 128) at the most, 60 * 59 / 2 pairs; 6 of them is out of reach.
    assert error(PHI, far) < 6 / np.sqrt(256)


def test_far_points_and_near_points_do_not_look_alike():
    features = PHI.transform([[0.0, 0.0], [50.0, 50.0]]).astype(np.float64)
    assert abs(features[0] @ features[1]) < 1e-3


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Matern(1.5, 1.0), Matern(0.5, 2.0), Cauchy(1.0), Laplacian(1.5)])
@pytest.mark.parametrize("offset", [0.0, 1.0, 2.0, 4.0, 100.0])
def test_squared_lengths_stay_near_k0(kernel, offset):
    phi = Landmark.from_sample(kernel, SAMPLE, 200, 128, random_state=1)
    features = phi.transform(SAMPLE[:200] + offset).astype(np.float64)
    lengths = np.einsum("ij,ij->i", features, features)
    assert abs(lengths.mean() - kernel.k0) < 0.1
    assert np.abs(lengths - kernel.k0).max() < 0.5


def test_the_residual_part_is_what_the_landmarks_leave_of_the_waves():
    # The formula of math.md, with K_ZZ^-1 restricted to the directions that the map keeps.
    phi = Landmark(Matern(1.5, 1.0), SAMPLE[:40], 64, dtype=np.float64, random_state=3)
    points, landmarks = SAMPLE[100:150], SAMPLE[:40]
    inverse = np.linalg.pinv(phi.kernel(landmarks), rcond=1e-6, hermitian=True)
    to_landmarks = phi.kernel(points, landmarks) @ inverse
    features = phi.transform(points)
    rank = phi.spanned.n_features
    spanned = features[:, :rank] @ features[:, :rank].T
    np.testing.assert_allclose(spanned, to_landmarks @ phi.kernel(landmarks, points), atol=1e-9)
    residual = phi.waves.transform(points) - to_landmarks @ phi.waves.transform(landmarks)
    np.testing.assert_allclose(features[:, rank:], residual, atol=1e-5)


def test_errors_are_smaller_than_those_of_either_part_alone():
    rng = np.random.default_rng(2)
    points = np.concatenate([rng.normal(size=(50, 2)), 6.0 + rng.normal(size=(50, 2))])
    budget = PHI.n_features
    nystroem = Nystroem(PHI.kernel, PHI.spanned.landmarks)
    fourier = Fourier(PHI.kernel, budget, random_state=0)

    def root_mean_square(phi):
        features = phi.transform(points).astype(np.float64)
        return np.sqrt(np.mean((features @ features.T - PHI.kernel(points)) ** 2))

    assert root_mean_square(PHI) < 0.9 * root_mean_square(fourier)
    assert root_mean_square(PHI) < 0.5 * root_mean_square(nystroem)


def test_the_same_seed_gives_the_same_map_and_another_does_not():
    again = Landmark.from_sample(Gaussian(1.0), SAMPLE, n_residual=256, random_state=0)
    other = Landmark.from_sample(Gaussian(1.0), SAMPLE, n_residual=256, random_state=1)
    assert again == PHI
    assert hash(again) == hash(PHI)
    assert other != PHI
    np.testing.assert_array_equal(again.transform(SAMPLE), PHI.transform(SAMPLE))


def test_every_part_of_the_identity_counts():
    landmarks = SAMPLE[:20]
    base = Landmark(Gaussian(1.0), landmarks, 16, random_state=0)
    moved = landmarks.copy()
    moved[3, 1] = np.nextafter(moved[3, 1], 9)
    for other in (
        Landmark(Gaussian(1.1), landmarks, 16, random_state=0),
        Landmark(Gaussian(1.0), moved, 16, random_state=0),
        Landmark(Gaussian(1.0), landmarks, 18, random_state=0),
        Landmark(Gaussian(1.0), landmarks, 16, random_state=1),
        Landmark(Gaussian(1.0), landmarks, 16, dtype=np.float64, random_state=0),
        Fourier(Gaussian(1.0), 16, random_state=0),
    ):
        assert other != base
    assert json.loads(json.dumps(base.identity))["map"] == "Landmark"


def test_a_pickled_map_gives_the_same_bytes():
    copied = pickle.loads(pickle.dumps(PHI))
    assert copied == PHI
    assert copied.transform(SAMPLE).tobytes() == PHI.transform(SAMPLE).tobytes()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 799), min_size=1, max_size=30), st.sampled_from([np.float32, np.float64]))
def test_a_row_does_not_depend_on_its_company(chosen, dtype):
    points = SAMPLE.astype(dtype)
    assert PHI.transform(points[chosen]).tobytes() == PHI.transform(points)[chosen].tobytes()


def test_both_dtypes_agree():
    double = Landmark(PHI.kernel, PHI.spanned.landmarks, 256, dtype=np.float64, random_state=PHI.waves.seed.sequence())
    points = np.random.default_rng(3).normal(scale=2.0, size=(100, 2))
    assert PHI.transform(points).dtype == np.float32
    assert double.transform(points).dtype == np.float64
    np.testing.assert_allclose(PHI.transform(points), double.transform(points), atol=2e-4)


@pytest.mark.parametrize(
    "sample",
    [
        np.zeros((50, 2)),
        np.repeat(SAMPLE[:3], 20, axis=0),
        np.column_stack([SAMPLE[:100, 0], np.full(100, 7.0)]),
        SAMPLE[:1],
    ],
    ids=["all equal", "three different", "constant column", "one row"],
)
def test_landmarks_that_do_not_span_much_are_fine(sample):
    for phi in (
        Landmark.from_sample(Gaussian(1.0), sample, 40, 128, random_state=0),
        Landmark(Gaussian(1.0), sample, 128, random_state=0),
    ):
        assert phi.spanned.n_features <= len(np.unique(sample, axis=0))
        assert np.isfinite(phi.transform(sample)).all()
        # At the sample itself the landmarks alone decide, however few they are.
        assert error(phi, sample) < 1e-3


def test_data_far_from_the_origin_are_mapped_as_well_as_near_ones():
    # Whole multiples of 2^-20, so that moving by a million rounds nothing.
    sample = np.round(SAMPLE * 2.0**20) / 2.0**20
    near, far = (
        Landmark.from_sample(Gaussian(1.0), offset + sample, 100, 128, random_state=0).transform(offset + sample[:100])
        for offset in (0.0, 1e6)
    )
    np.testing.assert_allclose(far @ far.T, near @ near.T, atol=1e-4)


def test_a_median_bandwidth_comes_from_the_sample():
    phi = Landmark.from_sample("gaussian", 10.0 * SAMPLE, 20, 16, random_state=0)
    assert phi.kernel.bandwidth == pytest.approx(10 * np.median(np.linalg.norm(SAMPLE[:400] - SAMPLE[400:], axis=1)), rel=0.2)


@pytest.mark.parametrize("counts", [(0, 16), (20, 0), (20, 1.5), (True, 16)])
def test_bad_counts_are_refused(counts):
    with pytest.raises((InputError, InputTypeError), match=r"n_landmarks|n_residual"):
        Landmark.from_sample(Gaussian(1.0), SAMPLE, *counts, random_state=0)


def test_a_kernel_without_a_spectrum_is_refused():
    with pytest.raises((InputError, InputTypeError), match="shift-invariant"):
        Landmark(ss.kernels.Function(lambda x, y: (1 + x @ y.T) ** 2, name="square"), SAMPLE[:5], random_state=0)
