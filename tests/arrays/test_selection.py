"""Selection, criticisms and weights of candidates where they lie, against those of NumPy."""

import numpy as np
import pytest

import supersample as ss
from supersample.kernels import Cauchy, Gaussian, Matern, Normalized

KERNEL = Gaussian(1.0)


def rows(n=400, width=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, width))


def check(lying, ours, there):
    assert all(isinstance(each, lying.type) for each in (there.indices, there.points, there.weights, there.mmd))
    if lying.rounding < 1e-8:  # ties up to rounding may fall otherwise in float32
        np.testing.assert_array_equal(lying.back(there.indices), ours.indices)
        np.testing.assert_allclose(lying.back(there.points), ours.points)
        np.testing.assert_allclose(lying.back(there.weights), ours.weights, atol=1e-4)
        np.testing.assert_allclose(lying.back(there.mmd), ours.mmd, rtol=1e-5)
    assert float(there.mmd[-1]) == pytest.approx(ours.mmd[-1], rel=0.01, abs=1e-4)
    assert len(there) == len(ours)
    assert str(there).splitlines()[0] == str(ours).splitlines()[0]


OPTIONS = {
    "own": {},
    "target": {"target": rows(300, seed=1) + 0.3},
    "simplex": {"weighting": "simplex"},
    "once": {"replace": False},
    "measure": {"target": ss.measures.GaussianMixture([1.0], [[0.0, 0.0]], [np.eye(2)])},
}


@pytest.mark.parametrize("method", ["herd", "wkh", "sbq", "frank_wolfe"])
@pytest.mark.parametrize("name", OPTIONS)
def test_the_same_points_are_chosen(lying, method, name):
    x, options = rows(), OPTIONS[name]
    there = {
        key: lying.put(value) if key == "target" and isinstance(value, np.ndarray) else value for key, value in options.items()
    }
    select = getattr(ss, method)
    check(lying, select(x, 24, kernel=KERNEL, **options), select(lying.put(x), 24, kernel=KERNEL, **there))


