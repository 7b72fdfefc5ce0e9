"""Bounds on MMD: worked by hand, and held as often as they say.

Each simulation counts how often a bound fails that may fail with probability delta. For a bound that fails just that often, the
test fails falsely with probability below 1e-4; these bounds fail more rarely.
"""

import numpy as np
import pytest
from scipy import stats

import supersample as ss
from supersample.discrepancy.bounds import bernstein, distance_to_population, distance_to_rows, theorem_one
from supersample.features.heldout import HeldOut
from supersample.kernels import Cauchy, Gaussian, Laplacian, Matern
from supersample.selection.stream import polish

KERNELS = [Gaussian(1.0), Matern(1.5, 1.0), Cauchy(1.0), Laplacian(1.0), Gaussian(1.0) + Gaussian(3.0)]


@pytest.fixture(scope="module", autouse=True)
def shorter_second_look():
    """Bounds hold for any selection."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polish, "_KICKS", 2)
        yield


def most_failures(n, delta):
    """The number of failures in n trials that is exceeded with probability below 1e-4."""
    return int(stats.binom.isf(1e-4, n, delta))


def terms_of(phi, rows, points):
    """One term for each frequency; their mean is an unbiased estimate of MMD^2."""
    difference = phi.transform(rows).astype(np.float64).mean(axis=0) - phi.transform(points).astype(np.float64).mean(axis=0)
    return phi.terms(difference**2)


def test_theorem_one_by_hand():
    terms = np.array([0.0, 0.2, 0.1, 0.1])
    # mean 0.1, plus 4 sqrt(ln(1/delta) / 8) = 4 for delta = e^-8
    assert theorem_one(terms, 4.0, np.exp(-8.0)) == pytest.approx(np.sqrt(4.1), rel=1e-12)
    # The constant of D = 2n features and weights up to R is 16 R^2.
    n_features, weight, delta = 128, 1.7, 0.05
    expected = np.sqrt(np.sqrt(16 * weight**2 * np.log(1 / delta) / n_features))
    assert theorem_one(np.zeros(64), 4.0 * weight, delta) == pytest.approx(expected, rel=1e-12)


def test_bernstein_by_hand():
    terms = np.array([0.0, 0.2, 0.1, 0.1])  # variance 0.02 / 3
    log = np.log(2.0 / 0.05)
    square = 0.1 + np.sqrt(2 * (0.02 / 3) * log / 4) + 7 * 4.0 * log / 9
    assert bernstein(terms, 4.0, 0.05) == pytest.approx(np.sqrt(square), rel=1e-12)


def test_distances_by_hand():
    assert distance_to_population(4.0, 100, np.exp(-2.0)) == pytest.approx(0.6, rel=1e-12)
    assert distance_to_rows(4.0, 50, 100, np.exp(-2.0)) == pytest.approx(
        6.0 / np.sqrt(50) * 50 / np.sqrt(49.5 * 99.5), rel=1e-12
    )
    assert distance_to_rows(1.0, 50, 10**9, 0.1) == pytest.approx(distance_to_population(1.0, 50, 0.1), rel=1e-6)


def test_the_largest_weight_by_hand():
    # Half of the frequencies are plain, a quarter each is stretched by 1 + 1.4 / sqrt(d) and 1 + 2.8 / sqrt(d).
    one = 1.0 / (0.5 + 0.25 / 2.4 + 0.25 / 3.8)
    assert HeldOut(Gaussian(2.0), 128, random_state=0).largest_weight(1) == pytest.approx(one, rel=1e-12)
    four = 1.0 / (0.5 + 0.25 / 1.7**4 + 0.25 / 2.4**4)
    assert HeldOut(Gaussian(2.0), 128, random_state=0).largest_weight(4) == pytest.approx(four, rel=1e-12)
    # Kernels with a random length draw it from a mixture with density at least 1/2 + 1/2 * 1/4.
    assert HeldOut(Matern(1.5, 2.0), 128, random_state=0).largest_weight(4) == pytest.approx(1.6 * four, rel=1e-12)
    assert HeldOut(Laplacian(2.0), 128, random_state=0).largest_weight(4) == 2.0
    assert HeldOut(Laplacian(2.0), 2, random_state=0).largest_weight(4) == np.inf
    assert ss.features.Fourier(Gaussian(1.0), 128, random_state=0).largest_weight(4) == 1.0


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("width", [1, 3, 30])
def test_no_weight_is_above_the_largest(kernel, width):
    phi = HeldOut(kernel, 20_000, dtype=np.float64, random_state=0)
    found = float(phi.drawn(width)[1].max()) ** 2
    assert 0.6 * phi.largest_weight(width) < found < (1.0 + 1e-6) * phi.largest_weight(width)


@pytest.mark.parametrize("bound", [theorem_one, bernstein])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Matern(1.5, 1.0), Laplacian(1.0)])
def test_bounds_by_frequencies_hold(bound, kernel):
    """Few frequencies, and rows so far apart that terms reach their limit."""
    rows, points = np.zeros((1, 2)), np.array([[3.0, 0.0]])
    mmd = float(np.sqrt(ss.mmd2(rows, points, kernel=kernel)))
    failed = 0
    for seed in range(200):
        phi = HeldOut(kernel, 256, random_state=seed)
        most = 4.0 * kernel.k0 * phi.largest_weight(2)
        terms = terms_of(phi, rows, points)
        assert terms.max() <= most * (1.0 + 1e-5)
        failed += mmd > bound(terms, most, 0.2)
    assert failed <= most_failures(200, 0.2)


def test_bernstein_is_far_below_theorem_one_with_many_frequencies():
    rng = np.random.default_rng(0)
    rows, kernel = rng.normal(size=(400, 2)), Gaussian(1.0)
    points = rows[ss.herd(rows, 20, kernel=kernel).indices]
    phi = HeldOut(kernel, 8192, random_state=0)
    most = 4.0 * phi.largest_weight(2)
    terms = terms_of(phi, rows, points)
    mmd = float(np.sqrt(ss.mmd2(rows, points, kernel=kernel)))
    assert mmd < bernstein(terms, most, 0.05) < 0.45 * theorem_one(terms, most, 0.05)


@pytest.mark.parametrize("sample", [5, 60, 119])
def test_a_sample_is_as_near_to_all_rows_as_said(sample):
    rng = np.random.default_rng(1)
    gram = Gaussian(0.3)(rng.normal(size=(120, 3)))  # nearly all rows differ: distances are near their mean
    means, energy = gram.mean(axis=1), gram.mean()
    for delta in (0.6, 0.2):
        limit, distances = distance_to_rows(1.0, sample, 120, delta), np.empty(400)
        for trial in range(400):
            drawn = rng.choice(120, sample, replace=False)
            distances[trial] = np.sqrt(gram[np.ix_(drawn, drawn)].mean() - 2 * means[drawn].mean() + energy)
        assert np.sum(distances > limit) <= most_failures(400, delta)
        assert limit < 4 * np.mean(distances)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_as_near_to_their_population_as_said(weighted):
    rng = np.random.default_rng(2)
    kernel, failed, limits, distances = Gaussian(1.0), 0, [], []
    for _ in range(300):
        rows = rng.normal(size=(40, 1))
        weights = rng.exponential(size=40) if weighted else np.ones(40)
        weights /= weights.sum()
        pull = np.sqrt(1 / 2) * np.exp(
            -(rows[:, 0] ** 2) / 4
        )  # E k(x, .) of the normal distribution; E k(x, x') is sqrt(1 / 3)
        square = np.sqrt(1 / 3) - 2 * weights @ pull + weights @ kernel(rows) @ weights
        limits.append(distance_to_population(1.0, 1.0 / np.sum(weights**2), 0.3))
        distances.append(np.sqrt(max(square, 0.0)))
        failed += distances[-1] > limits[-1]
    assert failed <= most_failures(300, 0.3)
    assert np.mean(limits) < 5 * np.mean(distances)


def test_the_bound_of_up_to_5000_rows_is_the_exact_mmd():
    rng = np.random.default_rng(3)
    data, weights = rng.normal(size=(900, 2)), rng.random(900)
    sampler = ss.SuperSampler(20, random_state=0).fit(data, sample_weight=weights)
    exact = np.sqrt(ss.mmd2(sampler.prototypes_, data, kernel=sampler.kernel_, weight_x=sampler.weights_, weight_y=weights))
    assert sampler.bound(0.5) == sampler.bound(1e-9) == pytest.approx(exact, rel=1e-7)
    away = distance_to_population(1.0, weights.sum() ** 2 / np.sum(weights**2), 0.05)
    assert sampler.bound(0.05, population=True) == pytest.approx(exact + away, rel=1e-7)


def test_the_parts_of_a_bound_of_more_rows():
    data = np.random.default_rng(4).normal(size=(7000, 2))
    sampler = ss.SuperSampler(20, random_state=0).fit(data)
    selected = sampler._now.selected
    sample = selected.background.rows.points
    near = np.sqrt(ss.mmd2(sampler.prototypes_, sample, kernel=sampler.kernel_, weight_x=sampler.weights_))
    assert sampler.bound(0.05) == pytest.approx(near + distance_to_rows(1.0, 5000, 7000, 0.05), rel=1e-7)
    both = near + distance_to_rows(1.0, 5000, 7000, 0.025) + distance_to_population(1.0, 7000, 0.025)
    assert sampler.bound(0.05, population=True) == pytest.approx(both, rel=1e-7)
    held_out = selected.plan.held_out
    moments = selected.held_out.mean() - sampler.weights_ @ held_out.transform(sampler.prototypes_).astype(np.float64)
    terms, most = held_out.terms(moments**2), 4.0 * held_out.largest_weight(2)
    assert sampler.bound(0.1, kind="bernstein") == pytest.approx(bernstein(terms, most, 0.1), rel=1e-9)
    assert sampler.bound(0.1, kind="theorem") == pytest.approx(theorem_one(terms, most, 0.1), rel=1e-9)
    assert sampler.bound(1e-300, kind="theorem") == 2.0  # no MMD is larger


def test_more_held_out_features_give_a_lower_bound_of_weighted_rows():
    rng = np.random.default_rng(6)
    data, weights = rng.normal(size=(5500, 1)), rng.exponential(size=5500)
    few, many = (
        ss.SuperSampler(20, kernel=Gaussian(1.0), n_held_out=n, random_state=0).fit(data, sample_weight=weights)
        for n in (128, 8192)
    )
    mmd = np.sqrt(ss.mmd2(many.prototypes_, data, kernel=many.kernel_, weight_x=many.weights_, weight_y=weights))
    np.testing.assert_array_equal(few.prototypes_, many.prototypes_)
    assert mmd < many.bound() < 0.15 < 0.8 < few.bound() < few.bound(kind="theorem")
    assert many.bound() < 0.4 * many.bound(kind="theorem")


def test_the_bound_of_a_summary_is_that_of_its_rows_and_survives_a_file(tmp_path):
    data = np.random.default_rng(5).normal(size=(6000, 2))
    summary = ss.summarize(data, prototypes=20, criticisms=3, random_state=0)
    points, sample = (summary.encode(table) for table in (summary.prototypes, summary.background))
    near = np.sqrt(ss.mmd2(points, sample, kernel=summary.kernel, weight_x=summary.weights()))
    assert summary.bound(0.1) == pytest.approx(near + distance_to_rows(1.0, 5000, 6000, 0.1), rel=1e-6)
    population = near + distance_to_rows(1.0, 5000, 6000, 0.05) + distance_to_population(1.0, summary.effective_rows, 0.05)
    assert summary.bound(0.1, population=True) == pytest.approx(population, rel=1e-6)
    summary.save(tmp_path / "rows.summary")
    loaded = ss.load(tmp_path / "rows.summary")
    for kind in ("auto", "bernstein", "theorem"):
        assert loaded.bound(kind=kind) == summary.bound(kind=kind)
