"""Scores: the gradient of the log-likelihood of a labelled row with respect to a fitted model's parameters."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import special

from supersample._typing import Floats
from supersample.errors import InputError, InputTypeError

__all__ = ["LinearScores", "LogisticScores", "Scores", "digest", "likelihood_of", "scores_of"]

#: Models with normal noise around a line. A penalty is a prior on the line: the likelihood and its score are the same.
_LEAST_SQUARES = (
    "LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV", "Lars", "LarsCV", "LassoLars",
    "LassoLarsCV", "LassoLarsIC", "OrthogonalMatchingPursuit", "OrthogonalMatchingPursuitCV", "BayesianRidge", "ARDRegression",
)  # fmt: skip
_LOGISTIC = ("LogisticRegression", "LogisticRegressionCV")


class Scores(ABC):
    """f(x, y) = d log p(y | x, theta) / d theta at the fitted theta, of rows that hold x and then y."""

    n_inputs: int
    n_scores: int

    @abstractmethod
    def __call__(self, rows: Floats) -> Floats:
        """Return one score a row; row i depends on row i only, up to rounding."""

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """What determines the scores, as plain values."""

    def check(self, rows: Floats) -> None:
        """Refuse labels that the model was not fitted to."""
        return


class LogisticScores(Scores):
    """Scores of logistic regression: (1[y = c] - p_c(x)) (x, 1) for each class c; for two classes, the second class only."""

    def __init__(self, coefficients: Floats, intercepts: Floats, classes: Floats, with_intercept: bool) -> None:
        """Take the parameters of a LogisticRegression: one row of coefficients for two classes, else one for each class."""
        self.coefficients, self.intercepts, self.classes = coefficients, intercepts, classes
        self.with_intercept = with_intercept
        self.n_inputs = coefficients.shape[1] + 1
        self.n_scores = coefficients.shape[0] * (coefficients.shape[1] + with_intercept)

    def check(self, rows: Floats) -> None:
        """Refuse labels that are none of the model's classes."""
        known = np.isin(rows[:, -1], self.classes)
        if not bool(known.all()):
            label = rows[int(np.argmin(known)), -1]
            raise InputError(
                f"the last column of points must hold the labels, which the model knows as {self.classes.tolist()}, got "
                f"{label}; pass np.column_stack([X, y])"
            )

    def __call__(self, rows: Floats) -> Floats:
        """Return residual times input."""
        inputs, labels = rows[:, :-1], rows[:, -1]
        logits = inputs @ self.coefficients.T + self.intercepts
        if self.coefficients.shape[0] == 1:
            residuals = (labels == self.classes[1])[:, None] - special.expit(logits)
        else:
            logits -= logits.max(axis=1, keepdims=True)
            odds = np.exp(logits)
            residuals = (labels[:, None] == self.classes) - odds / odds.sum(axis=1, keepdims=True)
        return _outer(residuals, inputs, self.with_intercept)

    @property
    def identity(self) -> Mapping[str, Any]:
        """A digest of the coefficients."""
        return {"model": "logistic", "parameters": digest(self.coefficients, self.intercepts, self.classes)}


class LinearScores(Scores):
    """Scores of linear regression with normal noise: (y - f(x)) (x, 1) / variance."""

    def __init__(self, coefficients: Floats, intercept: float, variance: float, with_intercept: bool) -> None:
        """Take the fitted line and the variance of the noise; the variance scales all scores by one factor."""
        self.coefficients, self.intercept, self.variance = coefficients, intercept, variance
        self.with_intercept = with_intercept
        self.n_inputs = coefficients.size + 1
        self.n_scores = coefficients.size + with_intercept

    def __call__(self, rows: Floats) -> Floats:
        """Return residual times input."""
        inputs = rows[:, :-1]
        residuals = (rows[:, -1] - inputs @ self.coefficients - self.intercept) / self.variance
        return _outer(residuals[:, None], inputs, self.with_intercept)

    @property
    def identity(self) -> Mapping[str, Any]:
        """A digest of the coefficients."""
        return {"model": "linear", "parameters": digest(self.coefficients, np.array([self.intercept, self.variance]))}


