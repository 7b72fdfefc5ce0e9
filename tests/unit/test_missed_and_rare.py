"""Criticisms of two kinds: groups that the prototypes lack, and rows far from everything."""

import numpy as np
import pytest

import supersample as ss
from oddities import with_groups, with_oddities
from supersample.selection.stream import rare
from supersample.selection.stream.rows import Rows


def rows_of(points, first=0):
    n = len(points)
    return Rows(points, np.arange(first, first + n), np.full(n, 0.5), np.ones(n, dtype=np.int64))


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
def test_candidates_are_those_of_lowest_density_however_they_come(cuts):
    data = np.random.default_rng(2).normal(size=(5_000, 3))
    features = np.concatenate([data, np.ones((5_000, 1))], axis=1)
    mean = features.mean(axis=0)

    def transform(points):
        return np.concatenate([points, np.ones((len(points), 1))], axis=1)

    state = rare.init(100, 3)
    for part in np.split(np.arange(5_000), cuts):
        state = rare.update(state, rows_of(data[part], part[0]), features[part], mean, int(part[-1]) + 1, transform)
    lowest = np.sort(np.argsort(features @ mean, kind="stable")[:100])
    np.testing.assert_array_equal(state.rows.positions, lowest)
    np.testing.assert_allclose(state.density, (features @ mean)[lowest])


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
        state = rare.update(state, part, transform(part.points), means[start + 50], start + 50, transform)
    # The first rows were all there was, and are rare now: after 400 rows they were scored by the mean of these.
    assert state.scored_at == 400
    np.testing.assert_allclose(state.density[:350], transform(points[:350]) @ means[400])
    assert state.density[:50].max() < 0.2 < 0.8 < state.density[50:350].min()


def test_equal_rows_take_one_place_among_the_candidates():
    points = np.repeat([[3.0, 0.1], [4.0, 0.2], [1.0, 0.3]], 40, axis=0)
    state = rare.of_rows(10, rows_of(points), np.array([1.0, 0.0]), 120, lambda rows: rows)
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
