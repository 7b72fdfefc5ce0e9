"""A sampler whose points match another distribution, count points chosen before, and lie apart."""

import numpy as np
import pytest

import supersample as ss
from helpers import stream_oracles
from helpers.oracles import gaussian, mmd2_double_loop
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.selection.stream import drain

CENTRES = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 5.0]])


def drawn(seed, n, shares):
    """Return points of three groups."""
    generator = np.random.default_rng(seed)
    return CENTRES[generator.choice(3, n, p=shares)] + 0.5 * generator.normal(size=(n, 2))


POOL = drawn(0, 12_000, [0.6, 0.39, 0.01])
TARGET = drawn(1, 900, [0.0, 0.25, 0.75])


def sampler(n=30, **options):
    return ss.SuperSampler(n, **{"target": TARGET, "random_state": 0, **options})


def mmd(kernel, points, weights, others):
    """Return the exact MMD, from the Gram matrices."""
    w, v = np.asarray(weights), np.full(len(others), 1.0 / len(others))
    square = w @ kernel(points, points) @ w - 2.0 * w @ kernel(points, others) @ v + v @ kernel(others, others) @ v
    return float(np.sqrt(max(square, 0.0)))


@pytest.fixture(scope="module")
def fitted():
    return sampler().fit(POOL)


def test_rows_of_a_rare_group_are_found_in_one_pass(fitted):
    """1% of the pool and three quarters of the target: as near as batch herding, which sees all of the pool."""
    rare = (fitted.prototypes_[:, 1] > 2.5).mean()
    assert abs(rare - 0.75) < 0.05
    batch = ss.herd(POOL, 30, target=TARGET, kernel=fitted.kernel_)
    reached = mmd(fitted.kernel_, fitted.prototypes_, np.full(30, 1 / 30), TARGET)
    assert reached < 1.1 * mmd(fitted.kernel_, batch.points, np.full(30, 1 / 30), TARGET)


def test_rows_are_those_of_the_pool(fitted):
    np.testing.assert_array_equal(POOL[fitted.prototype_indices_], fitted.prototypes_)
    assert fitted.n_seen_ == len(POOL)


def test_the_certificate_is_of_the_target(fitted):
    weighted = mmd(fitted.kernel_, fitted.prototypes_, fitted.weights_, TARGET)
    assert fitted.mmd_ == pytest.approx(weighted, rel=1e-4)
    assert fitted.uniform_mmd_ == pytest.approx(mmd(fitted.kernel_, fitted.prototypes_, np.full(30, 1 / 30), TARGET), rel=1e-4)
    assert fitted.bound() == pytest.approx(fitted.mmd_, rel=1e-4)  # all rows of the target are known
    alone = [mmd(fitted.kernel_, TARGET[place : place + 30], np.full(30, 1 / 30), TARGET) for place in range(0, 600, 30)]
    assert fitted.random_mmd_ == pytest.approx(np.sqrt(np.mean(np.square(alone))), rel=0.25)


@pytest.mark.parametrize("size", [12, 30])
def test_of_a_small_target_random_rows_are_drawn_with_replacement(size):
    """All rows of a target that is no larger than the selection would be the target itself, at a distance of 0."""
    found = sampler(target=TARGET[:size]).fit(POOL[:4_000])
    gram = found.kernel_(TARGET[:size], TARGET[:size])
    spread = 1.0 - gram.mean()  # of one row; the mean of 30 has a thirtieth of it
    assert found.random_mmd_ == pytest.approx(np.sqrt(spread / 30), rel=0.3)
    assert found.mmd_ == pytest.approx(mmd(found.kernel_, found.prototypes_, found.weights_, TARGET[:size]), rel=1e-4)


def test_the_bandwidth_is_that_of_the_target(fitted):
    assert fitted.kernel_ == sampler().fit(POOL[:700]).kernel_
    assert fitted.kernel_.bandwidth == pytest.approx(ss.SuperSampler(5, random_state=0).fit(TARGET).kernel_.bandwidth, rel=0.2)


@pytest.mark.parametrize("size", [1, 977, 3_072, 12_000])
def test_batches_do_not_matter(size, fitted):
    rows = POOL if size > 1 else POOL[:400]
    whole, parts = sampler().fit(rows), sampler()
    for start in range(0, len(rows), size):
        parts.partial_fit(rows[start : start + size])
    assert stream_oracles.to_bytes(parts._now.state) == stream_oracles.to_bytes(whole._now.state)
    np.testing.assert_array_equal(parts.prototype_indices_, whole.prototype_indices_)
    assert parts.mmd_ == whole.mmd_


