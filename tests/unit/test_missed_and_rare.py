"""Criticisms of two kinds: groups that the prototypes lack, and rows far from everything."""

import copy
import itertools
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import stream_oracles
import supersample as ss
from oddities import with_groups, with_oddities
from supersample.kernels import Gaussian
from supersample.selection.stream import rare
from supersample.selection.stream.rows import Rows


def rows_of(points, first=0):
    n = len(points)
    return Rows(points, np.arange(first, first + n), np.full(n, 0.5), np.ones(n, dtype=np.int64))


def mapping(transform):
    """A feature map of points whose distances are their own."""
    return SimpleNamespace(transform=transform, kernel=Gaussian(1.0))


@pytest.mark.parametrize("seed", range(3))
def test_planted_odd_rows_are_found_as_rare(seed):
    table, odd = with_oddities(12_000, seed)
    found = ss.summarize(table, prototypes=50, criticisms=20, random_state=seed).criticisms
    assert set(found["_kind"].to_pylist()) == {"rare"}
    assert np.isin(odd, found["_row"].to_numpy()).sum() >= 18


@pytest.mark.parametrize("seed", range(3))
def test_groups_without_a_prototype_are_named_once_each(seed):
    table, which = with_groups(12_000, seed)
    summary = ss.summarize(table, prototypes=25, criticisms=20, random_state=seed)
    lacking = set(range(10)) - set(which[summary.prototypes["_row"].to_numpy()].tolist())
    found = summary.criticisms.to_pylist()
    missed = [row for row in found if row["_kind"] == "missed"]
    named = [int(which[row["_row"]]) for row in missed]
    assert len(named) == len(set(named))
    assert set(named) <= lacking
    assert len(lacking) >= 6
    assert len(lacking - set(named)) <= 1
    for row in missed:  # at least its group is nearer to it than to a prototype, within the error of the sample
        share = (which == which[row["_row"]]).mean()
        assert row["_share"] > 0.6 * share
        assert row["_witness"] > 0
    kinds = [row["_kind"] for row in found]
    assert kinds == sorted(kinds)  # missed ones first


@pytest.mark.parametrize("width", [1, 2, 6])
def test_a_cloud_without_groups_has_none_that_are_missed(width):
    data = np.random.default_rng(width).normal(size=(9_000, width))
    found = ss.summarize(data, prototypes=20, criticisms=10, random_state=0).criticisms
    assert set(found["_kind"].to_pylist()) == {"rare"}


#: Tables without groups apart: values on a grid, ties beside a continuum, few prototypes and many, weights of all sizes.
PLAIN = {
    "ages and ratings": lambda rng: {"age": rng.normal(40, 12, 1_500).round(), "rating": rng.integers(1, 6, 1_500)},
    "ages and children": lambda rng: {"age": rng.normal(40, 12, 1_500).round(), "kids": rng.poisson(1.2, 1_500)},
    "ratings": lambda rng: {"rating": rng.integers(1, 6, 1_500), "kids": rng.poisson(1.2, 1_500)},
    "ages": lambda rng: {"age": rng.normal(40, 12, 1_500).round()},
    "normal": lambda rng: {"x": rng.normal(size=1_500)},
    "uniform": lambda rng: {"x": rng.random(1_500)},
    "normal of two kinds": lambda rng: {"x": rng.normal(size=1_500), "kind": rng.choice(["a", "b"], 1_500)},
    "weights": lambda rng: {"x": rng.normal(size=1_500), "w": rng.exponential(size=1_500) ** 3},
}


@pytest.mark.parametrize("prototypes", [20, 100])
@pytest.mark.parametrize("name", PLAIN)
def test_ordinary_tables_have_no_groups_that_are_missed(name, prototypes):
    for seed in range(3):
        table = PLAIN[name](np.random.default_rng(seed))
        weight = "w" if "w" in table else None
        found = ss.summarize(table, prototypes, random_state=seed, weight=weight).criticisms
        assert "missed" not in found["_kind"].to_pylist()


