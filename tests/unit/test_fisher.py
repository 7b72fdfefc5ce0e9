"""Fisher features against differences of the log-likelihood, and selections in their space."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import (
    GammaRegressor,
    HuberRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVR

import supersample as ss
from supersample.errors import InputError, InputTypeError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))


def rows(inputs, labels):
    return np.column_stack([inputs, labels])


def by_differences(log_likelihood, theta, step=1e-5):
    """d log p / d theta for every row by central differences."""
    columns = []
    for k in range(theta.size):
        offset = np.zeros_like(theta).reshape(-1)
        offset[k] = step
        offset = offset.reshape(theta.shape)
        columns.append((log_likelihood(theta + offset) - log_likelihood(theta - offset)) / (2 * step))
    return np.stack(columns, axis=1)


def softmax_likelihood(theta, inputs, labels):
    logits = np.column_stack([inputs, np.ones(len(inputs))]) @ theta.T
    return logits[np.arange(len(inputs)), labels] - np.log(np.exp(logits).sum(axis=1))


def test_binary_logistic():
    y = (X[:, 0] + RNG.normal(size=400) > 0).astype(int) * 2 - 1
    model = LogisticRegression().fit(X, y)
    theta = np.append(model.coef_[0], model.intercept_)

    def likelihood(theta):
        logit = X @ theta[:-1] + theta[-1]
        return -np.logaddexp(0.0, -y * logit)

    found = ss.features.Fisher(model).transform(rows(X, y))
    np.testing.assert_allclose(found, by_differences(likelihood, theta), atol=1e-9)


def test_multinomial_logistic():
    inputs, y = make_classification(300, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    model = LogisticRegression().fit(inputs, y)
    theta = np.column_stack([model.coef_, model.intercept_])
    found = ss.features.Fisher(model).transform(rows(inputs, y))
    np.testing.assert_allclose(found, by_differences(lambda t: softmax_likelihood(t, inputs, y), theta), atol=1e-8)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(), LinearRegression(fit_intercept=False)], ids=repr)
def test_linear_regression(model):
    y = X @ [1.0, 2.0, 0.0, -1.0] + 0.5 * RNG.normal(size=400)
    model.fit(X, y)
    found = ss.features.Fisher(model, noise=0.5).transform(rows(X, y))
    residual = (y - model.predict(X)) / 0.25
    expected = residual[:, None] * (X if not model.fit_intercept else np.column_stack([X, np.ones(400)]))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def fitted():
    y = (X[:, 0] - X[:, 1] + RNG.normal(size=400) > 0).astype(float)
    return LogisticRegression(C=1e6, tol=1e-10, max_iter=1000).fit(X, y), rows(X, y)


def test_whitened_features_have_the_identity_for_information_and_ignore_the_scale_of_inputs():
    model, data = fitted()
    phi = ss.features.Fisher(model, kind="whitened", sample=data)
    features = phi.transform(data)
    np.testing.assert_allclose(features.T @ features / len(data), np.eye(5), atol=1e-9)
    scaled = data * np.array([10.0, 0.1, 1.0, 3.0, 1.0])
    other = LogisticRegression(C=1e6, tol=1e-10, max_iter=1000).fit(scaled[:, :-1] / [10.0, 0.1, 1.0, 3.0], data[:, -1])
    other.coef_ = other.coef_ / [10.0, 0.1, 1.0, 3.0]
    again = ss.features.Fisher(other, kind="whitened", sample=scaled)
    np.testing.assert_allclose(again.kernel(scaled[:20]), phi.kernel(data[:20]), rtol=1e-6, atol=1e-9)


def test_the_mean_score_of_the_training_data_is_zero_without_a_penalty():
    model, data = fitted()
    assert np.abs(ss.features.Fisher(model).transform(data).mean(axis=0)).max() < 1e-5


def test_features_are_the_kernel_and_rows_stand_alone():
    model, data = fitted()
    phi = ss.features.Fisher(model, kind="whitened", sample=data)
    features = phi.transform(data)
    np.testing.assert_allclose(phi.kernel(data[:30]), features[:30] @ features[:30].T, atol=1e-10)
    np.testing.assert_array_equal(phi.transform(data[7:8]), features[7:8])
    assert phi.is_exact
    assert phi == ss.features.Fisher(model, kind="whitened", sample=data)
    assert phi != ss.features.Fisher(model)


def test_whitening_by_other_rows_is_another_map():
    model, data = fitted()
    first, second = (ss.features.Fisher(model, kind="whitened", sample=part) for part in (data[:200], data[200:]))
    assert first != second
    assert first.kernel != second.kernel
    assert first == ss.features.Fisher(model, kind="whitened", sample=data[:200])
    means = [ss.MeanEmbedding(phi).update(data) for phi in (first, second)]
    with pytest.raises(ValueError, match="feature map"):
        means[0].merge(means[1])


POSITIVE = np.abs(np.random.default_rng(3).normal(size=400)) + 0.1
BINARY = (X[:, 0] + X[:, 1] > 0).astype(float)
TERNARY = np.digitize(X[:, 0], [-0.5, 0.5]).astype(float)
REFUSED = {
    "poisson": (PoissonRegressor(), POSITIVE, "got PoissonRegressor, whose likelihood is another"),
    "gamma": (GammaRegressor(), POSITIVE, "got GammaRegressor"),
    "huber": (HuberRegressor(), POSITIVE, "got HuberRegressor"),
    "sgd hinge": (SGDClassifier(loss="hinge"), BINARY, "got SGDClassifier.loss='hinge'"),
    "sgd huber": (SGDClassifier(loss="modified_huber"), BINARY, "got SGDClassifier.loss='modified_huber'"),
    "sgd three": (SGDClassifier(loss="log_loss"), TERNARY, "one softmax.*SGDClassifier does not"),
    "sgd huber regression": (SGDRegressor(loss="huber"), POSITIVE, "got SGDRegressor.loss='huber'"),
    "svc": (SVC(kernel="linear"), BINARY, "got SVC"),
    "svr": (LinearSVR(), POSITIVE, "got LinearSVR"),
    "ridge classifier": (RidgeClassifier(), BINARY, "got RidgeClassifier"),
    "discriminant": (LinearDiscriminantAnalysis(), BINARY, "got LinearDiscriminantAnalysis"),
    "forest": (RandomForestClassifier(3), BINARY, "got RandomForestClassifier, whose likelihood is another or none"),
    "one by one": (OneVsRestClassifier(LogisticRegression()), TERNARY, "got OneVsRestClassifier"),
    "pipeline": (
        make_pipeline(StandardScaler(), LogisticRegression()),
        BINARY,
        "got Pipeline.*earlier steps and pass the last",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_models_of_another_likelihood_are_refused(what):
    model, y, message = REFUSED[what]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    with pytest.raises(InputTypeError, match=message):
        ss.features.Fisher(model)


def test_subclasses_may_have_another_likelihood():
    class Own(LogisticRegression):
        pass

    with pytest.raises(InputTypeError, match="got Own"):
        ss.features.Fisher(Own().fit(X, BINARY))


def test_stochastic_gradient_models_have_the_scores_of_their_loss():
    model = SGDClassifier(loss="log_loss", random_state=0).fit(X, BINARY)
    residual = BINARY - model.predict_proba(X)[:, 1]
    found = ss.features.Fisher(model).transform(rows(X, BINARY))
    np.testing.assert_allclose(found, residual[:, None] * np.column_stack([X, np.ones(400)]), atol=1e-12)
    dense, sparse = ss.features.Fisher(model), ss.features.Fisher(model.sparsify())
    assert dense == sparse
    line = SGDRegressor(random_state=0).fit(X, POSITIVE)
    found = ss.features.Fisher(line).transform(rows(X, POSITIVE))
    np.testing.assert_allclose(found[:, -1], POSITIVE - line.predict(X), atol=1e-12)


def test_logits_out_of_range_have_scores_without_a_warning():
    model = LogisticRegression().fit(X, BINARY)
    found = ss.features.Fisher(model).transform(rows(1e4 * X, BINARY))
    assert np.isfinite(found).all()


def test_a_summary_in_fisher_space():
    model, data = fitted()
    train, validation = data[:300], data[300:]
    phi = ss.features.Fisher(model)
    found = ss.sbq(train, 5, target=validation, features=phi)
    exact = ss.sbq(train, 5, target=validation, kernel=phi.kernel)
    # The fifth point completes the span, and any point does so as well.
    np.testing.assert_array_equal(found.indices[:4], exact.indices[:4])
    np.testing.assert_allclose(found.mmd, exact.mmd, atol=1e-7)
    shorter = ss.sbq(train, 50, target=validation, features=phi)
    assert len(shorter) <= 5
    assert shorter.note
    assert shorter.mmd[-1] < 1e-6
    spread = ss.sbq(phi.transform(train), 50, target=phi.transform(validation))
    assert len(spread) == 50
    assert ss.herd(train, 30, target=validation, features=phi).mmd[-1] < 0.05


BAD = {
    "not fitted": (lambda: ss.features.Fisher(LogisticRegression()), InputTypeError, "not fitted; call fit first"),
    "no model": (lambda: ss.features.Fisher(3), InputTypeError, "model must be a fitted LogisticRegression.*got int"),
    "kind": (lambda: ss.features.Fisher(fitted()[0], kind="true"), InputError, "kind must be one of"),
    "sample": (
        lambda: ss.features.Fisher(fitted()[0], kind="whitened"),
        InputError,
        "sample must be given for kind='whitened'",
    ),
    "labels": (
        lambda: ss.features.Fisher(fitted()[0]).transform(rows(X, X[:, 0])),
        InputError,
        "last column of points must hold the labels",
    ),
    "columns": (
        lambda: ss.features.Fisher(fitted()[0]).transform(X),
        InputError,
        "points must have 5 columns, the model's 4 inputs",
    ),
    "words": (
        lambda: ss.features.Fisher(LogisticRegression().fit(X, np.where(X[:, 0] > 0, "a", "b"))),
        InputTypeError,
        "model must have numbers for classes",
    ),
    "noise word": (
        lambda: ss.features.Fisher(LinearRegression().fit(X, X[:, 0]), noise="a"),
        InputTypeError,
        "noise must be a positive number, got str 'a'",
    ),
    "noise": (
        lambda: ss.features.Fisher(LinearRegression().fit(X, X[:, 0]), noise=0.0),
        InputError,
        "noise must be a positive",
    ),
    "many numbers": (
        lambda: ss.features.Fisher(LinearRegression().fit(X, X[:, :2])),
        InputTypeError,
        "model must predict one number",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(what):
    build, error, message = BAD[what]
    with pytest.raises(error, match=message):
        build()
