"""How many planted odd rows and missed groups the criticisms find, beside two detectors of outliers: `make level` prints it."""

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

import supersample as ss
from oddities import N_ODD, with_groups, with_oddities

ROWS = 30_000


def shown_odd_rows(seed):
    """Return how many of twenty odd rows are among twenty criticisms."""
    table, odd = with_oddities(ROWS, seed)
    found = ss.summarize(table, prototypes=100, criticisms=N_ODD, random_state=seed).criticisms
    return int(np.isin(odd, found["_row"].to_numpy()).sum())


def by_others(seed):
    """Return how many are among the twenty most unusual rows by LOF and by IsolationForest, of all rows."""
    table, odd = with_oddities(ROWS, seed)
    states = np.array(table["state"].to_pylist())
    numbers = [table[f"x{place}"].to_numpy() for place in range(8)]
    points = np.column_stack([*numbers, *((states == each).astype(float) for each in np.unique(states))])
    local = LocalOutlierFactor(n_neighbors=20).fit(points).negative_outlier_factor_
    forest = IsolationForest(n_estimators=200, random_state=seed).fit(points).score_samples(points)
    return tuple(int(np.isin(odd, np.argsort(each)[:N_ODD]).sum()) for each in (local, forest))


def named_groups(seed, prototypes=20):
    """Return how many groups of 1% have no prototype, how many of these are named, and how many rows are called missed."""
    table, which = with_groups(ROWS, seed)
    summary = ss.summarize(table, prototypes=prototypes, criticisms=20, random_state=seed)
    lacking = set(range(10)) - set(which[summary.prototypes["_row"].to_numpy()].tolist())
    found = summary.criticisms
    missed = which[found["_row"].to_numpy()[np.array(found["_kind"].to_pylist()) == "missed"]]
    return len(lacking), len(lacking & set(missed.tolist())), missed.size


@pytest.mark.level
def test_planted_odd_rows_are_among_the_criticisms():
    ours = [shown_odd_rows(seed) for seed in range(10, 20)]
    others = np.array([by_others(seed) for seed in range(10, 20)])
    print(f"\nodd rows among {N_ODD} criticisms, of {N_ODD}: {ours}, mean {np.mean(ours):.1f}")  # noqa: T201
    print(f"  LOF {others[:, 0].tolist()}, mean {others[:, 0].mean():.1f}")  # noqa: T201
    print(f"  IsolationForest {others[:, 1].tolist()}, mean {others[:, 1].mean():.1f}")  # noqa: T201
    assert np.mean(ours) >= 19


@pytest.mark.level
def test_groups_without_a_prototype_are_named():
    found = np.array([named_groups(seed) for seed in range(10, 20)])
    lacking, named, missed = found.sum(axis=0)
    print(f"\ngroups of 1%: {lacking} without a prototype, {named} of them named; {missed} rows are called missed")  # noqa: T201
    assert named >= 0.9 * lacking
    assert missed <= named + 2
