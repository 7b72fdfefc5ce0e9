"""Normalized: k(x, y) / sqrt(k(x, x) k(y, y)), Assumption 2 of Khanna, Hodgkinson and Mahoney 2021."""

import json
import pickle

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from supersample.errors import InputError
from supersample.kernels import Cauchy, Function, Gaussian, Laplacian, Matern, Normalized
from supersample.storage import codec

ROWS = np.random.default_rng(0).normal(size=(40, 3))
OTHERS = np.random.default_rng(1).normal(1.0, 2.0, size=(25, 3))


def polynomial(x, y):
    return (1.0 + x @ y.T) ** 2


@ss.kernels.register("test-product", shift=float)
class Product(ss.kernels.Kernel):
    """x.y + shift: k(x, x) differs between points, and the class can be stored."""

    def __init__(self, shift=1.0):
        self.shift = shift

    @property
    def identity(self):
        return {"kernel": "test-product", "shift": self.shift}

    def fill(self, left, right, out):
        out[...] = left @ right.T + self.shift

    def paired(self, left, right):
        return np.einsum("ij,ij->i", left, right) + self.shift


VARYING = [Function(polynomial, "polynomial"), Product(0.5), Product(1.0) + 2.0 * Gaussian(1.0)]
CONSTANT = [
    Gaussian(1.5),
    4.0 * Gaussian(2.0),
    Gaussian(1.0) + 0.5 * Cauchy(3.0),
    3.0 * Laplacian((1.0, 2.0, 3.0)),
    Matern(2.5, 1.0),
]


@pytest.mark.parametrize("kernel", [*VARYING, *CONSTANT])
def test_values_are_those_of_the_formula(kernel):
    scaled = Normalized(kernel)
    expected = kernel(ROWS, OTHERS) / np.sqrt(np.outer(np.diag(kernel(ROWS)), np.diag(kernel(OTHERS))))
    np.testing.assert_allclose(scaled(ROWS, OTHERS), expected, rtol=1e-13)
    np.testing.assert_allclose(scaled.against(OTHERS)(ROWS), expected, rtol=1e-13)
    np.testing.assert_allclose(scaled.paired(ROWS[:25], OTHERS), np.diag(expected), rtol=1e-12)
    np.testing.assert_allclose(np.diag(scaled(ROWS)), 1.0, rtol=1e-13)
    assert (scaled.diagonal(ROWS) == 1.0).all()
    assert scaled.k0 == scaled.largest == 1.0
    assert np.linalg.eigvalsh(scaled(ROWS))[0] > -1e-12


def test_what_is_normalized_already_stays_as_it_is():
    twice = Normalized(Normalized(Product(0.5)))
    np.testing.assert_allclose(twice(ROWS), Normalized(Product(0.5))(ROWS), rtol=1e-13)
    np.testing.assert_array_equal(Normalized(Gaussian(1.5))(ROWS), Gaussian(1.5)(ROWS))


@pytest.mark.parametrize("kernel", CONSTANT, ids=str)
def test_a_kernel_with_constant_diagonal_keeps_spectrum_and_features(kernel):
    scaled = Normalized(kernel)
    assert scaled.has_spectrum
    assert (scaled.is_radial, scaled.n_uniforms) == (kernel.is_radial, kernel.n_uniforms)
    maps = [ss.features.Fourier(each, 64, random_state=3) for each in (scaled, kernel)]
    np.testing.assert_allclose(maps[0].transform(ROWS) * np.sqrt(kernel.k0), maps[1].transform(ROWS), rtol=1e-5)
    if kernel.is_radial:
        fast = ss.features.Fastfood(scaled, 4096, random_state=0).transform(ROWS)
        np.testing.assert_allclose(fast @ fast.T, scaled(ROWS), atol=0.15)
    statistics = [ss.mmd2(ROWS, OTHERS, kernel=each, method="fourier", random_state=0) for each in (scaled, kernel)]
    assert statistics[0] * kernel.k0 == pytest.approx(statistics[1], rel=1e-4)