def scores_of(model: Any, noise: float) -> Scores:
    """Read the parameters of a fitted scikit-learn model whose likelihood is known to be linear-normal or logistic."""
    kind = likelihood_of(model)
    if not hasattr(model, "coef_"):
        raise InputTypeError(f"model is a {type(model).__name__} that is not fitted; call fit first")
    held: Any = model.coef_
    coefficients = np.asarray(held.toarray() if hasattr(held, "toarray") else held, dtype=np.float64)
    intercepts = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    with_intercept = bool(getattr(model, "fit_intercept", True))
    if kind == "linear":
        if coefficients.ndim == 2 and coefficients.shape[0] != 1:
            raise InputTypeError(f"model must predict one number, and {type(model).__name__} predicts {coefficients.shape[0]}")
        return LinearScores(coefficients.reshape(-1), float(intercepts[0]), noise**2, with_intercept)
    classes = np.asarray(model.classes_)
    _require_one_softmax(model, len(classes))
    if classes.dtype.kind not in "biuf":
        raise InputTypeError(f"model must have numbers for classes, since points are numbers, got {classes.tolist()}")
    return LogisticScores(coefficients, intercepts, classes.astype(np.float64), with_intercept)


def likelihood_of(model: Any) -> str:
    """Return "linear" or "logistic", by the exact type: a subclass, or another model with `coef_`, may have another loss."""
    name = type(model).__name__
    if type(model).__module__.startswith("sklearn.linear_model."):
        if name in _LEAST_SQUARES or (name == "SGDRegressor" and model.loss == "squared_error"):
            return "linear"
        if name in _LOGISTIC or (name == "SGDClassifier" and model.loss == "log_loss"):
            return "logistic"
    what = f"{name}(loss={model.loss!r})" if name.startswith("SGD") else name
    hint = "Its scores could come from a torch module of the same likelihood"
    if hasattr(model, "steps"):
        hint = "Transform the inputs by its earlier steps and pass the last one: fitted, model[:-1].transform(X) and model[-1]"
    elif name.endswith("SearchCV"):
        hint = "Fit it, and pass the model that it found, model.best_estimator_"
    raise InputTypeError(
        f"model must be a fitted LogisticRegression, SGDClassifier(loss='log_loss') or least-squares regression of "
        f"scikit-learn, or a torch module, got {what}, whose likelihood is another or none. {hint}"
    )


def _require_one_softmax(model: Any, n_classes: int) -> None:
    """Refuse one classifier for each class, and the older softmax over two classes, whose odds are squared."""
    several = type(model).__name__ == "SGDClassifier" or getattr(model, "solver", "") == "liblinear"
    scheme = getattr(model, "multi_class", "auto")
    if (n_classes > 2 and (several or scheme == "ovr")) or (n_classes == 2 and scheme == "multinomial"):
        raise InputTypeError(
            f"model must give the probability of each class by one softmax, as LogisticRegression does for {n_classes} classes "
            f"with its default solver; {type(model).__name__} does not, as it is set, so that it has another likelihood"
        )


def _outer(residuals: Floats, inputs: Floats, with_intercept: bool) -> Floats:
    """Return residual times (x, 1), class by class."""
    n = inputs.shape[0]
    extended = np.column_stack([inputs, np.ones(n)]) if with_intercept else inputs
    return np.asarray((residuals[:, :, None] * extended[:, None, :]).reshape(n, -1))


def digest(*arrays: Floats) -> str:
    """Return a digest of the shapes and numbers of arrays."""
    whole = hashlib.sha256()
    for array in arrays:
        whole.update(repr(array.shape).encode() + np.ascontiguousarray(array, dtype="<f8").tobytes())
    return whole.hexdigest()
