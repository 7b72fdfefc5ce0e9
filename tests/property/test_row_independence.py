"""Feature maps: a row's features depend on that row alone, to the bit, and on nothing but parameters and seed."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import supersample as ss
from supersample import _products as products
from supersample.kernels.singles import single_against

N = 900


def build(kind, width, dtype):
    kernel = ss.kernels.Gaussian(1.5)
    if kind == "nystroem":
        landmarks = np.random.default_rng(5).normal(size=(30, width))
        return ss.features.Nystroem(ss.kernels.Matern(0.5, 2.0), landmarks, dtype=dtype)
    if kind == "nystroem function":
        landmarks = np.random.default_rng(5).normal(size=(30, width))
        own = ss.kernels.Function(lambda x, y: np.exp(-0.1 * ((x[:, None] - y[None]) ** 2).sum(axis=2)), name="own")
        return ss.features.Nystroem(own, landmarks, dtype=dtype)
    if kind.startswith("fastfood"):
        return ss.features.Fastfood(kernel, 101, form=kind.split()[1], dtype=dtype, random_state=3, origin=0.25)
    how, form = kind.split()
    return ss.features.Fourier(kernel, 101, form=form, frequencies=how, dtype=dtype, random_state=3, origin=0.25)


KINDS = [
    *(f"{how} {form}" for how in ("independent", "orthogonal", "sobol") for form in ("paired", "phase")),
    "fastfood paired",
    "fastfood phase",
    "nystroem",
    "nystroem function",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [1, 2, 3, 5, 16, 17, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("input_dtype", [np.float32, np.float64])
def test_rows_are_independent_to_the_bit(kind, width, dtype, input_dtype):
    rng = np.random.default_rng(width)
    x = rng.normal(size=(N, width)).astype(input_dtype)
    phi = build(kind, width, dtype)
    whole = phi.transform(x)
    assert whole.dtype == dtype
    assert whole.shape == (N, phi.n_features)
    for start, stop in ((0, 1), (N - 1, N), (383, 385), (100, 700), *np.sort(rng.integers(0, N, size=(4, 2)), axis=1)):
        part = phi.transform(x[start:stop]) if start < stop else whole[start:stop]
        assert part.tobytes() == whole[start:stop].tobytes()


@settings(max_examples=30, deadline=None)
@given(rows=st.lists(st.integers(0, N - 1), min_size=1, max_size=500), kind=st.sampled_from(KINDS))
def test_any_choice_of_rows_gives_the_rows_of_the_whole(rows, kind):
    x = np.random.default_rng(0).normal(size=(N, 6))
    phi = build(kind, 6, np.float32)
    assert phi.transform(x[rows]).tobytes() == phi.transform(x)[rows].tobytes()


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_layout_does_not_matter(order):
    x = np.random.default_rng(0).normal(size=(50, 7))
    phi = build("independent paired", 7, np.float32)
    assert phi.transform(np.asarray(x, order=order)).tobytes() == phi.transform(x.tolist()).tobytes()
    assert phi.transform(np.repeat(x, 2, axis=0)[::2]).tobytes() == phi.transform(x).tobytes()


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**64),
    n_features=st.integers(1, 40),
    width=st.integers(1, 20),
    how=st.sampled_from(["independent", "orthogonal", "sobol"]),
    form=st.sampled_from(["paired", "phase"]),
)
def test_parameters_and_seed_determine_the_map(seed, n_features, width, how, form):
    kernel = ss.kernels.Matern(1.5, 1.0) + 0.5 * ss.kernels.Gaussian(2.0)
    x = np.random.default_rng(0).normal(size=(4, width))

    def both():
        yield ss.features.Fourier(kernel, n_features, form=form, frequencies=how, random_state=seed)
        yield ss.features.Fastfood(kernel, n_features, form=form, random_state=seed)

    for first, second in zip(both(), both(), strict=True):
        assert first == second
        assert hash(first) == hash(second)
        assert first.transform(x).tobytes() == second.transform(x).tobytes()
        second.transform(np.zeros((1, width + 1)))  # another width in between must leave no trace
        assert first.transform(x).tobytes() == second.transform(x).tobytes()


@settings(max_examples=30, deadline=None)
@given(n_pairs=st.integers(1, 100), width=st.integers(1, 20), fastfood=st.booleans(), factor=st.floats(0.01, 100.0))
def test_paired_form_has_constant_length(n_pairs, width, fastfood, factor):
    make = ss.features.Fastfood if fastfood else ss.features.Fourier
    kernel = factor * ss.kernels.Cauchy(1.0)
    phi = make(kernel, 2 * n_pairs, dtype=np.float64, random_state=0)
    features = phi.transform(np.random.default_rng(1).normal(size=(20, width)))
    lengths = (features**2).sum(axis=1)
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-12)
    np.testing.assert_allclose(lengths, kernel.k0, rtol=2e-7)  # the amplitude is a float32 number in either dtype


WAYS = {
    "whole": {("float32", 0), ("float64", 0)},
    "between zeros": {("float32", 16), ("float64", 0)},
    "float64": {("float64", 0)},
    "row by row": set(),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("triangular", [False, True])
@pytest.mark.parametrize("columns", [30, 700])
def test_products_do_without_a_blas_whose_rows_depend_on_their_place(way, dtype, triangular, columns, monkeypatch):
    trusted = WAYS[way]
    monkeypatch.setattr(products, "_is_row_independent", lambda name, shape, by_rows, frame: (name, frame) in trusted)
    rng = np.random.default_rng(0)
    rows, matrix = rng.normal(size=(384, 700)).astype(dtype), rng.normal(size=(700, columns)).astype(dtype)
    matrix = np.triu(matrix) if triangular else matrix
    multiply = products.RowProduct(matrix)
    found, given = multiply(rows), np.empty((384, columns), dtype=dtype)
    multiply(rows, given)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, rows.astype(float) @ matrix.astype(float), rtol=1e-4, atol=1e-4)
    assert given.tobytes() == found.tobytes()
    assert pickle.loads(pickle.dumps(multiply))(rows).tobytes() == found.tobytes()


def test_a_blas_whose_rows_depend_on_their_place_is_noticed(monkeypatch):
    def uneven(left, right, out=None):
        product = (left.astype(np.float64) @ right).astype(left.dtype)
        product[6::12, :8] = np.nextafter(product[6::12, :8], np.inf)
        return product

    monkeypatch.setattr(products.np, "matmul", uneven)
    assert not products._is_row_independent.__wrapped__("float32", (40, 30), by_rows=True)
    assert products._is_row_independent.__wrapped__("float32", (40, 62), by_rows=True, frame=16)


@pytest.mark.parametrize("kernel", [ss.kernels.Gaussian(2.0), ss.kernels.Cauchy(3.0), ss.kernels.Matern(1.5, 2.0)])
def test_kernel_values_in_float32_are_those_of_float64_for_near_and_far_rows(kernel):
    rng = np.random.default_rng(0)
    landmarks = rng.normal(size=(700, 40)) / 3.0
    rows = rng.normal(size=(384, 40)) / 3.0
    rows[:20] = landmarks[:20]  # copies
    rows[20:40] *= 1e4  # in float32 their distances would be lost
    found = single_against(kernel, landmarks)(rows)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, kernel(rows, landmarks), atol=2e-6)
    far = np.concatenate([landmarks, [np.full(40, 1e3)]])
    assert single_against(kernel, far)(rows).dtype == np.float64
    assert single_against(kernel, landmarks[:, :16])(rows[:, :16]).dtype == np.float64


def test_rough_kernels_stay_in_float64():
    landmarks = np.random.default_rng(0).normal(size=(30, 40))
    for kernel in (ss.kernels.Matern(0.5, 5.0), ss.kernels.Laplacian(9.0)):
        assert single_against(kernel, landmarks)(landmarks).dtype == np.float64