def test_closed_forms_of_measures_are_divided_by_the_constant():
    measure = ss.measures.GaussianMixture([0.3, 0.7], [[0.0], [2.0]], [[[1.0]], [[0.5]]])
    kernel = 4.0 * Gaussian(0.7) + 2.0 * Gaussian(2.0)
    scaled = Normalized(kernel)
    points = np.linspace(-3, 3, 7)[:, None]
    assert measure.is_exact(scaled)
    np.testing.assert_allclose(measure.mean_embedding(scaled, points), measure.mean_embedding(kernel, points) / 6.0)
    assert measure.energy(scaled) == pytest.approx(measure.energy(kernel) / 6.0)
    assert measure.energy(0.5 * scaled + Gaussian(1.0)) == pytest.approx(
        measure.energy(kernel) / 12.0 + measure.energy(Gaussian(1.0))
    )
    assert not measure.is_exact(Normalized(polynomial))
    with pytest.raises(InputError, match="has no closed form for kernel Normalized"):
        measure.energy(Normalized(polynomial))


def test_a_median_bandwidth_is_resolved_inside():
    scaled = Normalized("laplacian")
    assert not scaled.is_resolved
    assert scaled.resolve(ROWS) == Normalized(Laplacian("median").resolve(ROWS))
    assert scaled.resolved_by(2.0) == Normalized(Laplacian(2.0))
    with pytest.raises(InputError, match="has no bandwidth yet"):
        scaled(ROWS)
    with pytest.raises(ss.errors.MismatchError, match="bandwidth of Gaussian has 2 values"):
        Normalized(Gaussian((1.0, 2.0))).check_width(3)
    assert ss.mmd2(ROWS, OTHERS, kernel=scaled) == pytest.approx(ss.mmd2(ROWS, OTHERS, kernel="laplacian"), rel=1e-12)


def test_a_point_without_length_is_refused():
    rows = np.vstack([ROWS, np.zeros((1, 3))])
    for call in (
        lambda: Normalized(Product(0.0))(rows),
        lambda: Normalized(Product(0.0)).diagonal(rows),
        lambda: ss.mmd2(ROWS, rows, kernel=Normalized(Product(0.0))),
    ):
        with pytest.raises(InputError, match=r"Normalized needs k\(x, x\) > 0 at every point.*gives 0 at row"):
            call()


def test_a_function_that_is_no_kernel_is_refused_even_for_differences():
    """The negative distance does for differences of means, but not once it is scaled."""
    with pytest.raises(InputError, match="must be positive definite"):
        ss.mmd2(ROWS, OTHERS, kernel=Normalized(lambda x, y: 1.0 - np.sqrt(((x[:, None] - y) ** 2).sum(axis=2))))


@pytest.mark.parametrize("choose", [ss.herd, ss.wkh, ss.sbq])
def test_the_mmd_of_selections_is_that_of_the_normalized_gram_matrix(choose):
    """With free weights E - z' K^-1 z; for herding, with equal ones."""
    chosen = choose(OTHERS, 6, kernel=Normalized(polynomial))
    gram = Normalized(polynomial)(OTHERS)
    z, energy, inside = gram.mean(axis=0)[chosen.indices], gram.mean(), gram[np.ix_(chosen.indices, chosen.indices)]
    weights = np.full(6, 1 / 6) if choose is ss.herd else np.linalg.solve(inside, z)
    assert chosen.mmd[-1] ** 2 == pytest.approx(energy - 2 * weights @ z + weights @ inside @ weights, abs=1e-10)


def test_identity_is_plain_and_tells_kernels_apart():
    kernels = [Normalized(each) for each in (*VARYING, *CONSTANT)]
    assert len({json.dumps(dict(each.identity), sort_keys=True) for each in kernels}) == len(kernels)
    assert len(set(kernels)) == len(kernels)
    assert Normalized(Gaussian(1.0)) != Gaussian(1.0)
    assert repr(Normalized(Gaussian(1.0))) == "Normalized(kernel=Gaussian(bandwidth=1.0))"


@pytest.mark.parametrize(
    "kernel", [Normalized(Gaussian(1.0) + 0.5 * Cauchy(3.0)), Normalized(Product(0.5)), Normalized("matern32")]
)
def test_saved_and_loaded(kernel, tmp_path):
    arrays = []
    assert codec.unpack(json.loads(json.dumps(codec.pack(kernel, arrays))), arrays) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel  # engines send kernels to their workers
    table = pa.table({"a": ROWS[:, 0], "b": ROWS[:, 1]})
    summary = ss.summarize(table, 5, 2, kernel=kernel, random_state=0)
    summary.save(tmp_path / "rows.ss")
    loaded = ss.load(tmp_path / "rows.ss")
    assert loaded.kernel == summary.kernel
    assert isinstance(loaded.kernel, Normalized)
    assert loaded.mmd == summary.mmd
    assert loaded.compare(ss.summarize(table, like=loaded, random_state=1)).pvalue > 0.05
