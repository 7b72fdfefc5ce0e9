"""Kernels, features, mean embeddings and MMD of arrays where they lie, against those of NumPy."""

import subprocess
import sys

import numpy as np
import pytest

import supersample as ss
from supersample.kernels import Cauchy, Gaussian, Laplacian, Matern, Normalized


def _linear(x, y):
    return x @ y.T


KERNELS = {
    "gaussian": Gaussian(1.5),
    "column widths": Gaussian((1.0, 2.0, 3.0)),
    "cusp": Matern(0.5, 1.0),
    "matern32": Matern(1.5, 2.0),
    "matern52": Matern(2.5, 2.0),
    "laplacian": Laplacian(2.0),
    "cauchy": Cauchy(1.0),
    "sum": Gaussian(1.0) + 0.5 * Cauchy(3.0),
    "normalized": Normalized(lambda a, b: (1.0 + a @ b.T) ** 2),
    "function": _linear,
    "median": "gaussian",
}


def samples(width=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(300, width)), rng.normal(0.2, 1.0, size=(217, width))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(
    ("method", "estimator"),
    [("exact", "biased"), ("exact", "unbiased"), ("block", "unbiased"), ("linear", "unbiased"), ("block", "paired")],
)
def test_mmd2_is_that_of_numpy(lying, name, method, estimator):
    x, y = samples()
    options = {"kernel": KERNELS[name], "method": method, "estimator": estimator, "random_state": 0}
    expected = ss.mmd2(x, y, **options)
    found = ss.mmd2(lying.put(x), lying.put(y), **options)
    assert isinstance(found, float)
    assert found == pytest.approx(expected, rel=lying.rounding, abs=20 * lying.rounding)


@pytest.mark.parametrize("width", [2, 30])
def test_wide_and_narrow_rows_in_single_precision(lying, width):
    x, y = (each.astype(np.float32) + 100.0 for each in samples(width))
    assert ss.mmd2(lying.put(x), lying.put(y)) == pytest.approx(ss.mmd2(x, y), rel=1e-6, abs=20 * lying.rounding)


def test_weights_and_fourier(lying):
    x, y = samples()
    weights = np.random.default_rng(1).random(len(x))
    for method in ("exact", "fourier"):
        expected = ss.mmd2(x, y, weight_x=weights, method=method, random_state=3)
        found = ss.mmd2(lying.put(x), lying.put(y), weight_x=lying.put(weights), method=method, random_state=3)
        assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", KERNELS)
def test_gram_blocks_lie_where_the_points_do(lying, name):
    x, y = samples()
    kernel = KERNELS[name]
    kernel = ss.kernels.Function(kernel, "linear") if callable(kernel) and not isinstance(kernel, ss.kernels.Kernel) else kernel
    kernel = Gaussian(1.0) if isinstance(kernel, str) else kernel
    found = kernel(lying.put(x), lying.put(y))
    assert isinstance(found, lying.type)
    np.testing.assert_allclose(lying.back(found), kernel(x, y), rtol=10 * lying.rounding, atol=20 * lying.rounding)


def maps(x):
    kernel = Gaussian(1.5)
    middle = x.mean(axis=0)
    return {
        "fourier": ss.features.Fourier(kernel, 64, origin=middle, random_state=0),
        "odd": ss.features.Fourier(kernel, 33, random_state=0),
        "phase": ss.features.Fourier(kernel, 32, form="phase", random_state=0),
        "double": ss.features.Fourier(kernel, 64, dtype=np.float64, random_state=0),
        "tiny bandwidth": ss.features.Fourier(Gaussian(1e-13), 16, random_state=0),
        "nystroem": ss.features.Nystroem.from_sample(kernel, x, 40, random_state=0),
        "landmark": ss.features.Landmark.from_sample(kernel, x, 40, 32, random_state=0),
    }