def test_reading_changes_nothing(fitted):
    again = sampler()
    for part in np.split(POOL, 4):
        _ = again.partial_fit(part).mmd_
    assert stream_oracles.to_bytes(again._now.state) == stream_oracles.to_bytes(fitted._now.state)


def test_most_of_the_rows_kept_for_the_second_look_are_like_the_target():
    """Of 60,000 rows 300 are of the group that the target is made of; 5,000 uniform ones would have 25 of them."""
    pool = drawn(2, 60_000, [0.6, 0.395, 0.005])
    held = drain(sampler(target=drawn(3, 500, [0.0, 0.0, 1.0])).fit(pool)._now.state)
    found = np.unique(
        np.concatenate([held.near.sample.rows.positions, *(part.rows.positions for part in held.near.sample.waiting)])
    )
    assert (pool[found][:, 1] > 2.5).sum() > 0.95 * (pool[:, 1] > 2.5).sum()


def test_many_prototypes_match_too():
    many = sampler(400).fit(POOL)
    batch = ss.herd(POOL, 400, target=TARGET, kernel=many.kernel_)
    reached = mmd(many.kernel_, many.prototypes_, np.full(400, 1 / 400), TARGET)
    assert reached < 1.1 * mmd(many.kernel_, batch.points, np.full(400, 1 / 400), TARGET)


def test_parts_merge_to_the_same_target(fitted):
    first = sampler().fit(POOL[:5_000])
    second = first.empty_like().partial_fit(POOL[5_000:])
    merged = first.merge(second)
    np.testing.assert_array_equal(POOL[merged.prototype_indices_], merged.prototypes_)
    assert merged.n_seen_ == len(POOL)
    assert merged.mmd_ < 1.5 * fitted.mmd_
    assert merged.kernel_ == first.kernel_
    more = merged.partial_fit(POOL[:100])
    assert more.n_seen_ == len(POOL) + 100


def test_other_targets_do_not_merge():
    first = sampler().fit(POOL[:1_000])
    with pytest.raises(MismatchError, match=r"match different targets.*empty_like"):
        first.merge(sampler(target=TARGET[:800], bandwidth=1.0).fit(POOL[:1_000]))
    with pytest.raises(MismatchError, match=r"match different targets"):
        first.merge(sampler(target=None).fit(POOL[:1_000]))
    with pytest.raises(MismatchError, match=r"differ in include or min_distance"):
        sampler(target=None, min_distance=0.1).fit(POOL).merge(sampler(target=None).fit(POOL))


def test_a_measure_and_its_rows_are_one_target():
    rows = sampler().fit(POOL)
    measure = sampler(target=ss.measures.Empirical(TARGET)).fit(POOL)
    np.testing.assert_array_equal(rows.prototype_indices_, measure.prototype_indices_)
    heavy = np.where(TARGET[:, 1] > 2.5, 0.0, 1.0)
    only = sampler(target=ss.measures.Empirical(TARGET, heavy)).fit(POOL)
    assert (only.prototypes_[:, 1] < 2.5).all()


def test_a_density_is_a_target():
    density = ss.measures.GaussianMixture([1.0], [[0.0, 5.0]], [0.25 * np.eye(2)])
    found = sampler(target=density).fit(POOL)
    assert (found.prototypes_[:, 1] > 2.5).all()
    assert found.mmd_ < 0.6 * found.random_mmd_
    again = sampler(target=density).fit(POOL)
    np.testing.assert_array_equal(found.prototype_indices_, again.prototype_indices_)


def test_a_summary_is_a_target():
    summary = ss.summarize(TARGET, 20, random_state=0)
    found = sampler(target=summary).fit(summary.encode(POOL))
    assert abs((POOL[found.prototype_indices_][:, 1] > 2.5).mean() - 0.75) < 0.05
    assert found.kernel_ == summary.kernel
    with pytest.raises(MismatchError, match=r"target is a Summary of rows of 3 coordinates, and X has 2 columns.*encode"):
        sampler(target=summary).fit(POOL)
    own = {"kernel": summary.kernel, "features": summary.feature_map, "n_held_out": 128}
    for name, value in own.items():
        assert sampler(target=summary, **{name: value}).fit(summary.encode(POOL[:100])).feature_map_ == summary.feature_map


