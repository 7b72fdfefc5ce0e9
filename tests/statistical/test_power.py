"""Zhao and Meng 2015, figure 7: with 1,024 frequencies FastMMD finds differences as often as the exact MMD does.

And the tests that section 3.3 of the paper proposes, on other distances around the circle and other norms over frequencies.
"""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import oracles
import supersample as ss
from zoo import blobs


def decisions(epsilon, repetitions, method):
    rejected = []
    with threadpool_limits(1):
        for seed in range(repetitions):
            rng = np.random.default_rng([seed, 77])
            x, y = blobs(1000, rng), blobs(1000, rng, epsilon=epsilon)
            options = {"kernel": ss.kernels.Gaussian(1.0), "n_features": 2048, "n_resamples": 99, "random_state": seed}
            rejected.append(ss.two_sample_test(x, y, method=method, **options).rejects(0.05))
    return np.array(rejected)


def standard_errors_apart(epsilon, repetitions):
    """Both methods see the same data, so the error of the difference comes from the repetitions where they disagree."""
    fast, exact = decisions(epsilon, repetitions, "fourier"), decisions(epsilon, repetitions, "exact")
    disagree = np.count_nonzero(fast != exact)
    return (fast.sum() - exact.sum()) / np.sqrt(max(1, disagree)), fast.mean(), exact.mean()


def test_power_equals_that_of_the_exact_mmd_reduced():
    """20 repetitions at epsilon 3, where both find nearly every difference: another seed fails less than once in 300."""
    apart, fast, exact = standard_errors_apart(3.0, 20)
    assert abs(apart) < 3
    assert min(fast, exact) > 0.8


def test_power_where_differences_are_harder_to_find():
    """20 repetitions at epsilon 2, rates near 0.7: one under 0.3 has a chance of 3e-4."""
    _, fast, exact = standard_errors_apart(2.0, 20)
    assert min(fast, exact) > 0.3


@pytest.mark.level
@pytest.mark.parametrize("epsilon", [3.0, 2.0, 1.5])
def test_power_beside_that_of_the_exact_mmd_whole(epsilon, capsys):
    """The paper's claim at epsilon 3. At epsilon 2, where power is not complete, 1,024 frequencies cost some of it.

    Only epsilon 3, the claim, is asserted; the others are printed. A limit for them would have been chosen after seeing them.
    """
    apart, fast, exact = standard_errors_apart(epsilon, 500)
    with capsys.disabled():
        print(  # noqa: T201
            f"epsilon {epsilon}: FastMMD rejects {fast:.1%}, exact {exact:.1%}; {apart:+.2f} standard errors apart"
        )
    assert min(fast, exact) > 0.05  # the level: a test of no power at all would still fail here
    if epsilon == 3.0:
        assert abs(apart) < 3


CIRCULAR = [("mmd", 2.0), ("sine", 1.0), ("sine", np.inf), ("mallows", 1.0), ("mallows", 2.0), ("mallows", np.inf)]


def circular_rejections(epsilon, bandwidth, repetitions, n_rows=500):
    """Return how often each statistic rejects, all on the same pairs of samples: 128 frequencies, 99 permutations."""
    count = np.zeros(len(CIRCULAR), dtype=int)
    with threadpool_limits(1):
        for seed in range(repetitions):
            rng = np.random.default_rng([seed, 78])
            x, y = blobs(n_rows, rng), blobs(n_rows, rng, epsilon=epsilon)
            options = {"kernel": ss.kernels.Gaussian(bandwidth), "n_features": 256, "n_resamples": 99, "random_state": seed}
            count += [ss.two_sample_test(x, y, statistic=name, norm=norm, **options).rejects(0.05) for name, norm in CIRCULAR]
    return count


def test_circular_tests_find_the_blobs_reduced():
    """20 pairs at epsilon 6, where means over frequencies reject nearly always: fewer than half has a chance under 1e-6."""
    found = dict(zip(CIRCULAR, circular_rejections(6.0, 1.0, 20), strict=True))
    assert min(found[each] for each in CIRCULAR if each[1] < np.inf) > 10


@pytest.mark.level
@pytest.mark.parametrize(("epsilon", "bandwidth", "repetitions"), [(1.0, 1.0, 300), (3.0, 1.0, 150), (4.0, 3.0, 150)])
def test_circular_tests_beside_mmd_on_the_blobs(epsilon, bandwidth, repetitions, capsys):
    """At epsilon 1 nothing differs: the 99.9% band of the level. Power is printed, and not asserted."""
    count = circular_rejections(epsilon, bandwidth, repetitions)
    with capsys.disabled():
        rates = zip(CIRCULAR, count / repetitions, strict=True)
        shown = ", ".join(f"{name} {norm:g} {rate:.1%}" for (name, norm), rate in rates)
        print(f"blobs, epsilon {epsilon:g}, bandwidth {bandwidth:g}, {repetitions} pairs reject: {shown}")  # noqa: T201
    if epsilon == 1.0:
        least, most = oracles.binomial_band(repetitions, 0.05, 0.999)
        assert least <= count.min()
        assert count.max() <= most