@pytest.mark.parametrize("name", maps(samples()[0]))
def test_features_and_moments_agree(lying, name):
    if name == "double" and lying.rounding > 1e-8:
        pytest.skip("float64 is switched off in JAX by default")
    x, y = samples()
    scale = 1e-13 if name == "tiny bandwidth" else 1.0
    x, y = x * scale, y * scale
    phi = maps(samples()[0])[name]
    found = phi.transform(lying.put(x))
    assert isinstance(found, lying.type)
    np.testing.assert_allclose(lying.back(found), phi.transform(x), atol=1e-3 if name in ("landmark", "nystroem") else 2e-5)
    weights = np.random.default_rng(1).random(len(y)) * 1e30
    here = ss.MeanEmbedding(phi).update(x).update(y, weights)
    there = ss.MeanEmbedding(phi).update(lying.put(x)).update(lying.put(y), lying.put(weights))
    assert isinstance(there.mean, lying.type)
    np.testing.assert_allclose(lying.back(there.mean), here.mean, atol=1e-5)
    assert there.n_seen == here.n_seen
    assert there.effective_rows == pytest.approx(here.effective_rows, rel=1e-5)
    assert there.mmd2(here) == pytest.approx(0.0, abs=1e-5)
    assert there.state.off_diagonal() == pytest.approx(here.state.off_diagonal(), abs=1e-5)
    np.testing.assert_allclose(lying.back(there.witness(here)(lying.put(x))), 0.0, atol=1e-4)


def test_batches_and_merging_add_up(lying):
    x, y = samples()
    phi = maps(x)["fourier"]
    one = ss.MeanEmbedding(phi).update(lying.put(np.concatenate([x, y])))
    two = ss.MeanEmbedding(phi).update(lying.put(x)).merge(ss.MeanEmbedding(phi).update(lying.put(y)))
    np.testing.assert_allclose(lying.back(two.mean), lying.back(one.mean), atol=1e-6)


def test_decay_by_rows(lying):
    x, _ = samples()
    phi = maps(x)["fourier"]
    here = ss.MeanEmbedding(phi, half_life=50).update(x)
    there = ss.MeanEmbedding(phi, half_life=50).update(lying.put(x[:100])).update(lying.put(x[100:]))
    np.testing.assert_allclose(lying.back(there.mean), here.mean, atol=1e-5)


def test_far_rows_have_features(lying):
    """Projections of such rows overflow in float32: they are taken in float64, or refused where there is none."""
    phi = ss.features.Fourier(Gaussian(1.0), 16, random_state=0)
    rows = np.array([[0.5, 0.25], [1e37, 3e37]])
    if lying.rounding > 1e-8:
        with pytest.raises(ss.errors.InputError, match="bandwidths away"):
            phi.transform(lying.put(rows * 10.0))
        return
    found = lying.back(phi.transform(lying.put(rows)))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[0], phi.transform(rows)[0], atol=1e-6)


def test_mixtures_are_refused(lying):
    x, y = samples()
    phi = maps(x)["fourier"]
    with pytest.raises(ss.errors.MismatchError, match="Y must lie where X does"):
        ss.mmd2(lying.put(x), y)
    with pytest.raises(ss.errors.MismatchError, match="Y must lie where X does"):
        ss.mmd2(x, lying.put(y))
    with pytest.raises(ss.errors.MismatchError, match="weight_x must lie where X does"):
        ss.mmd2(lying.put(x), lying.put(y), weight_x=np.ones(len(x)))
    embedding = ss.MeanEmbedding(phi).update(x)
    with pytest.raises(ss.errors.MismatchError, match="points must lie where the rows before it did"):
        embedding.update(lying.put(x))
    assert embedding.n_seen == len(x)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.full((3, 2), np.nan), "X contains NaN .*row 0, column 0"),
        (np.ones(3), "X must have two dimensions"),
        (np.ones((3, 0)), "X must have columns"),
        (np.ones((3, 4)), "same number of columns"),
    ],
)
def test_bad_input_is_named(lying, bad, message):
    with pytest.raises(ss.errors.SupersampleError, match=message):
        ss.mmd2(lying.put(bad), lying.put(np.ones((3, 2))))


