"""`SuperSampler.fit_resample`: labelled rows of the same kind as those that came in, every class among them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.neighbors import KNeighborsClassifier

import supersample as ss
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.summary.by_class import divide

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def wine():
    data = load_wine()
    return data.data / data.data.std(axis=0), data.target


def test_rows_and_labels_are_those_of_the_data(wine):
    X, y = wine
    sampler = ss.SuperSampler(30, random_state=0)
    small, labels = sampler.fit_resample(X, y)
    assert small.shape == (30, X.shape[1])
    assert small.dtype == X.dtype
    assert (X[sampler.sample_indices_] == small).all()
    assert (y[sampler.sample_indices_] == labels).all()
    assert (np.diff(sampler.sample_indices_) > 0).all()


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
@pytest.mark.parametrize("size", [12, 61])
def test_classes_keep_their_shares_to_within_a_row(load, size):
    X, y = load(return_X_y=True)
    _, labels = ss.SuperSampler(size, random_state=0, n_features=64).fit_resample(X, y)
    assert labels.size == size
    counts, found = np.bincount(y), np.bincount(labels, minlength=y.max() + 1)
    assert (np.abs(found - size * counts / y.size) < 1).all()


def test_each_class_is_chosen_as_by_itself(wine):
    """The rows of a class are nearer to it than random ones, by the exact kernel."""
    X, y = wine
    small, labels = ss.SuperSampler(36, random_state=0).fit_resample(X, y)
    for each in np.unique(y):
        own, chosen = X[y == each], small[labels == each]
        kernel, drawn = ss.kernels.Gaussian(4.0), np.random.default_rng(0)
        random = [ss.mmd2(own, drawn.choice(own, len(chosen), replace=False), kernel=kernel) for _ in range(30)]
        assert ss.mmd2(own, chosen, kernel=kernel) < np.mean(random) / 2


def test_a_model_learns_more_from_them_than_from_random_rows():
    X, y = load_digits(return_X_y=True)
    train, held = slice(0, 1_200), slice(1_200, None)

    def score(rows, labels):
        return KNeighborsClassifier(1).fit(rows, labels).score(X[held], y[held])

    chosen = score(*ss.SuperSampler(100, random_state=0).fit_resample(X[train], y[train]))
    random = [np.random.default_rng(seed).choice(1_200, 100, replace=False) for seed in range(20)]
    assert chosen > np.mean([score(X[train][rows], y[train][rows]) for rows in random])


def test_a_rare_class_is_never_lost():
    X = RNG.normal(size=(2_000, 2))
    y = np.zeros(2_000, dtype=bool)
    y[1_234] = True
    sampler = ss.SuperSampler(5, random_state=0)
    _, labels = sampler.fit_resample(X, y)
    assert labels.sum() == 1
    assert 1_234 in sampler.sample_indices_


FRAME = pd.DataFrame({"a": RNG.normal(size=90), "b": RNG.integers(0, 5, 90)}, index=np.arange(90) * 7)
LABELS = np.repeat(["x", "y", "z"], 30)


@pytest.mark.parametrize(
    ("X", "y", "equal"),
    [
        (FRAME, pd.Series(LABELS, index=FRAME.index, name="kind"), lambda got, came: got.equals(came)),
        (FRAME, pd.Series(LABELS, index=FRAME.index, dtype="category"), lambda got, came: got.equals(came)),
        (pl.DataFrame(FRAME), pl.Series("kind", LABELS.tolist()), lambda got, came: got.equals(came)),
        (pa.table({"a": FRAME.a, "b": FRAME.b}), pa.array(LABELS.tolist()), lambda got, came: got.equals(came)),
        (FRAME.to_numpy().tolist(), LABELS.tolist(), lambda got, came: got == came),
        (FRAME.to_numpy(np.float32), LABELS, lambda got, came: got.dtype == came.dtype and (got == came).all()),
    ],
    ids=["pandas", "categories", "polars", "pyarrow", "lists", "float32"],
)
def test_the_kind_that_came_goes_out(X, y, equal):
    sampler = ss.SuperSampler(12, random_state=0)
    small, labels = sampler.fit_resample(X, y)
    assert type(small) is type(X)
    assert type(labels) is type(y)
    rows = sampler.sample_indices_.tolist()
    expected = [X.iloc[rows], y.iloc[rows]] if hasattr(X, "iloc") else None
    if isinstance(X, pa.Table):
        expected = [X.take(rows), y.take(rows)]
    elif isinstance(X, list):
        expected = [[X[row] for row in rows], [y[row] for row in rows]]
    elif expected is None:
        expected = [X[rows], y[rows]]
    assert equal(small, expected[0])
    assert equal(labels, expected[1])
    assert len(rows) == 12


def test_the_same_seed_gives_the_same_rows_and_what_was_fitted_stays(wine):
    X, y = wine
    sampler = ss.SuperSampler(15, 2, random_state=3).fit(X[:100])
    before = sampler.prototype_indices_
    first = sampler.fit_resample(X, y)[0]
    assert (sampler.prototype_indices_ == before).all()
    assert sampler.n_seen_ == 100
    again = clone(sampler)
    assert not hasattr(again, "sample_indices_")
    assert (again.fit_resample(X, y)[0] == first).all()


def test_few_rows_are_all_kept(wine):
    X, y = wine
    sampler = ss.SuperSampler(500, random_state=0)
    small, labels = sampler.fit_resample(X, y)
    assert (small == X).all()
    assert (labels == y).all()
    copies = ss.SuperSampler(20, random_state=0).fit_resample(np.ones((50, 2)), np.repeat([0, 1], 25))[1]
    assert np.bincount(copies).tolist() == [10, 10]


@given(st.lists(st.integers(1, 500), min_size=1, max_size=12), st.integers(0, 3_000))
def test_rows_are_divided_in_proportion(counts, more):
    counts = np.array(counts)
    total = min(counts.size + more, counts.sum())
    found = divide(total, counts)
    parts = total * counts / counts.sum()
    assert found.sum() == total
    assert (found >= 1).all()
    assert (found <= counts).all()
    assert (found < parts + 1).all() or (found[found >= parts + 1] == 1).all()
    if (parts >= 1).all():
        assert (np.abs(found - parts) < 1).all()


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (np.arange(10.0) / 3, InputError, "y must hold the class of each row, got float64 values.*classes first"),
        ([0, 1, None, 1, 0, 1, 0, 1, 0, 1], InputError, "y must hold the class of each row"),
        (["a", None] * 5, InputError, "y must hold the class of each row.*without missing ones"),
        ([0.0, np.nan] * 5, InputError, "y must hold the class of each row"),
        (np.array(["a", np.nan] * 5, dtype=object), InputError, "y must hold the class of each row"),
        (pd.Series(["a", None] * 5, dtype="string"), InputError, "y must hold the class of each row"),
        (np.arange(10).astype("datetime64[D]"), InputError, "y must hold the class of each row"),
        (np.zeros((10, 2), dtype=int), InputError, r"y must have one dimension.*\(10, 2\)"),
        ([0, 1], MismatchError, "one label for each of the 10 rows of X, got 2"),
        (list("abcdefghij"), InputError, "at least the number of classes of y, 10.*got 4"),
    ],
)
def test_what_are_no_classes_is_refused(y, error, message):
    sampler = ss.SuperSampler(4, random_state=0)
    with pytest.raises(error, match=message):
        sampler.fit_resample(RNG.normal(size=(10, 2)), y)
    assert not hasattr(sampler, "sample_indices_")


def test_it_is_a_step_of_imbalanced_learns_pipelines():
    """These take a step that resamples, and refuse one that also transforms."""
    assert not hasattr(ss.SuperSampler, "transform")
    assert not hasattr(ss.SuperSampler, "fit_transform")


def test_quotas_say_how_many_of_each_class():
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = np.repeat(["a", "b", "c"], [200, 80, 20])
    _, labels = ss.SuperSampler(random_state=0).fit_resample(X, y, quotas={"a": 10, "b": 0, "c": 20})
    assert {each: int((labels == each).sum()) for each in "abc"} == {"a": 10, "b": 0, "c": 20}


@pytest.mark.parametrize(
    ("quotas", "error", "words"),
    [
        ({"a": 3}, InputError, "quotas has no number for class 'b' of y"),
        ({"a": 3, "b": 3, "d": 1}, InputError, "quotas has 'd', which is no class of y"),
        ({"a": 3, "b": 90}, InputError, "quotas asks for 90 rows of class 'b', which has 80"),
        ({"a": 0, "b": 0}, InputError, "at least one row"),
        ({"a": 1.5, "b": 1}, InputTypeError, "quotas"),
        ([3, 3], InputTypeError, "quotas must be a mapping"),
    ],
)
def test_quotas_that_cannot_be(quotas, error, words):
    X, y = np.random.default_rng(0).normal(size=(280, 2)), np.repeat(["a", "b"], [200, 80])
    with pytest.raises(error, match=words):
        ss.SuperSampler(random_state=0).fit_resample(X, y, quotas=quotas)


@pytest.mark.parametrize("least", [0.3, 1.5])
def test_rows_of_all_classes_lie_apart_and_missing_ones_are_told(least):
    X = np.random.default_rng(0).normal(size=(600, 2))
    y = np.where(X[:, 0] + np.random.default_rng(1).normal(size=600) > 1.0, "high", "low")  # the classes overlap
    sampler = ss.SuperSampler(min_distance=least, random_state=0)
    small, labels = sampler.fit_resample(X, y, quotas={"high": 12, "low": 25})
    away = np.linalg.norm(small[:, None] - small, axis=2) + np.diag(np.full(len(small), np.inf))
    assert away.min() >= least
    high, low = (labels == "high").sum(), (labels == "low").sum()
    said = f"fewer rows than asked for: {high} of 12 rows of class high, {low} of 25 rows of class low"
    assert (high, low, sampler.sample_note_) == (12, 25, "") if least < 1.0 else sampler.sample_note_ == said
    with pytest.raises(InputError, match="without half_life where it has min_distance, got 9"):
        ss.SuperSampler(10, min_distance=least, half_life=9).fit_resample(X, y)


def test_classes_are_represented_by_their_own_rows_alone():
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.repeat([0, 1], 25)
    for options in ({"target": X}, {"include": X[:3]}):
        with pytest.raises(InputError, match="fit_resample needs a sampler without target and include"):
            ss.SuperSampler(10, **options).fit_resample(X, y)
