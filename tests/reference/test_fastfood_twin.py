"""Fastfood and the Walsh-Hadamard loop against dense matrices."""

import numpy as np
import pytest

import oracles
import supersample as ss
from supersample._compiled import hadamard


@pytest.mark.parametrize("size", [1, 2, 4, 8, 32, 64, 512])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_walsh_equals_the_matrix(size, dtype):
    work = np.random.default_rng(size).normal(size=(size, hadamard.LANES)).astype(dtype)
    expected = oracles.walsh_hadamard(size) @ work.astype(float)
    hadamard._walsh(work)
    np.testing.assert_allclose(work, expected, rtol=0, atol=size * np.finfo(dtype).eps * 8)


@pytest.mark.parametrize("width", [1, 2, 3, 5, 16, 17, 100])
@pytest.mark.parametrize("n_features", [1, 2, 7, 64, 301])
@pytest.mark.parametrize("form", ["paired", "phase"])
def test_features_equal_the_dense_twin(width, n_features, form):
    each = np.linspace(0.5, 2.0, width)
    for kernel in (ss.kernels.Gaussian(1.3), ss.kernels.Matern(1.5, each), ss.kernels.Cauchy(2.0)):
        phi = ss.features.Fastfood(kernel, n_features, form=form, dtype=np.float64, random_state=width)
        points = np.random.default_rng(0).normal(size=(37, width))
        projections = oracles.fastfood_projections(phi.drawn(width), points)[:, : phi.n_frequencies]
        phases = phi.seed.child("phases").generator().uniform(0.0, 2.0 * np.pi, phi.n_frequencies).astype(np.float32)
        half = n_features // 2
        if form == "phase":
            waves = [np.cos(projections + phases)]
        else:
            waves = [np.cos(projections[:, :half]), np.sin(projections[:, :half])]
            waves += [np.cos(projections[:, -1:] + phases[-1:])] * (n_features % 2)
        expected = float(np.float32(np.sqrt(2.0 / n_features))) * np.hstack(waves)
        np.testing.assert_allclose(phi.transform(points), expected, atol=1e-10)


@pytest.mark.parametrize("width", [1, 3, 8, 100])
def test_rows_of_the_projection_have_the_lengths_of_the_spectral_measure(width):
    """|row| / sqrt(d') follows chi with d' degrees for the Gaussian: mean square d' within five standard errors."""
    phi = ss.features.Fastfood(ss.kernels.Gaussian(1.0), 20_000, dtype=np.float64, random_state=1)
    factors = phi.drawn(width)
    padded = factors.signs.shape[1]
    squares = ((factors.lengths * np.linalg.norm(factors.gauss, axis=1, keepdims=True)) ** 2 * padded).ravel()
    assert abs(squares.mean() - padded) < 5 * np.sqrt(2 * padded / squares.size)
    assert squares.var() == pytest.approx(2 * padded, rel=0.15)