def test_whole_numbers_are_numbers(lying):
    x, y = np.arange(12).reshape(6, 2), np.arange(12).reshape(6, 2) + 1
    assert ss.mmd2(lying.put(x), lying.put(y), kernel=Gaussian(2.0)) == pytest.approx(
        ss.mmd2(x, y, kernel=Gaussian(2.0)), abs=20 * lying.rounding
    )


def test_what_stays_on_the_cpu_says_so(lying):
    x, y = (lying.put(each) for each in samples())
    with pytest.raises(ss.errors.InputTypeError, match="Fastfood features are computed on the CPU only"):
        ss.mmd2(x, y, method="fastfood")
    with pytest.raises(ss.errors.InputTypeError, match="circular_ensemble works on the CPU only"):
        ss.circular_ensemble(x, y)


def test_nothing_is_imported_that_the_user_has_not():
    code = (
        "import sys, numpy, supersample as ss; ss.mmd2(numpy.ones((3, 2)), numpy.zeros((3, 2)), kernel=ss.kernels.Gaussian(1));"
        "ss.SuperSampler; ss.herd; ss.critic; ss.two_sample_test;"
        "bad = {'torch', 'cupy', 'jax', 'array_api_compat', 'array_api_strict', 'sklearn.externals.array_api_compat.torch'};"
        "assert not bad & set(sys.modules), bad & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_times_of_an_embedding_follow_its_rows(lying):
    x, _ = samples()
    phi, seconds = ss.features.Fourier(Gaussian(1.5), 64, random_state=0), np.arange(300.0)
    ours = ss.MeanEmbedding(phi, half_life=50.0).update(x, time=seconds)
    there = ss.MeanEmbedding(phi, half_life=50.0).update(lying.put(x), time=lying.put(seconds))
    np.testing.assert_allclose(lying.back(there.mean), ours.mean, atol=1e-5)
    with pytest.raises(ss.errors.MismatchError, match=r"time must lie where points does \(ndarray on the host\)"):
        ss.MeanEmbedding(phi, half_life=50.0).update(x, time=lying.put(seconds))


PRECISIONS = {
    "nothing": lambda torch: None,
    "the old name": lambda torch: torch.set_float32_matmul_precision("medium"),
    "of the GPU": lambda torch: setattr(torch.backends.cuda.matmul, "fp32_precision", "tf32"),
    "of the CPU": lambda torch: setattr(torch.backends.mkldnn.matmul, "fp32_precision", "bf16"),
    "of everything": lambda torch: setattr(torch.backends, "fp32_precision", "tf32"),
}


@pytest.mark.parametrize("name", PRECISIONS)
def test_the_precision_of_torch_is_left_as_it_was(name):
    """Whether set by its old name or by that of torch 2.9, products are in full within a call and as before after it."""
    torch = pytest.importorskip("torch")
    matmul = (torch.backends.cuda.matmul, getattr(torch.backends.mkldnn, "matmul", None))
    if not hasattr(matmul[0], "fp32_precision"):
        pytest.skip("torch is older than 2.9")
    seen = []

    def kernel(a, b):
        seen.extend(each.fp32_precision for each in matmul)
        return (1.0 + a @ b.T) ** 2

    try:
        PRECISIONS[name](torch)
        before = [each.fp32_precision for each in matmul]
        x = torch.tensor(samples()[0])
        ss.mmd2(x, x[:9], kernel=kernel)
        assert set(seen) <= {"ieee", "none"}
        assert [each.fp32_precision for each in matmul] == before
        if name == "of everything":  # a later setting of everything must reach products
            torch.backends.fp32_precision = "ieee"
            assert [each.fp32_precision for each in matmul] == ["ieee", "ieee"]
    finally:
        torch.backends.fp32_precision = "none"
        torch.set_float32_matmul_precision("highest")
        for each in matmul:
            each.fp32_precision = "none"