def test_equal_rows_far_from_the_others_are_a_missed_group():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(3_000, 3))
    data[::75] = [-9.0, -9.0, 4.0]  # 40 rows of a value that stands for none
    found = ss.summarize(data, prototypes=8, criticisms=5, random_state=0).criticisms.to_pylist()
    assert [row["_kind"] for row in found].count("missed") == 1
    assert found[0]["_row"] % 75 == 0
    assert found[0]["_share"] == pytest.approx(40 / 3_000)


@pytest.mark.parametrize("seed", range(3))
def test_missed_groups_are_in_the_order_of_their_shares(seed):
    table, _ = with_groups(12_000, seed)
    found = ss.summarize(table, prototypes=15, criticisms=20, random_state=seed).criticisms.to_pylist()
    shares = [row["_share"] for row in found if row["_kind"] == "missed"]
    assert len(shares) >= 5
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("order", ["shuffled", "heap first", "heap last", "merged"])
def test_a_far_heap_does_not_hide_rows_that_are_alone(order):
    """A twentieth of the rows in a dense heap, with prototypes: none of them is rare, and the eight rows elsewhere are."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(20_000, 4))
    data[:1_000] = 4.5 + 0.15 * rng.normal(size=(1_000, 4))
    alone = -np.abs(np.random.default_rng(2).normal(size=(8, 4)))  # no two of them are near each other
    data[-8:] = 6 * alone / np.linalg.norm(alone, axis=1)[:, None]
    places = {"heap first": np.arange(20_000), "heap last": np.arange(20_000)[::-1]}.get(order, rng.permutation(20_000))
    if order == "merged":
        left = ss.summarize(data[places[:9_000]], prototypes=100, criticisms=20, random_state=0)
        summary = left.merge(ss.summarize(data[places[9_000:]], like=left, random_state=1))
    else:
        summary = ss.summarize(data[places], prototypes=100, criticisms=20, random_state=0)
    shown = places[summary.criticisms["_row"].to_numpy()]
    assert (places[summary.prototypes["_row"].to_numpy()] < 1_000).sum() >= 3
    assert (shown < 1_000).sum() == 0
    assert (shown >= 19_992).sum() == 8


def test_there_are_fewer_than_asked_for_where_few_rows_are_rare():
    grid = np.random.default_rng(0).integers(0, 6, size=(3_000, 2)).astype(float)
    grid[77] = [30.0, 2.0]
    summary = ss.summarize(grid, prototypes=20, criticisms=10, random_state=0)
    assert summary.criticisms["_row"].to_pylist() == [77]
    said = "  criticisms  1 row that they do not show: 1 rare (10 requested; but for copies, no other row is missed or rare)"
    assert said in str(summary).splitlines()


def test_all_of_many_outliers_in_a_small_table_are_shown():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(400, 3))
    data[:16] = 12.0 * rng.normal(size=(16, 3))
    far = np.flatnonzero(np.linalg.norm(data, axis=1) > 8)
    summary = ss.summarize(data, prototypes=10, criticisms=20, random_state=0)
    shown = np.concatenate([summary.criticisms["_row"].to_numpy(), summary.prototypes["_row"].to_numpy()])
    assert np.isin(far, shown).all()


def test_values_of_one_row_each_are_rare_where_all_other_rows_have_copies():
    rng = np.random.default_rng(1)
    lone = rng.random(300) < 0.06
    kinds = np.where(lone, [f"odd {place}" for place in range(300)], rng.choice(["a", "b", "c"], 300))
    summary = ss.summarize({"kind": kinds, "side": rng.choice(["x", "y"], 300)}, 20, 20, random_state=0)
    shown = {*summary.criticisms["_row"].to_pylist(), *summary.prototypes["_row"].to_pylist()}
    assert 10 < lone.sum() < 20
    assert set(np.flatnonzero(lone).tolist()) <= shown


def test_rare_rows_are_ranked_by_the_distance_to_their_sixth_neighbour():
    data = np.random.default_rng(0).normal(size=(3_000, 2))
    data[[7, 1_400, 2_999]] = [[9.0, 0.0], [0.0, 20.0], [-14.0, 0.0]]
    found = ss.summarize(data, prototypes=20, criticisms=3, random_state=0).criticisms
    assert found["_row"].to_pylist() == [1_400, 2_999, 7]


def test_copies_of_an_odd_row_are_shown_once():
    data = np.random.default_rng(0).normal(size=(3_000, 2))
    data[::600] = [15.0, 15.0]
    data[1_000] = [-12.0, 0.0]
    found = ss.summarize(data, prototypes=20, criticisms=3, random_state=0).criticisms
    places = found["_row"].to_pylist()
    assert len([row for row in places if row % 600 == 0]) == 1
    assert 1_000 in places


def test_rows_of_a_missed_group_are_not_shown_again_as_rare():
    rng = np.random.default_rng(0)
    data = np.concatenate([rng.normal(size=(3_000, 2)), rng.normal([25.0, 0.0], 1.5, size=(12, 2))])
    found = ss.summarize(data, prototypes=15, criticisms=8, random_state=0).criticisms
    group = found["_row"].to_numpy() >= 3_000
    assert group.tolist() == [True] + [False] * 7
    assert found["_kind"].to_pylist() == ["missed"] + ["rare"] * 7


def test_the_papers_choice_is_there_with_a_regularizer():
    data = np.random.default_rng(0).normal(size=(2_000, 2))
    paper = ss.SuperSampler(20, 6, regularizer="logdet", random_state=0).fit(data)
    assert paper.criticism_kind_.tolist() == ["witness"] * 6
    sizes = np.abs(paper.criticism_witness_)
    assert (np.diff(sizes) <= 0).all()
    plain = ss.SuperSampler(20, 6, random_state=0).fit(data)
    assert plain.criticism_kind_.tolist() == ["rare"] * 6
    np.testing.assert_array_equal(plain.prototypes_, ss.SuperSampler(20, random_state=0).fit(data).prototypes_)


@pytest.mark.parametrize("cuts", [(1,), (700, 701, 2_500), (3_500,)])
def test_candidates_are_those_of_lowest_density_however_they_come(cuts, monkeypatch):
    monkeypatch.setattr(rare, "_CROWD", 10_000)
    density = np.random.default_rng(2).permutation(5_000)[:, None] / 50.0
    state = rare.init(100, 1)
    for part in np.split(np.arange(5_000), cuts):
        rows = rows_of(density[part], part[0])
        state = rare.update(state, rows, density[part], np.ones(1), int(part[-1]) + 1, mapping(lambda rows: rows))
    state = rare.settled(state)
    assert 50 <= len(state.rows) <= 100
    assert np.isin(np.flatnonzero(density < 1), state.rows.positions).all()
    np.testing.assert_allclose(state.density, density[state.rows.positions, 0])


def heap_and_plane(n=2_400):
    """Rows whose density is their first coordinate: a fifth in a heap that is less dense than the others, and some copies."""
    rng = np.random.default_rng(4)
    points = rng.uniform(5, 50, size=(n, 2))
    heap = rng.random(n) < 0.2
    points[heap] = rng.normal(0, 0.01, size=(heap.sum(), 2))
    points[::150] = points[0]
    return points


def offered(points, step=20, each=lambda state: state):
    state, met = rare.init(100, 2), mapping(lambda rows: rows)
    for start in range(0, len(points), step):
        part, seen = points[start : start + step], start + step
        mean = np.array([1.0, 1e-4 * seen])  # it moves, so that scoring again changes densities
        state = each(rare.update(state, rows_of(part, start), part, mean, seen, met))
    return state


def test_rows_that_wait_change_nothing():
    points, waited = heap_and_plane(), []

    def watched(state):
        waited.append(len(state.waiting))
        return state

    found, joined = offered(points, each=watched), offered(points, each=rare.settled)
    assert max(waited) > 3
    assert sum(after < before for before, after in itertools.pairwise(waited)) > 5  # they left, or were scored again
    assert stream_oracles.to_bytes(rare.settled(found)) == stream_oracles.to_bytes(joined)


def test_few_rows_that_enter_copy_none_of_the_others():
    points = heap_and_plane()
    state = rare.settled(offered(points))
    lone = rows_of(np.array([[-1.0, 30.0]]), len(points))
    after = rare.update(state, lone, lone.points, np.array([1.0, 0.0]), len(points) + 1, mapping(lambda rows: rows))
    assert after.rows is state.rows
    assert after.density is state.density
    assert rare.settled(after).rows.positions[-1] == len(points)


def test_rare_rows_are_the_same_bytes_in_any_batches_pickled_and_merged():
    """Of all rows at once, those that enter wait over several chunks; what is seen from outside has none that wait."""
    data = np.random.default_rng(0).normal(size=(30_000, 2))
    start = ss.SuperSampler(5, 2, n_features=16, random_state=0).fit(data[:7_000])
    other = start.empty_like().partial_fit(data[:5_000])
    whole = copy.deepcopy(start).partial_fit(data[7_000:])
    parts = start
    for first, last in itertools.pairwise([7_000, 9_500, 12_300, 20_000, 30_000]):
        parts = pickle.loads(pickle.dumps(copy.copy(parts).partial_fit(data[first:last])))
    for mine, theirs in ((whole, parts), (whole.merge(other), parts.merge(other))):
        state = mine._now.state
        assert 50 <= len(state.rare.rows) <= 100
        assert not state.rare.waiting
        assert stream_oracles.to_bytes(state) == stream_oracles.to_bytes(theirs._now.state)


def test_a_heap_of_low_density_leaves_room_for_rows_that_are_alone():
    rng = np.random.default_rng(0)
    points = rng.uniform(5, 50, size=(1_000, 2))  # the density is the first coordinate
    heap = rng.random(1_000) < 0.2
    points[heap] = rng.normal(0, 0.01, size=(heap.sum(), 2))
    state = rare.init(100, 2)
    for start in range(0, 1_000, 100):
        part = slice(start, start + 100)
        state = rare.update(
            state, rows_of(points[part], start), points[part], np.array([1.0, 0.0]), start + 100, mapping(lambda rows: rows)
        )
    state = rare.settled(state)
    assert heap[state.rows.positions].sum() < 50
    lowest = np.flatnonzero(~heap)[np.argsort(points[~heap, 0])[:20]]
    assert np.isin(lowest, state.rows.positions).sum() >= 10


def test_candidates_are_scored_again_when_the_mean_has_moved():
    points = np.repeat([5.0, -5.0], [50, 450])[:, None] + np.linspace(0, 0.1, 500)[:, None]

    def transform(rows):
        return np.stack([np.exp(-0.5 * (rows[:, 0] - 5) ** 2), np.exp(-0.5 * (rows[:, 0] + 5) ** 2)], axis=1)

    state = rare.init(1_000, 1)
    means = {}
    for start in range(0, 500, 50):
        seen = points[: start + 50]
        part = rows_of(points[start : start + 50], start)
        means[start + 50] = transform(seen).mean(axis=0)
        state = rare.update(state, part, transform(part.points), means[start + 50], start + 50, mapping(transform))
    state = rare.settled(state)
    # The first rows were all there was, and are rare now: after 200 rows they were scored by the mean of these.
    assert state.scored_at == 200
    np.testing.assert_allclose(state.density[:200], transform(points[:200]) @ means[200])
    assert state.density[:50].max() < 0.3 < 0.7 < state.density[50:200].min()


def test_equal_rows_take_one_place_among_the_candidates():
    points = np.repeat([[3.0, 0.1], [4.0, 0.2], [1.0, 0.3]], 40, axis=0)
    state = rare.of_rows(10, rows_of(points), np.array([1.0, 0.0]), 120, mapping(lambda rows: rows))
    assert state.rows.positions.tolist() == [0, 40, 80]


def test_merged_summaries_show_the_rare_rows_of_both():
    table, odd = with_oddities(12_000, 5)
    left = ss.summarize(table.slice(0, 6_000), prototypes=30, criticisms=20, random_state=0)
    right = ss.summarize(table.slice(6_000), like=left)
    found = left.merge(right).criticisms
    assert np.isin(odd, found["_row"].to_numpy()).sum() >= 18


def test_rows_of_any_batches_give_the_same_criticisms():
    table, _ = with_oddities(7_000, 1)
    whole = ss.summarize(iter([table]), prototypes=20, criticisms=8, random_state=0)
    parts = ss.summarize((table.slice(at, 999) for at in range(0, 7_000, 999)), prototypes=20, criticisms=8, random_state=0)
    assert whole.criticisms.equals(parts.criticisms)
