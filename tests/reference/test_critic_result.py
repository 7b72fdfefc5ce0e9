"""What batch prototypes and criticisms say: MMD path, witness, nearest prototype, share; and the way through features."""

import numpy as np
import pytest

import critic_oracles as oracle
import supersample as ss
from supersample.kernels import Function, Gaussian, Laplacian
from supersample.selection.pool import ExactPool, explain


def test_witness_nearest_and_share_by_hand():
    """Three rows at 0 and one at 100, with kernel 1 among equals and 0 else: one prototype at 0 has 1/4 too much there."""
    found = ss.critic([[0.0], [0.0], [0.0], [100.0]], 1, 2, kernel=Gaussian(1.0))
    np.testing.assert_array_equal(found.prototypes.indices, [0])
    np.testing.assert_array_equal(found.criticisms.indices, [1, 3])
    np.testing.assert_array_equal(found.witness, [-0.25, 0.25])
    np.testing.assert_array_equal(found.nearest, [0, 0])
    np.testing.assert_array_equal(found.criticisms.weights, [0.0, 0.25])
    np.testing.assert_array_equal(found.prototypes.weights, [1.0])
    # MMD^2 = (9 + 1) / 16 + 1 - 2 * 3 / 4
    np.testing.assert_allclose(found.prototypes.mmd, np.sqrt([0.125]), rtol=1e-14)
    assert found.criticisms.mmd.size == 0


def test_labels_by_hand():
    """Two classes at one place have nothing to do with each other: each needs its own prototype."""
    data, labels = np.zeros((5, 1)), ["a", "a", "b", "b", "b"]
    found = ss.critic(data, 2, 0, kernel=Gaussian(1.0), labels=labels)
    np.testing.assert_array_equal(found.prototypes.indices, [2, 0])
    # One prototype in b: 9/25 + 4/25 + 1 - 2 * 3/5; one in each: 13/25 + 1/2 - 3/5 - 2/5
    np.testing.assert_allclose(found.prototypes.mmd, np.sqrt([0.32, 0.02]), rtol=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(0.8), Laplacian(1.5), Gaussian(1.0) + Laplacian(1.0), lambda x, y: x @ y.T])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_said_of_each_point(kernel, dtype):
    rng = np.random.default_rng(3)
    data = rng.normal(size=(120, 3)).astype(dtype)
    found = ss.critic(data, 7, 5, kernel=kernel, method="exact")
    gram = ss.kernels.as_kernel(kernel)(data)
    prototypes, criticisms = found.prototypes, found.criticisms
    for each in (prototypes, criticisms):
        assert each.points.dtype == dtype
        np.testing.assert_array_equal(each.points, data[each.indices])
        assert len(each) == each.indices.size == each.weights.size
    assert prototypes.weights.sum() == pytest.approx(1.0, abs=1e-15)
    assert (prototypes.weights == prototypes.weights[0]).all()
    assert set(prototypes.indices).isdisjoint(criticisms.indices)
    for size in range(1, 8):
        exact = ss.mmd2(data, prototypes.points[:size], kernel=kernel)
        assert prototypes.mmd[size - 1] ** 2 == pytest.approx(exact, abs=1e-12 * gram.max())
    nearest, closer = oracle.explained(gram, prototypes.indices, criticisms.indices)
    np.testing.assert_array_equal(found.nearest, nearest)
    np.testing.assert_allclose(criticisms.weights, closer, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.witness, oracle.witness(gram, prototypes.indices)[criticisms.indices], atol=1e-12)


def test_shares_of_more_rows_than_one_block():
    rng = np.random.default_rng(0)
    data, kernel = rng.normal(size=(16384 + 500, 2)), Gaussian(1.0)
    shares = rng.dirichlet(np.ones(len(data)))
    chosen, others = np.arange(4), np.arange(4, 7)
    prototypes, criticisms = data[chosen], data[others]
    nearest, closer = explain(ExactPool(kernel, data), shares, chosen, others)
    away = np.linalg.norm(data[:, None] - prototypes, axis=2).min(axis=1)
    mine = np.linalg.norm(data[:, None] - criticisms, axis=2) < away[:, None]
    np.testing.assert_allclose(closer, shares @ mine, rtol=1e-10)
    np.testing.assert_array_equal(nearest, np.linalg.norm(criticisms[:, None] - prototypes, axis=2).argmin(axis=1))


