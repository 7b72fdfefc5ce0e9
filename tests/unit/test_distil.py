"""`ss.distil`: the rows and weights of the way by hand, every class kept, and errors that say what to do."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import herding_oracles as oracles
import supersample as ss
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.kernels import Gaussian

RNG = np.random.default_rng(3)
X = RNG.normal(size=(600, 4)) @ RNG.normal(size=(4, 4))
Y = (X @ [1.0, -1.0, 0.5, 0.2] + RNG.logistic(size=600) > 0).astype(int)
NUMBERS = X @ [1.0, -1.0, 0.5, 0.2] + RNG.normal(size=600)
THREE = np.where(Y == 1, "yes", "no").astype(object)
THREE[[5, 300]] = "rare"


@pytest.mark.parametrize("method", ["sbq", "wkh", "herd"])
def test_rows_and_weights_are_those_of_the_way_by_hand(method):
    model = LogisticRegression().fit(X, Y)
    found = ss.distil(model, X, Y, 25, method=method)
    rows = np.column_stack([X, Y])
    scores = ss.features.Fisher(model, kind="whitened", sample=rows).transform(rows)
    kernel = Gaussian(np.sqrt(scores.shape[1]))
    by_hand = getattr(ss, method)(scores, 25, target=scores, kernel=kernel).indices
    gram, z = kernel(scores[by_hand]), kernel(scores, scores[by_hand]).mean(axis=0)
    best = oracles.simplex_by_steps(gram, z)
    np.testing.assert_array_equal(found.indices, by_hand[np.isin(by_hand, found.indices)])
    all_weights = np.zeros(25)
    all_weights[np.isin(by_hand, found.indices)] = found.weights / len(found)
    energy = kernel(scores).mean()
    assert found.mmd**2 == pytest.approx(oracles.mmd2(gram, z, energy, range(25), all_weights), abs=1e-12)
    assert found.mmd**2 <= oracles.mmd2(gram, z, energy, range(25), best) + 1e-10


def test_the_refit_is_nearer_to_the_model_than_random_rows():
    model = LogisticRegression().fit(X, Y)
    small = ss.distil(model, X, Y, 40)
    at_random = []
    for seed in range(20):
        some = np.random.default_rng(seed).choice(600, 40, replace=False)
        at_random.append(log_loss(Y, LogisticRegression().fit(X[some], Y[some]).predict_proba(X)))
    full, ours = log_loss(Y, model.predict_proba(X)), log_loss(Y, small.refit().predict_proba(X))
    assert ours - full < (np.mean(at_random) - full) / 3


@pytest.mark.parametrize("method", ["sbq", "wkh", "herd", "frank_wolfe"])
@pytest.mark.parametrize("m", [3, 10, 60])
def test_every_class_is_kept(method, m):
    found = ss.distil(LogisticRegression(), X, THREE, m, method=method)
    assert set(found.labels) == {"no", "rare", "yes"}
    assert len(found) <= m
    assert len(set(found.indices.tolist())) == len(found)
    assert (found.weights > 0).all()
    assert found.weights.mean() == pytest.approx(1.0)
    rare = found.weights[found.labels == "rare"].sum() / len(found)
    assert rare >= min(2 / 600, 1 / m) * (1 - 1e-9)
    assert set(found.refit().classes_) == {"no", "rare", "yes"}


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(0.1)])
def test_a_regression_keeps_its_line(model):
    small = ss.distil(model, X, NUMBERS, 60)
    whole = model.fit(X, NUMBERS).coef_
    at_random = []
    for seed in range(20):
        some = np.random.default_rng(seed).choice(600, 60, replace=False)
        at_random.append(np.abs(type(model)().fit(X[some], NUMBERS[some]).coef_ - whole).max())
    assert np.abs(small.refit().coef_ - whole).max() < np.mean(at_random) / 2


def test_containers_stay_what_they_were_and_nothing_is_written_to():
    frame, labels = pd.DataFrame(X, columns=list("abcd")), pd.Series(THREE)
    model = LogisticRegression()
    found = ss.distil(model, frame, labels, 20)
    assert isinstance(found.points, pd.DataFrame)
    assert isinstance(found.labels, pd.Series)
    pd.testing.assert_frame_equal(found.points, frame.iloc[found.indices])
    assert not hasattr(model, "coef_")
    assert found.model.classes_.tolist() == ["no", "rare", "yes"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.mmd = 0.0
    again = ss.distil(found.model, X, THREE, 20)
    np.testing.assert_array_equal(again.indices, found.indices)


def test_another_target_and_bandwidth_change_the_choice():
    plain = ss.distil(LogisticRegression(), X, Y, 20)
    aimed = ss.distil(LogisticRegression(), X, Y, 20, target=(X[:50], Y[:50]))
    assert plain.indices.tolist() != aimed.indices.tolist()
    assert plain.indices.tolist() != ss.distil(LogisticRegression(), X, Y, 20, bandwidth=0.3).indices.tolist()


@pytest.mark.parametrize(
    ("kind", "words", "given"),
    [
        (InputTypeError, "LogisticRegression, SGDClassifier", {"model": SVC()}),
        (
            InputTypeError,
            r"got Pipeline, .*model\[:-1\].transform",
            {"model": make_pipeline(StandardScaler(), LogisticRegression())},
        ),
        (
            InputTypeError,
            "got GridSearchCV, .*best_estimator_",
            {"model": GridSearchCV(LogisticRegression(), {"C": [1.0, 2.0]})},
        ),
        (InputTypeError, "model must be an estimator", {"model": "logistic"}),
        (InputError, "number of classes of y, 3", {"y": THREE, "m": 2}),
        (InputError, "not be more than the 600 rows", {"m": 601}),
        (MismatchError, "one label for each of the 600", {"y": Y[:10]}),
        (InputError, "method must be", {"method": "best"}),
        (InputTypeError, "target must be a tuple", {"target": X}),
        (InputError, "'maybe'", {"target": (X[:2], ["yes", "maybe"]), "y": THREE}),
        (InputError, "y holds 2, and the model was fitted to", {"model": LogisticRegression().fit(X, Y), "y": Y + 1}),
        (InputError, "bandwidth", {"bandwidth": -1.0}),
    ],
)
def test_what_cannot_be_distilled_is_refused(kind, words, given):
    arguments = {"model": LogisticRegression(), "y": Y, "m": 10} | given
    with pytest.raises(kind, match=words):
        ss.distil(arguments.pop("model"), X, arguments.pop("y"), arguments.pop("m"), **arguments)


@pytest.mark.parametrize("method", ["sbq", "wkh", "herd"])
def test_a_class_whose_scores_vanish_keeps_its_share(method):
    far = np.concatenate([X, X[:12] + 60.0])
    labels = np.concatenate([THREE, np.full(12, "far", dtype=object)])
    found = ss.distil(LogisticRegression(C=1e6, max_iter=5_000), far, labels, 30, method=method)
    share = found.weights[found.labels == "far"].sum() / len(found)
    assert share >= 12 / 612 * (1 - 1e-9)
