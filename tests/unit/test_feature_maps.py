"""Feature maps: sizes, identities, equality, and the Nystroem map at its landmarks."""

import json

import numpy as np
import pytest

import supersample as ss
from supersample.errors import InputError
from supersample.features import Fastfood, Fourier, Nystroem
from supersample.features.heldout import HeldOut
from supersample.kernels import Cauchy, Function, Gaussian, Laplacian, Matern


@pytest.mark.parametrize("make", [Fourier, Fastfood])
@pytest.mark.parametrize("n_features", [1, 2, 3, 63, 64, 65])
@pytest.mark.parametrize("form", ["paired", "phase"])
@pytest.mark.parametrize("width", [1, 2, 3, 5, 16, 17, 100])
def test_any_size_at_any_width(make, n_features, form, width):
    phi = make(Gaussian(1.0), n_features, form=form, random_state=0)
    features = phi.transform(np.random.default_rng(0).normal(size=(5, width)))
    assert features.shape == (5, n_features)
    assert np.isfinite(features).all()
    assert np.abs(features).max() <= np.sqrt(2.0 / n_features) * (1 + 1e-6)
    assert len(np.unique(features.round(12), axis=0)) == 5
    assert phi.n_frequencies == (n_features if form == "phase" else (n_features + 1) // 2)


def variations():
    yield Fourier(Gaussian(1.0), 16, random_state=0)
    yield Fourier(Gaussian(1.5), 16, random_state=0)
    yield Fourier(Cauchy(1.0), 16, random_state=0)
    yield Fourier(Gaussian((1.0, 1.0)), 16, random_state=0)
    yield Fourier(Gaussian(1.0) + Laplacian(2.0), 16, random_state=0)
    yield Fourier(Gaussian(1.0), 17, random_state=0)
    yield Fourier(Gaussian(1.0), 16, random_state=1)
    yield Fourier(Gaussian(1.0), 16, form="phase", random_state=0)
    yield Fourier(Gaussian(1.0), 16, frequencies="orthogonal", random_state=0)
    yield Fourier(Gaussian(1.0), 16, frequencies="sobol", random_state=0)
    yield Fourier(Gaussian(1.0), 16, dtype=np.float64, random_state=0)
    yield Fourier(Gaussian(1.0), 16, origin=1.0, random_state=0)
    yield Fastfood(Gaussian(1.0), 16, random_state=0)
    yield Fastfood(Matern(1.5, 1.0), 16, random_state=0)
    yield Fastfood(Matern(2.5, 1.0), 16, random_state=0)
    yield Nystroem(Gaussian(1.0), [[0.0], [1.0]])
    yield Nystroem(Gaussian(1.0), [[0.0], [2.0]])
    yield Nystroem(Gaussian(1.0), [[0.0], [1.0]], dtype=np.float64)
    yield Nystroem(Gaussian(2.0), [[0.0], [1.0]])


def test_identity_tells_every_parameter_apart_and_survives_json():
    first, second = list(variations()), list(variations())
    for i, left in enumerate(first):
        assert json.loads(json.dumps(left.identity)) == left.identity
        for j, right in enumerate(second):
            assert (left == right) == (i == j)
            assert (hash(left) == hash(right)) == (i == j)
    assert first[0] != "a map"


def test_printing_names_the_kernel_and_the_size():
    phi = Fourier(Gaussian(1.0), 16, random_state=0)
    assert repr(phi) == "Fourier(Gaussian(bandwidth=1.0), n_features=16, dtype=float32)"
    assert repr(phi) in repr(ss.MeanEmbedding(phi))


def test_scaled_bandwidth_equals_scaled_frequencies():
    x = np.random.default_rng(0).normal(size=(30, 3))
    for make in (Fourier, Fastfood):
        wide, narrow = (make(Gaussian(width), 32, dtype=np.float64, random_state=4) for width in (2.0, 0.5))
        out = np.empty((30, 32))
        wide.fill_family(x, (4.0,), [out])
        np.testing.assert_allclose(out, narrow.transform(x), atol=1e-12)
        np.testing.assert_allclose(wide.transform(4.0 * x), narrow.transform(x), atol=1e-12)


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(1.0), Laplacian(2.0), Matern(0.5, 1.0), Cauchy(1.0) + Gaussian(3.0), lambda x, y: (1 + x @ y.T) ** 3],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nystroem_is_exact_at_its_landmarks(kernel, dtype):
    landmarks = np.random.default_rng(1).normal(size=(25, 2))
    phi = Nystroem(kernel, landmarks, dtype=dtype)
    features = phi.transform(landmarks).astype(float)
    gram = phi.kernel(landmarks)
    assert features.dtype == np.float64
    assert phi.transform(landmarks).dtype == dtype
    np.testing.assert_allclose(features @ features.T, gram, atol=(1e-8 if dtype == np.float64 else 1e-5) * gram.max())