def test_no_criticisms():
    found = ss.critic(np.random.default_rng(0).normal(size=(20, 3)), 4, 0, random_state=0)
    assert found.criticisms.points.shape == (0, 3)
    assert (
        found.criticisms.indices.shape == found.criticisms.weights.shape == found.witness.shape == found.nearest.shape == (0,)
    )


def test_every_row_a_prototype_or_a_criticism():
    data = np.random.default_rng(0).normal(size=(12, 2))
    found = ss.critic(data, 8, 4, kernel=Gaussian(0.2))
    assert sorted([*found.prototypes.indices, *found.criticisms.indices]) == list(range(12))
    assert ss.critic(data, 12, 0, kernel=Gaussian(0.2)).prototypes.mmd[-1] == pytest.approx(0.0, abs=1e-7)


def test_the_input_stays_as_it_was():
    data = np.random.default_rng(0).normal(size=(60, 2))
    before = data.copy()
    found = ss.critic(data, 5, 3, random_state=0)
    found.prototypes.points[:] = 7.0
    found.criticisms.points[:] = 7.0
    np.testing.assert_array_equal(data, before)


def scores(data, kernel, found, best, labels=None):
    """Prototypes and criticisms between random sets (0) and exact greedy (1), by the exact objectives."""
    gram = kernel(data) if labels is None else oracle.local(kernel(data), labels)
    rng = np.random.default_rng(0)
    m, c = len(best.prototypes), len(best.criticisms)
    random = [rng.choice(len(data), size=m, replace=False) for _ in range(50)]
    values = oracle.witness(gram, best.prototypes.indices)
    others = [rng.choice(len(data), size=c, replace=False) for _ in range(50)]
    return (
        oracle.score(lambda s: oracle.prototype_objective(gram, s), found.prototypes.indices, best.prototypes.indices, random),
        oracle.score(
            lambda s: oracle.criticism_objective(gram, values, s), found.criticisms.indices, best.criticisms.indices, others
        ),
    )


@pytest.mark.parametrize("classes", [1, 3])
def test_features_in_place_of_the_kernel_choose_nearly_the_same(classes):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, classes, size=500)
    data = rng.normal(size=(500, 2)) + 2.0 * labels[:, None]
    given, kernel = None if classes == 1 else labels, Gaussian(1.0)
    best = ss.critic(data, 12, 6, kernel=kernel, labels=given, method="exact")
    found = ss.critic(data, 12, 6, kernel=kernel, labels=given, method="features", n_features=8192, random_state=0)
    for_prototypes, for_criticisms = scores(data, kernel, found, best, given)
    assert for_prototypes > 0.97
    assert for_criticisms > 0.95
    assert len(set(found.prototypes.indices[:3]) & set(best.prototypes.indices[:3])) >= 2
    # The path is measured by features of its own: near the truth, and not below it as a path seen by the selection would be.
    gram = kernel(data) if given is None else oracle.local(kernel(data), labels)
    exact = [np.sqrt(gram.mean() - oracle.prototype_objective(gram, found.prototypes.indices[:size])) for size in range(1, 13)]
    np.testing.assert_allclose(found.prototypes.mmd, exact, rtol=0.2)
    # The criticisms' witness is that of the features, whose error is at most 1/sqrt(8192) a kernel value, or so.
    truth = oracle.witness(gram, found.prototypes.indices)[found.criticisms.indices]
    np.testing.assert_allclose(found.witness, truth, rtol=0, atol=0.02)


def test_features_of_a_kernel_without_a_spectrum():
    data = np.random.default_rng(0).normal(size=(300, 3))
    kernel = Function(lambda x, y: (1.0 + x @ y.T) ** 2, name="square")
    best = ss.critic(data, 8, 4, kernel=kernel, method="exact")
    found = ss.critic(data, 8, 4, kernel=kernel, method="features", n_features=64, random_state=0)
    assert min(scores(data, kernel, found, best)) > 0.95


