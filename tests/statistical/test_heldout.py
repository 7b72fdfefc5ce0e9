"""The judge's features: unbiased for every radial kernel, and of small error where a good selection leaves little."""

import numpy as np
import pytest

import stream_oracles
import supersample as ss
from supersample.errors import InputError, MismatchError
from supersample.features import Fourier
from supersample.features.heldout import HeldOut, held_out_map
from supersample.kernels import Cauchy, Gaussian, Laplacian, Matern

KERNELS = {
    "gaussian": Gaussian(1.3),
    "gaussian, a bandwidth a column": Gaussian((0.5, 2.0)),
    "matern12": Matern(0.5, 1.3),
    "matern32": Matern(1.5, 1.3),
    "matern52": Matern(2.5, 1.3),
    "cauchy": Cauchy(1.3),
    "sum": Gaussian(0.5) + 2.0 * Cauchy(2.0),
    "laplacian": Laplacian(1.3),
    "laplacian, a bandwidth a column": Laplacian((0.5, 2.0)),
    "sum with a laplacian": Laplacian(1.0) + 0.5 * Gaussian(2.0),
    "sum of three": 0.5 * Matern(0.5, 1.0) + Gaussian(3.0) + Matern(2.5, 0.7),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_values_are_unbiased(name):
    # 400 seeds, 4 pairs, 11 kernels: |z| > 4.5 has probability 7e-6 each, so 3e-4 for all of them over the choice of seeds.
    kernel = KERNELS[name]
    points = np.array([[0.0, 0.0], [0.3, 0.1], [1.0, -1.0], [4.0, 2.0]])
    values = []
    for seed in range(400):
        features = HeldOut(kernel, 64, dtype=np.float64, random_state=seed).transform(points)
        values.append(features[0] @ features.T)
    error = np.std(values, axis=0, ddof=1) / np.sqrt(len(values))
    assert (error < 0.02 * kernel.k0).all()
    z = (np.mean(values, axis=0) - kernel(points[:1], points)[0]) / error
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("kernel", [Gaussian(1.3), Matern(1.5, 1.3), Laplacian(1.3)])
@pytest.mark.parametrize("reach", [(1.0, 0.0, 0.2), (0.01, 1.0, 1.0)])
def test_values_are_unbiased_for_any_reach(kernel, reach):
    # 300 seeds, 3 pairs, 6 cases: |z| > 4.5 somewhere with probability 1e-4.
    points = np.array([[0.0, 0.0, 0.0], [0.3, 0.1, 0.0], [1.0, -1.0, 0.5]])
    values = []
    for seed in range(300):
        features = HeldOut(kernel, 64, dtype=np.float64, reach=reach, random_state=seed).transform(points)
        values.append(features[0] @ features.T)
    z = (np.mean(values, axis=0) - kernel(points[:1], points)[0]) / (np.std(values, axis=0, ddof=1) / np.sqrt(300))
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(1.0)])
def test_frequencies_reach_out_where_rows_spread(kernel):
    """One column of numbers among 20 that hardly vary: its frequencies go as far out as those of a table without the others."""
    rng = np.random.default_rng(0)
    sample = np.concatenate([rng.normal(size=(500, 1)), 0.05 * rng.normal(size=(500, 20))], axis=1)
    found = held_out_map(kernel, 4000, 0, sample, origin=np.zeros(21), random_state=0)
    assert found.reach[0] == 1.0
    assert found.reach[1:] == pytest.approx(np.full(20, 0.0025), rel=0.3)
    far = np.quantile(np.abs(found.drawn(21)[0]), 0.95, axis=1)
    alone = np.quantile(np.abs(held_out_map(kernel, 4000, 0, sample[:, :1], origin=0.0, random_state=0).drawn(1)[0]), 0.95)
    own = np.quantile(np.abs(Fourier(kernel, 4000, random_state=0).drawn(1)), 0.95)
    assert far[0] == pytest.approx(alone, rel=0.25)
    assert far[0] > 1.8 * own
    assert far[1:].max() < 1.3 * own
    equal = held_out_map(kernel, 64, 0, np.ones((9, 3)), origin=0.0, random_state=0)
    assert equal.reach.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("width", [1, 10, 200])
def test_values_are_unbiased_in_any_width(width):
    # 300 seeds, 2 pairs, 3 widths: |z| > 4.5 somewhere with probability 4e-5.
    points = np.zeros((2, width))
    points[1, 0] = 1.0
    values = [HeldOut(Gaussian(1.0), 64, random_state=seed).transform(points) for seed in range(300)]
    values = np.array([features[0] @ features.T.astype(np.float64) for features in values])
    z = (values.mean(axis=0) - [1.0, np.exp(-0.5)]) / (values.std(axis=0, ddof=1) / np.sqrt(300))
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("name", KERNELS)
def test_weights_are_positive_and_average_one(name):
    weights = HeldOut(KERNELS[name], 20_000, dtype=np.float64, random_state=0).drawn(2)[1] ** 2
    assert np.isfinite(weights).all()
    assert weights.min() > 0
    assert weights.mean() == pytest.approx(1.0, abs=0.05)
    # Weights are bounded: each share of the frequencies is drawn from the kernel's own measure at a fixed rate.
    assert weights.max() < 5
    assert np.unique(weights).size > 100


