"""Distributed herding: the best of s + 1, near a single run, with a share of its work."""

import dask
import dask.array as da
import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from engine_parts import chosen_locally, mixed, same_selection
from supersample._random import as_seed
from supersample.engines import local
from supersample.engines.herding_tasks import arrays_of, deal_out


@pytest.fixture(scope="module")
def mixture():
    rng = np.random.default_rng(0)
    return ss.measures.GaussianMixture(
        np.full(20, 0.05), rng.uniform(-4, 4, (20, 2)), [np.eye(2) * scale for scale in rng.uniform(0.1, 0.6, 20)]
    )


KERNEL = ss.kernels.Gaussian(0.5)


@pytest.mark.parametrize("method", [ss.sbq, ss.wkh, ss.herd])
def test_five_machines_lose_little(method, mixture):
    pool = mixture.sample(10_000, 1)
    single = method(pool, 100, target=mixture, kernel=KERNEL)
    with dask.config.set(scheduler="sync"):
        five = method(da.from_array(pool, chunks=(2_000, 2)), 100, target=mixture, kernel=KERNEL, random_state=0)
    assert five.mmd[-1] <= 1.5 * single.mmd[-1]
    assert five.runs.shape == (6,)
    assert five.runs.min() == five.runs[five.best] == five.mmd[-1]
    assert np.array_equal(pool[five.indices], five.points)
    assert np.array_equal(five.choices[five.best], five.indices)
    parts = np.concatenate(five.choices[:5])
    assert np.unique(parts).size == parts.size == 500
    assert np.isin(five.choices[5], parts).all()
    for rows, mmd in zip(five.choices, five.runs, strict=True):  # all of the rows, so in whatever order
        assert method(pool[rows], 100, target=mixture, kernel=KERNEL).mmd[-1] == pytest.approx(mmd, rel=1e-6)
    # MMD is to the mixture itself, whichever part the points come from.
    again = ss.measures.Empirical(five.points, np.maximum(five.weights, 0)) if method is ss.herd else None
    if again is not None:
        square = mixture.energy(KERNEL) - 2 * mixture.mean_embedding(KERNEL, five.points).mean() + again.energy(KERNEL)
        assert five.mmd[-1] == pytest.approx(np.sqrt(square), rel=1e-9)


@pytest.mark.parametrize("variant", ["fully-corrective", "line-search", "pairwise", "away", "fixed"])
def test_frank_wolfe_on_five_machines_keeps_positive_weights(variant, mixture):
    pool = mixture.sample(5_000, 1)
    options = {"target": mixture, "kernel": KERNEL, "variant": variant}
    single = ss.frank_wolfe(pool, 40, **options)
    with dask.config.set(scheduler="sync"):
        five = ss.frank_wolfe(da.from_array(pool, chunks=(1_000, 2)), 40, random_state=0, **options)
    assert five.mmd[-1] <= 1.2 * single.mmd[-1]
    assert five.runs.shape == (6,)
    assert five.runs.min() == five.runs[five.best] == five.mmd[-1]
    assert np.array_equal(pool[five.indices], five.points)
    assert (five.weights > 0).all()
    assert five.weights.sum() == pytest.approx(1.0)
    # The MMD is that of the points and weights that are returned, to the mixture itself.
    z, own = mixture.mean_embedding(KERNEL, five.points), KERNEL(five.points)
    square = mixture.energy(KERNEL) - 2 * five.weights @ z + five.weights @ own @ five.weights
    assert five.mmd[-1] == pytest.approx(np.sqrt(square), rel=1e-6)


def test_shares_are_equal_random_and_cover_all():
    data = np.arange(2_000.0)[:, None]
    dealt = [[arrays_of(piece) for piece in deal_out(index, data, ["x0"], [2_000] * 5, as_seed(0))] for index in range(5)]
    for pieces in dealt:
        assert np.array_equal(np.sort(np.concatenate([piece["places"] for piece in pieces])), np.arange(2_000))
        assert {len(piece["places"]) for piece in pieces} == {400}
    # So the longest way is 2,000 candidates of a part and 5 x 100 of the union, a quarter of 10,000.
    assert not np.array_equal(dealt[0][0]["places"], dealt[1][0]["places"])


def test_a_frame_that_changes_between_passes_is_told():
    data = np.arange(20.0)[:, None]
    with pytest.raises(ss.errors.InputError, match=r"^partition 1: candidates must be the same .* 25 rows .* and 20 in the"):
        deal_out(1, data, ["x0"], [20, 25], as_seed(0))
    with pytest.raises(ss.errors.InputError, match=r"^partition 2: candidates must be the same .* 0 rows .* and 20 in the"):
        deal_out(2, data, ["x0"], [20, 20], as_seed(0))