@pytest.mark.parametrize("classes", [1, 3])
def test_the_judge_of_a_kernel_without_a_spectrum_does_not_flatter(classes):
    """Far from the landmarks, features of landmarks would show nothing of what is missed."""
    rng = np.random.default_rng(5)
    data = rng.normal(size=(2_000, 2)) * [1.0, 5.0]
    labels = rng.integers(classes, size=2_000)
    bell = Function(lambda x, y: Gaussian(0.3)(x, y), "bell")
    found = ss.critic(data, 10, 0, kernel=bell, labels=labels, method="features", n_features=64, random_state=0).prototypes
    gram = np.where(labels[:, None] == labels, Gaussian(0.3)(data), 0.0)
    for size in range(1, 11):
        some = found.indices[:size]
        exact = np.sqrt(gram.mean() - 2 * gram[:, some].mean() + gram[np.ix_(some, some)].mean())
        assert found.mmd[size - 1] == pytest.approx(exact, rel=0.01)  # by 100,000 draws of 2,000 rows


def test_auto_is_exact_for_few_rows_and_features_repeat_by_seed():
    data = np.random.default_rng(0).normal(size=(400, 3))
    first, second = (ss.critic(data, 6, 4, method=method, random_state=5) for method in ("auto", "exact"))
    np.testing.assert_array_equal(first.prototypes.mmd, second.prototypes.mmd)
    np.testing.assert_array_equal(first.criticisms.indices, second.criticisms.indices)
    first, second = (ss.critic(data, 6, 4, method="features", random_state=5) for _ in range(2))
    np.testing.assert_array_equal(first.prototypes.mmd, second.prototypes.mmd)
    np.testing.assert_array_equal(first.witness, second.witness)


def test_labels_decide_what_is_near():
    rng = np.random.default_rng(3)
    data, labels = rng.normal(size=(60, 2)), np.repeat(["a", "b"], 30)
    found = ss.critic(data, 6, 4, kernel=Gaussian(1.0), labels=labels, method="exact")
    gram = Gaussian(1.0)(data) * (labels[:, None] == labels)
    nearest, closer = oracle.explained(gram, found.prototypes.indices, found.criticisms.indices)
    np.testing.assert_array_equal(found.nearest, nearest)
    np.testing.assert_allclose(found.criticisms.weights, closer, rtol=0, atol=1e-12)


def test_far_points_know_their_nearest_prototype():
    rng = np.random.default_rng(0)
    data = np.concatenate([rng.normal(size=(600, 1)), rng.normal(40, 1, size=(300, 1)), rng.normal(60, 1, size=(20, 1))])
    found = ss.critic(data, 4, 8, kernel=Gaussian(1.0))
    for point, nearest in zip(found.criticisms.points, found.nearest, strict=True):
        away = np.abs(found.prototypes.points - point).ravel()
        if away.min() < 25:  # beyond that exp(-r^2 / 2) is as good as zero for every prototype
            assert away[nearest] == away.min()


def test_a_factor_of_the_kernel_changes_no_prototype():
    data = np.random.default_rng(0).normal(size=(300, 3))
    expected = ss.critic(data, 5, 0, kernel=Gaussian(1.0)).prototypes.indices
    for factor in (1e-10, 1e-3, 1e6):
        np.testing.assert_array_equal(ss.critic(data, 5, 0, kernel=factor * Gaussian(1.0)).prototypes.indices, expected)


def test_the_witness_shown_is_that_of_the_exact_kernel_even_if_features_chose():
    data = np.random.default_rng(0).normal(size=(2000, 4))
    found = ss.critic(data, 20, 10, kernel=Gaussian(1.0), method="features", n_features=128, random_state=0)
    exact = oracle.witness(Gaussian(1.0)(data), found.prototypes.indices)[found.criticisms.indices]
    np.testing.assert_allclose(found.witness, exact, atol=1e-12)