def test_half_of_the_frequencies_are_stretched():
    plain = Fourier(Gaussian(1.0), 4000, random_state=0).drawn(2)
    stretched = HeldOut(Gaussian(1.0), 4000, random_state=0).drawn(2)[0]
    assert np.mean(stretched**2) > 2 * np.mean(plain**2)
    half = stretched[:, :1000]
    assert np.mean(half**2) == pytest.approx(1.0, abs=0.15)


def test_every_other_frequency_of_a_product_kernel_has_a_column_in_its_tail():
    plain = np.abs(Fourier(Laplacian(1.0), 4000, random_state=0).drawn(3))
    drawn = np.abs(HeldOut(Laplacian(1.0), 4000, random_state=0).drawn(3)[0])
    # |w| > 1000 has probability p = 2 / (1000 pi) a column; moved outwards, (p^(1/4) - e) / (1 - e) with e = 2^(-15 / 4).
    assert np.mean((plain > 1000).any(axis=0)) < 0.01
    assert np.mean((drawn[:, ::2] > 1000).any(axis=0)) == pytest.approx(0.091, abs=0.02)
    assert np.mean((drawn[:, 1::2] > 1000).any(axis=0)) < 0.01
    assert drawn[:, ::2].max() > 15_000  # 2 / (pi 2^-15) = 20,861 is the furthest


def test_draws_never_change_since_files_hold_the_seed_alone():
    frequencies, roots = HeldOut(Matern(1.5, 1.3), 8, dtype=np.float64, random_state=0).drawn(2)
    expected = [[-0.50144005, 0.063487813, -0.62172192, -1.4058503], [-2.3675363, -0.88452423, 0.9019044, 2.2086582]]
    np.testing.assert_allclose(frequencies, expected, rtol=1e-6)
    np.testing.assert_allclose(roots[:4], [0.80539206, 1.4839973, 1.4467149, 0.059516353], rtol=1e-6)


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Laplacian(3.0)])
def test_a_good_selection_is_judged_with_less_error_than_by_plain_frequencies(kernel):
    data, _ = stream_oracles.mixture(6000, np.random.default_rng(0))
    points = ss.SuperSampler(40, kernel=kernel, random_state=0).fit(data).prototypes_
    truth = stream_oracles.Truth(data, kernel).mmd(points) ** 2

    def estimates(kind):
        found = []
        for seed in range(60):
            phi = kind(kernel, 128, random_state=1000 + seed)
            difference = phi.transform(data).mean(axis=0, dtype=np.float64) - phi.transform(points).mean(
                axis=0, dtype=np.float64
            )
            found.append(difference @ difference)
        return np.array(found) / truth

    judge, fourier = estimates(HeldOut), estimates(Fourier)
    assert judge.std() < 0.7 * fourier.std()
    # 60 seeds, 4.5 standard errors: 7e-6.
    assert abs(judge.mean() - 1.0) < 4.5 * judge.std(ddof=1) / np.sqrt(60)


def test_the_identity_tells_judge_and_fourier_apart():
    judge = HeldOut(Gaussian(1.0), 64, random_state=0)
    assert judge == HeldOut(Gaussian(1.0), 64, random_state=0)
    assert judge != HeldOut(Gaussian(1.0), 64, random_state=1)
    assert judge != HeldOut(Gaussian(1.0), 64, origin=1.0, random_state=0)
    assert judge != HeldOut(Gaussian(1.0), 64, reach=(1.0, 0.5), random_state=0)
    assert judge != Fourier(Gaussian(1.0), 64, random_state=0)


def test_rows_do_not_depend_on_their_company():
    points = np.random.default_rng(0).normal(size=(500, 3))
    judge = HeldOut(Matern(1.5, 1.0), 64, random_state=0)
    assert judge.transform(points)[17:40].tobytes() == judge.transform(points[17:40]).tobytes()


def test_what_it_cannot_do_is_refused():
    with pytest.raises(InputError, match=r"shift-invariant kernel.*Nystroem"):
        HeldOut(lambda x, y: x @ y.T, 64)
    for reach in (0.5, (1.0, -0.1), (1.0, 2.0), (1.0, np.nan), ((1.0,),)):
        with pytest.raises(InputError, match="reach must be 1, or one number from 0 to 1 for each column"):
            HeldOut(Gaussian(1.0), 64, reach=reach)
    with pytest.raises(MismatchError, match="reach has 2 values and the points have 3 columns"):
        HeldOut(Gaussian(1.0), 64, reach=(1.0, 0.5)).transform(np.ones((4, 3)))
    with pytest.raises(InputError, match=r"n_features.*even.*63"):
        HeldOut(Gaussian(1.0), 63)