@pytest.mark.parametrize(
    "options", [{"bandwidth": 2.0}, {"kernel": "laplacian"}, {"n_features": 32}, {"features": "fourier"}, {"n_held_out": 256}]
)
def test_a_summary_has_its_own_maps(options):
    summary = ss.summarize(TARGET, 20, random_state=0)
    (name,) = options
    with pytest.raises(InputError, match=rf"^{name} must be left out where target is a Summary, which .*, got .*; leave"):
        sampler(target=summary, **options).fit(summary.encode(POOL[:100]))
    if name != "n_held_out":
        with pytest.raises(InputError, match=rf"^{name} must be left out where target is a Summary, which .*, got .*; leave"):
            ss.summarize(POOL[:100], 20, target=summary, **options)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"half_life": 100}, InputError, r"half_life must be left out with target"),
        ({"n_criticisms": 3}, InputError, r"n_criticisms must be 0 with target, got 3"),
        ({"target": TARGET[:, :1]}, MismatchError, r"target must have 2 columns"),
        ({"target": ss.measures.Uniform([0.0] * 3, [1.0] * 3)}, MismatchError, r"target must have the 2 columns of X"),
        ({"target": "rows"}, InputTypeError, r"target must be rows, .*got str; .*summarize"),
        ({"target": TARGET * np.nan}, InputError, r"target"),
        (
            {"target": ss.MeanEmbedding(ss.features.Fourier(ss.kernels.Gaussian(1.0), 8))},
            InputTypeError,
            r"got a MeanEmbedding",
        ),
        ({"include": TARGET[:, :1]}, MismatchError, r"include must have the 2 columns"),
        ({"include": TARGET[:0]}, InputError, r"include"),
        ({"min_distance": 0}, InputError, r"min_distance must be a number above 0, .*got 0"),
        ({"min_distance": "far"}, InputError, r"min_distance must be a number above 0"),
    ],
)
def test_what_cannot_be_is_refused(options, error, words):
    made = sampler(**options)
    with pytest.raises(error, match=words):
        made.fit(POOL[:50])
    assert not hasattr(made, "n_seen_") or not made.__sklearn_is_fitted__()


def test_points_chosen_before_count():
    """With the rare group labelled before, the rest comes from the other one; all of them together match the target."""
    before = TARGET[TARGET[:, 1] > 2.5][:60]
    found = sampler(20, include=before).fit(POOL)
    rare = len(before) + (found.prototypes_[:, 1] > 2.5).sum()
    assert abs(rare / 80 - (TARGET[:, 1] > 2.5).mean()) < 0.02  # between one row and two
    together, weights = np.concatenate([found.prototypes_, before]), np.append(found.weights_, found.include_weights_)
    assert weights.sum() == pytest.approx(1.0)
    assert found.mmd_ == pytest.approx(mmd(found.kernel_, together, weights, TARGET), rel=1e-4)
    alone = np.concatenate([sampler(20).fit(POOL).prototypes_, before])
    equal = np.full(80, 1 / 80)
    assert mmd(found.kernel_, together, equal, TARGET) < 0.5 * mmd(found.kernel_, alone, equal, TARGET)


@pytest.mark.parametrize("n", [300, 12_000])
def test_points_chosen_before_count_without_a_target(n):
    pool, before = POOL[:n], POOL[POOL[:, 0] < 2.0][:25]
    found = sampler(20, target=None, include=before, n_criticisms=3).fit(pool)
    together = np.concatenate([found.prototypes_, before])
    alone = np.concatenate([sampler(20, target=None).fit(pool).prototypes_, before])
    equal = np.full(45, 1 / 45)
    assert mmd(found.kernel_, together, equal, pool[:3_000]) < mmd(found.kernel_, alone, equal, pool[:3_000])
    parts = sampler(20, target=None, include=before, n_criticisms=3)
    for part in np.array_split(pool, 7):
        parts.partial_fit(part)
    assert stream_oracles.to_bytes(parts._now.state) == stream_oracles.to_bytes(found._now.state)
    assert parts.criticism_indices_.tolist() == found.criticism_indices_.tolist()