def test_a_part_with_too_few_rows_is_not_returned():
    data = np.random.default_rng(0).normal(size=(30, 2))
    parts = [data[:10], data[10:20], data[20:]]
    # The target is just what is dealt to the second part: its ten rows match it, and no fifteen can.
    second = [
        arrays_of(deal_out(index, part, ["x0", "x1"], [10] * 3, as_seed(0))[1])["points"] for index, part in enumerate(parts)
    ]
    found = chosen_locally(parts, "herd", 15, random_state=0, target=np.concatenate(second), bandwidth=0.5)
    assert np.argmin(found.runs) == 1
    assert found.best == 3
    assert len(found) == 15
    assert len(chosen_locally(parts, "herd", 35, random_state=0, replace=True)) == 35


def test_parts_without_rows_keep_their_place():
    none = np.empty((0, 2))
    found = chosen_locally([np.eye(2)[:1], none, none, np.eye(2)[1:]], "herd", 2, random_state=1, bandwidth=1.0)
    assert found.runs.shape == (5,)
    assert np.isinf(found.runs[:4]).sum() >= 2
    assert found.best == 4
    assert sorted(found.indices) == [0, 1]


@pytest.mark.parametrize("options", [{"weighting": "heavy"}, {"kernel": "box"}, {"target": np.eye(3)}, {"replace": "no"}])
def test_wrong_options_are_refused_before_all_rows_are_read(options, monkeypatch):
    monkeypatch.setattr(local._Cluster, "each", lambda *_: pytest.fail("rows were read"))
    with pytest.raises(ss.errors.SupersampleError, match=next(iter(options))):
        chosen_locally([np.eye(2), np.eye(2)], "sbq", 2, **options)


def test_rows_as_their_own_target_are_judged_by_features_they_were_not_chosen_by():
    data = np.random.default_rng(2).normal(size=(6_000, 3))
    with dask.config.set(scheduler="sync"):
        found = ss.herd(da.from_array(data, chunks=(1_500, 3)), 60, bandwidth=2.0, random_state=0)
    true = np.sqrt(ss.mmd2(found.points, data, kernel=ss.kernels.Gaussian(2.0)))
    random = np.sqrt(ss.mmd2(data[:60], data, kernel=ss.kernels.Gaussian(2.0)))
    assert true < 0.4 * random
    assert found.mmd[-1] == pytest.approx(true, rel=0.35)  # 128 features: a relative error of about 1/8 in the square


def test_partitions_decide_and_nothing_else():
    tables = [mixed(size, seed).select(["b", "count"]) for seed, size in enumerate((900, 0, 700))]
    first, second = (chosen_locally(tables, "wkh", 10, random_state=5) for _ in range(2))
    assert same_selection(first, second)
    assert not same_selection(first, chosen_locally(tables[::-1], "wkh", 10, random_state=5))


def test_columns_are_matched_by_name_and_decimals_are_numbers():
    tables = [mixed(size, size).select(["b", "count"]) for size in (900, 700)]
    turned = [tables[0], tables[1].select(["count", "b"])]
    assert same_selection(chosen_locally(tables, "herd", 9, random_state=0), chosen_locally(turned, "herd", 9, random_state=0))
    exact = [table.set_column(1, "count", table["count"].cast(pa.decimal128(22, 2))) for table in tables]
    assert same_selection(chosen_locally(tables, "herd", 9, random_state=0), chosen_locally(exact, "herd", 9, random_state=0))
    with pytest.raises(ss.errors.MismatchError, match=r"columns \['b', 'count'\] in all partitions, got \['b'\]"):
        chosen_locally([tables[0], tables[1].select(["b"])], "herd", 9, target=np.eye(2))


def test_what_cannot_be_done_is_said():
    points = da.random.random((50, 2), chunks=(25, 2))
    with dask.config.set(scheduler="sync"):
        with pytest.raises(ss.errors.InputError, match=r"^m must not be more than the 50 candidates, got 60"):
            ss.sbq(points, 60)
        with pytest.raises(ss.errors.InputError, match=r"^resume must be left out"):
            ss.sbq(points, 5, resume=ss.sbq(np.eye(2), 1))
        with pytest.raises(ss.errors.InputError, match=r"^refine=True needs a target"):
            ss.herd(points, 5, refine=True)
        with pytest.raises(ss.errors.InputTypeError, match=r"^target must be in memory, got Array of a cluster"):
            ss.herd(np.eye(2), 1, target=points)
    with pytest.raises(ss.errors.InputTypeError, match=r"^candidates must have columns of numbers, got 'kind' of type string"):
        chosen_locally([mixed(100, 0)], "herd", 5)