def test_nystroem_takes_repeated_landmarks():
    landmarks = np.repeat(np.random.default_rng(1).normal(size=(6, 2)), 5, axis=0)
    phi = Nystroem(Gaussian(1.0), landmarks, dtype=np.float64)
    assert phi.n_features == 6
    features = phi.transform(landmarks)
    np.testing.assert_allclose(features @ features.T, Gaussian(1.0)(landmarks), atol=1e-8)


def test_nystroem_keeps_the_rank_of_a_polynomial():
    """(1 + x y)^2 in one column has three features, whatever the number of landmarks, and is then exact everywhere."""
    square = Function(lambda x, y: (1 + x @ y.T) ** 2, name="square")
    phi = Nystroem(square, np.linspace(-1, 1, 20)[:, None], dtype=np.float64)
    assert phi.n_features == 3
    x = np.array([[5.0], [-3.0]])
    np.testing.assert_allclose(phi.transform(x) @ phi.transform(x).T, square(x), rtol=1e-9)


def test_nystroem_never_shows_a_function_rows_that_are_not_there():
    """A cosine kernel has no value at the zero vector; blocks filled up with zeros would make it fail."""

    def cosine(x, y):
        return (x / np.linalg.norm(x, axis=1, keepdims=True)) @ (y / np.linalg.norm(y, axis=1, keepdims=True)).T

    x = np.random.default_rng(0).normal(size=(10, 3))
    features = Nystroem(cosine, x[:3], dtype=np.float64).transform(x)
    np.testing.assert_allclose(features @ features.T, cosine(x, x), atol=1e-10)


def test_two_nameless_functions_are_not_one_map():
    """Two different lambdas have one name; embeddings of them must not merge without a word."""
    landmarks = np.array([[0.0], [1.0], [2.5]])
    narrow = Nystroem(lambda x, y: np.exp(-((x - y.T) ** 2)), landmarks)
    wide = Nystroem(lambda x, y: np.exp(-((x - y.T) ** 2) / 50), landmarks)
    assert narrow.n_features == wide.n_features
    assert narrow != wide


@pytest.mark.parametrize("kernel", ["gaussian", lambda x, y: x @ y.T + 1.0])
def test_pivoted_landmarks_repeat_and_come_from_the_sample(kernel):
    sample = np.random.default_rng(2).normal(size=(400, 3))
    maps = [Nystroem.from_sample(kernel, sample, 30, random_state=seed) for seed in (0, 0, 1)]
    assert maps[0] == maps[1] != maps[2]
    assert maps[0].transform(sample).tobytes() == maps[1].transform(sample).tobytes()
    assert maps[0].kernel.is_resolved
    rows = {row.tobytes() for row in sample}
    assert all(landmark.tobytes() in rows for landmark in maps[0].landmarks)
    assert len(np.unique(maps[0].landmarks, axis=0)) == len(maps[0].landmarks)


def test_pivoted_landmarks_never_repeat_a_row_and_stop_when_nothing_is_left():
    sample = np.repeat(np.random.default_rng(2).normal(size=(7, 2)), 50, axis=0)
    phi = Nystroem.from_sample(Gaussian(1.0), sample, 100, dtype=np.float64, random_state=0)
    assert phi.landmarks.shape[0] == 7
    features = phi.transform(sample)
    np.testing.assert_allclose(features @ features.T, Gaussian(1.0)(sample), atol=1e-8)