@pytest.mark.parametrize("target", [None, TARGET])
@pytest.mark.parametrize(("size", "n"), [(30, 2_000), (30, 9_000), (310, 2_000), (30, 60)])
def test_rows_chosen_before_are_not_chosen_again(target, size, n):
    pool = POOL[:n] + np.array([1.0, -1.0])  # another origin
    before = pool[:40]
    found = sampler(size, target=target, include=before, n_features=64).fit(pool)
    assert len(found.prototypes_) == min(size, n - 40)
    assert not np.isin(found.prototype_indices_, np.arange(40)).any()


@pytest.mark.parametrize("target", [None, POOL[20:80]])
def test_copies_of_rows_chosen_before_take_no_place(target):
    """Hundreds of copies of each included row come beside sixty others: all that are asked for are found among these."""
    pool = np.random.default_rng(3).permutation(np.concatenate([np.repeat(POOL[:20], 400, axis=0), POOL[20:80]]))
    for size in (10, 60):
        found = sampler(size, target=target, include=POOL[:20]).fit(pool)
        assert len(np.unique(found.prototypes_, axis=0)) == size
        assert not {*map(tuple, found.prototypes_)} & {*map(tuple, POOL[:20])}


def test_criticisms_are_found_where_the_target_holds_rows_chosen_before():
    pool = POOL[:900]
    found = sampler(10, target=None, n_criticisms=3, include=pool[:40]).fit(pool)
    assert not sampler(10, target=None, n_criticisms=3, include=pool[:40]).fit(pool[:41]).criticism_indices_.size
    assert not np.isin(found.criticism_indices_, np.arange(40)).any()
    together, weights = np.concatenate([found.prototypes_, pool[:40]]), np.append(found.weights_, found.include_weights_)
    assert found.mmd_ == pytest.approx(mmd(found.kernel_, together, weights, pool), rel=1e-4)


@pytest.mark.parametrize("options", [{}, {"n_criticisms": 2}, {"n_criticisms": 2, "regularizer": "logdet"}])
def test_where_no_row_is_left_it_is_said(options):
    for pool, more in ((POOL[:40], {}), (POOL[:90], {"min_distance": 1e3}), (POOL[:40], {"min_distance": 0.1})):
        found = sampler(5, target=None, include=POOL[:40], **more, **options).fit(pool)
        with pytest.raises(InputError, match=rf"nothing to select from: the rows kept of the {len(pool)} seen are all"):
            _ = found.prototypes_


def test_rows_that_lie_apart_are_sought_among_more_than_those_held(monkeypatch):
    """Where kernel values would take too long, fewer rows are looked at, but never the reservoir alone."""
    monkeypatch.setattr("supersample.selection.stream.second_look._MOST_FOR_SWAPS", 1.0)
    assert len(sampler(310, min_distance=0.01).fit(POOL[:4_000]).prototypes_) == 310


@pytest.mark.parametrize("options", [{}, {"target": None}, {"include": TARGET[:40]}, {"n_prototypes": 350, "target": None}])
def test_chosen_rows_lie_apart(options):
    options = {"n_prototypes": 40, **options}
    found = sampler(options.pop("n_prototypes"), min_distance=0.2, **options).fit(POOL)
    points = np.concatenate([found.prototypes_, options.get("include", np.empty((0, 2)))])
    away = np.sqrt(((found.prototypes_[:, None] - points) ** 2).sum(axis=2))
    away[np.arange(len(away)), np.arange(len(away))] = np.inf
    assert away.min() >= 0.2
    free = sampler(40, **options).fit(POOL)
    assert found.mmd_ < max(4.0 * free.mmd_, 0.5 * found.random_mmd_)


def test_where_no_place_is_left_there_are_fewer():
    found = sampler(50, target=None, min_distance=3.0).fit(POOL)
    assert 3 <= len(found.prototypes_) < 20
    assert found.weights_.sum() == pytest.approx(1.0)


def test_copies_are_not_chosen_twice_where_rows_lie_apart():
    found = sampler(10, target=None, min_distance=1e-9).fit(np.repeat(POOL[:5], 40, axis=0))
    assert len(found.prototypes_) == 5


def test_the_mmd_of_these_tests_is_that_of_the_oracle():
    squared = mmd2_double_loop(POOL[:12], TARGET[:15], lambda x, y: gaussian(x, y, (1.5, 1.5)))
    found = mmd(ss.kernels.Gaussian(1.5), POOL[:12], np.full(12, 1 / 12), TARGET[:15])
    assert found == pytest.approx(np.sqrt(squared), rel=1e-9)