@pytest.mark.parametrize("method", ["sbq", "wkh"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_residuals_are_as_exact_as_those_of_the_host(lying, method, dtype):
    """After some fifty points so little is left of each candidate that kernel values in float32 would be noise."""
    if dtype == np.float32 and lying.rounding > 1e-8:
        pytest.skip("all is in float32 there")
    x, select = rows().astype(dtype), getattr(ss, method)
    ours, there = (select(each, 60, kernel=KERNEL) for each in (x, lying.put(x)))
    assert ours.mmd[-1] < 0.001
    if lying.rounding < 1e-8:
        np.testing.assert_array_equal(lying.back(there.indices), ours.indices)
        assert float(there.mmd[-1]) == pytest.approx(ours.mmd[-1], rel=1e-4)
    else:
        assert float(there.mmd[-1]) < 0.001


def test_too_little_is_left_of_any_candidate(lying):
    x = rows(10)
    found = ss.sbq(lying.put(np.concatenate([x, x])), 20, kernel=KERNEL)
    share = "1e-8" if lying.rounding < 1e-8 else "3e-4"
    assert found.note.startswith(f"{len(found)} of 20 points: they span all candidates but for less than {share} of k(x, x)")


def test_the_energy_of_own_rows_is_in_float64(lying):
    if lying.rounding > 1e-8:
        pytest.skip("there is no float64")
    x = rows()
    ours, there = (ss.herd(each, 5, kernel=KERNEL) for each in (x, lying.put(x)))
    np.testing.assert_allclose(lying.back(there.mmd) ** 2, ours.mmd**2, atol=1e-13)


@pytest.mark.parametrize("method", ["herd", "wkh", "sbq", "frank_wolfe"])
def test_with_features_throughout(lying, method):
    x, phi = rows(), ss.features.Fourier(KERNEL, 256, random_state=0)
    select = getattr(ss, method)
    check(lying, select(x, 24, features=phi), select(lying.put(x), 24, features=phi))


@pytest.mark.parametrize("variant", ["fixed", "fully-corrective", "away", "pairwise"])
def test_variants_of_frank_wolfe(lying, variant):
    x = rows()
    options = {"kernel": KERNEL, "variant": variant}
    check(lying, ss.frank_wolfe(x, 24, **options), ss.frank_wolfe(lying.put(x), 24, **options))


def _polynomial(a, b):
    return (1.0 + a @ b.T) ** 2


@pytest.mark.parametrize("kernel", [Matern(0.5, 5.0), Gaussian(2.0) + 0.5 * Cauchy(1.0), _polynomial, Normalized(_polynomial)])
def test_other_kernels(lying, kernel):
    x = rows(width=20)
    check(lying, ss.herd(x, 24, kernel=kernel), ss.herd(lying.put(x), 24, kernel=kernel))


def test_the_median_bandwidth_is_the_same(lying):
    x = rows(2000)
    ours, there = ss.herd(x, 3), ss.herd(lying.put(x), 3)
    assert there.kernel.bandwidth == pytest.approx(ours.kernel.bandwidth, rel=1e-6)


@pytest.mark.parametrize("method", ["herd", "sbq", "frank_wolfe"])
def test_a_selection_goes_on_where_it_lies(lying, method):
    x, select = rows(), getattr(ss, method)
    whole = select(lying.put(x), 24, kernel=KERNEL)
    first = select(lying.put(x), 4, kernel=KERNEL)
    continued = select(lying.put(x), 24, kernel=KERNEL, resume=first)
    np.testing.assert_array_equal(lying.back(continued.indices), lying.back(whole.indices))
    with pytest.raises(ss.errors.MismatchError, match="resume must lie where the candidates do"):
        select(x, 10, kernel=KERNEL, resume=first)


def test_a_target_by_features(lying):
    x, phi = rows(), ss.features.Fourier(KERNEL, 512, random_state=0)
    ours = ss.herd(x, 24, target=ss.measures.Empirical(x, features=phi), kernel=KERNEL)
    there = ss.herd(lying.put(x), 24, target=ss.measures.Empirical(lying.put(x), features=phi), kernel=KERNEL)
    check(lying, ours, there)
    with pytest.raises(ss.errors.MismatchError, match="target must lie where the candidates do"):
        ss.herd(lying.put(x), 8, target=ss.measures.Empirical(x), kernel=KERNEL)


def test_a_large_target_is_judged_by_other_features(lying):
    x, phi = rows(20_500), ss.features.Fourier(KERNEL, 64, random_state=0)
    ours, there = (ss.herd(each, 5, features=phi, random_state=0) for each in (x, lying.put(x)))
    assert "estimate" in there.note
    assert float(there.mmd[-1]) == pytest.approx(ours.mmd[-1], rel=0.01)


@pytest.mark.parametrize("kind", ["free", "simplex", "uniform"])
def test_weights_of_given_points(lying, kind):
    x, target = rows(9), rows(300, seed=1)
    found = ss.quadrature_weights(lying.put(x), target=lying.put(target), kernel=KERNEL, kind=kind)
    assert isinstance(found, lying.type)
    expected = ss.quadrature_weights(x, target=target, kernel=KERNEL, kind=kind)
    np.testing.assert_allclose(lying.back(found), expected, atol=100 * lying.rounding)


@pytest.mark.parametrize("name", ["exact", "features", "labels", "both"])
def test_criticisms(lying, name):
    x = rows()
    labels = np.arange(len(x)) % 3 if name in ("labels", "both") else None
    options = {"kernel": KERNEL, "method": "features" if name in ("features", "both") else "exact", "random_state": 0}
    ours = ss.critic(x, 24, 20, labels=labels, **options)
    there = ss.critic(lying.put(x), 24, 20, labels=labels, **options)
    for mine, other in ((ours.prototypes, there.prototypes), (ours.criticisms, there.criticisms)):
        assert isinstance(other.points, lying.type)
        np.testing.assert_array_equal(lying.back(other.indices), mine.indices)
    np.testing.assert_allclose(lying.back(there.witness), ours.witness, atol=1e-5)
    np.testing.assert_array_equal(lying.back(there.nearest), ours.nearest)
    np.testing.assert_allclose(lying.back(there.criticisms.weights), ours.criticisms.weights, atol=1e-6)
    assert str(there).startswith("Prototypes")


def test_what_needs_the_host_is_refused(lying):
    x = lying.put(rows())
    with pytest.raises(ss.errors.InputTypeError, match="refine=True works on the CPU only"):
        ss.herd(x, 3, kernel=KERNEL, refine=True)
    with pytest.raises(ss.errors.InputTypeError, match="exchange=True works on the CPU only"):
        ss.sbq(x, 3, kernel=KERNEL, exchange=True)
    with pytest.raises(ss.errors.MismatchError, match="must lie where"):
        ss.herd(x, 3, target=rows(), kernel=KERNEL)


def test_what_does_not_fit_is_named(lying, monkeypatch):
    from supersample.device import blocks

    monkeypatch.setattr(blocks, "free_bytes", lambda home: 30_000)
    with pytest.raises(ss.errors.InputError, match=r"columns of 24 points and 400 candidates would take .* kB on .*30 kB free"):
        ss.sbq(lying.put(rows()), 24, kernel=KERNEL)


def test_small_blocks_change_nothing(lying, monkeypatch):
    from supersample.device import blocks

    x = lying.put(rows())
    whole = ss.herd(x, 6, kernel=KERNEL), ss.mmd2(x, lying.put(rows(seed=3)), kernel=KERNEL)
    monkeypatch.setattr(blocks, "_MOST_ELEMENTS", 40_000)
    parts = ss.herd(x, 6, kernel=KERNEL), ss.mmd2(x, lying.put(rows(seed=3)), kernel=KERNEL)
    np.testing.assert_array_equal(lying.back(parts[0].indices), lying.back(whole[0].indices))
    assert parts[1] == pytest.approx(whole[1], abs=20 * lying.rounding)


@pytest.mark.parametrize("kernel", [KERNEL, Matern(0.5, 1.0)])
def test_rows_are_scaled_in_parts_that_fit(lying, monkeypatch, kernel):
    from supersample.device import blocks
    from supersample.device.arrays import home_of

    x = lying.put(rows(width=3))
    home = home_of(x=x)
    on_device = kernel.on_device(home, home.wide, np.zeros(3))
    sizes, scaled = [], on_device._scaled

    def recorded(points):
        sizes.append(int(points.shape[0]))
        return scaled(points)

    monkeypatch.setattr(on_device, "_scaled", recorded)
    whole = home.floats(on_device.prepare(x).parts[0])
    monkeypatch.setattr(blocks, "free_bytes", lambda home: 24_000)
    np.testing.assert_array_equal(home.floats(on_device.prepare(x).parts[0]), whole)
    assert sizes[0] == sum(sizes[1:]) == 400
    assert len(sizes) > 2