def test_pivoted_landmarks_cover_clusters_that_uniform_ones_miss():
    """One row in a thousand lies far off; pivoting finds it, since nothing else explains it."""
    sample = np.random.default_rng(3).normal(scale=0.05, size=(2000, 2))
    sample[[17, 1500]] += 20.0
    for seed in range(5):
        landmarks = Nystroem.from_sample(Gaussian(1.0), sample, 10, random_state=seed).landmarks
        assert (landmarks > 10.0).any()


def test_scales_beyond_float32_are_no_obstacle():
    """The same data in other units, with the bandwidth in those units, has the same features."""
    x = np.random.default_rng(0).normal(size=(20, 3))
    for make in (Fourier, Fastfood):
        plain = make(Gaussian(1.0), 64, random_state=0).transform(x)
        for scale in (1e-60, 1e-30, 1e30, 1e60):
            scaled = make(Gaussian(scale), 64, random_state=0).transform(scale * x)
            np.testing.assert_allclose(scaled, plain, atol=1e-4)


@pytest.mark.parametrize("make", [Fourier, Fastfood, HeldOut])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Gaussian(1e-60), Matern(1.5, 1.0)], ids=repr)
def test_rows_beyond_what_float32_can_count_have_features_too(make, kernel):
    """They would be NaN, and one of them would be enough to make a mean of millions of rows NaN."""
    single, double = (make(kernel, 64, dtype=dtype, random_state=0) for dtype in (np.float32, np.float64))
    rows = np.random.default_rng(0).normal(size=(600, 3))
    rows[[270, 271, 599]] = [[0.0, -1e45, 3.0], [1e60, 1.0, 1.0], [1e200, 1e-200, 0.0]]
    found = single.transform(rows)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[[270, 271, 599]], double.transform(rows)[[270, 271, 599]], atol=1e-6)
    for place in (0, 269, 270, 599):
        np.testing.assert_array_equal(single.transform(rows[place : place + 1])[0], found[place])
    assert np.isfinite(ss.MeanEmbedding(single).update(rows).mean).all()


def test_a_family_of_kernels_overflows_nowhere():
    x, y = 1e25 * np.random.default_rng(0).normal(size=(2, 60, 2))
    for family in ([Gaussian(1.0), Gaussian(1e-20)], [Gaussian(1e-20), Gaussian(1.0)]):
        found = ss.two_sample_test(x, y, kernel=family, n_resamples=99, random_state=0)
        assert np.isfinite(found.statistic)
        assert found.pvalue > 0.05


@pytest.mark.parametrize("make", [Fourier, Fastfood])
def test_what_no_float_can_count_is_refused_and_leaves_a_mean_as_it_was(make):
    feature_map = make(Gaussian(1e-10), 64, random_state=0)
    far = np.zeros((300, 3))
    far[270, 1] = -1.5e308
    mean = ss.MeanEmbedding(feature_map).update(np.zeros((300, 3)))
    before = mean.mean.copy()
    for call in (feature_map.transform, mean.update):
        with pytest.raises(InputError, match=r"a row that reaches 1\.5e\+308 lies more bandwidths away than float64 can hold"):
            call(far)
    assert mean.n_seen == 300
    np.testing.assert_array_equal(mean.mean, before)


@pytest.mark.parametrize("make", [Fourier, Fastfood])
def test_bandwidths_that_float32_cannot_hold_side_by_side_are_refused(make):
    with pytest.raises(InputError, match="bandwidths too small, or too far apart, for float32 to hold its frequencies"):
        make(Gaussian(1.0) + Gaussian(1e-60), 64, random_state=0).transform(np.zeros((3, 2)))


def test_rows_whose_sum_alone_overflows_are_rows_like_others():
    far = np.full((256, 1), 1e37)
    feature_map = Fourier(Gaussian(1.0), 64, random_state=0)
    projections = far @ feature_map.frequency_matrix(1)
    assert np.abs(projections).max() < np.finfo(np.float32).max < abs(projections.sum())
    assert np.isfinite(feature_map.transform(far)).all()
