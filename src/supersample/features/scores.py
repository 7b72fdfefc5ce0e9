"""Scores: the gradient of the log-likelihood of a labelled row with respect to a fitted model's parameters."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from supersample._typing import Floats
from supersample.errors import InputError, InputTypeError

__all__ = ["LinearScores", "LogisticScores", "Scores", "scores_of"]


class Scores(ABC):
    """f(x, y) = d log p(y | x, theta) / d theta at the fitted theta, of rows that hold x and then y."""

    n_inputs: int
    n_scores: int

    @abstractmethod
    def __call__(self, rows: Floats) -> Floats:
        """Return one score a row; row i depends on row i alone but for rounding."""

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """What determines the scores, as plain values."""

    def check(self, rows: Floats) -> None:
        """Refuse labels that the model does not know."""
        return


class LogisticScores(Scores):
    """Of logistic regression: (1[y = c] - p_c(x)) (x, 1) for each class c; for two classes, of the second alone."""

    def __init__(self, coefficients: Floats, intercepts: Floats, classes: Floats, with_intercept: bool) -> None:
        """Take what scikit-learn's LogisticRegression holds: one row of coefficients for two classes, else one a class."""
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
            residuals = (labels == self.classes[1])[:, None] - 1.0 / (1.0 + np.exp(-logits))
        else:
            logits -= logits.max(axis=1, keepdims=True)
            odds = np.exp(logits)
            residuals = (labels[:, None] == self.classes) - odds / odds.sum(axis=1, keepdims=True)
        return _outer(residuals, inputs, self.with_intercept)

    @property
    def identity(self) -> Mapping[str, Any]:
        """A digest of the coefficients."""
        return {"model": "logistic", "parameters": _digest(self.coefficients, self.intercepts, self.classes)}


class LinearScores(Scores):
    """Of linear regression with normal noise: (y - f(x)) (x, 1) / variance."""

    def __init__(self, coefficients: Floats, intercept: float, variance: float, with_intercept: bool) -> None:
        """Take the fitted line and the variance of the noise, which scales all scores alike."""
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
        return {"model": "linear", "parameters": _digest(self.coefficients, np.array([self.intercept, self.variance]))}


def scores_of(model: Any, noise: float) -> Scores:
    """Read the parameters of a fitted scikit-learn model that is linear in its inputs."""
    if not hasattr(model, "coef_"):
        raise InputTypeError(
            f"model must be a fitted scikit-learn LogisticRegression or linear regression, or a torch module, got "
            f"{type(model).__name__}{' that is not fitted; call fit first' if hasattr(model, 'fit') else ''}"
        )
    coefficients = np.asarray(model.coef_, dtype=np.float64)
    intercepts = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    with_intercept = bool(getattr(model, "fit_intercept", True))
    if not hasattr(model, "classes_"):
        if coefficients.ndim == 2 and coefficients.shape[0] != 1:
            raise InputTypeError(f"model must predict one number, and {type(model).__name__} predicts {coefficients.shape[0]}")
        return LinearScores(coefficients.reshape(-1), float(intercepts[0]), noise**2, with_intercept)
    if not hasattr(model, "predict_proba") or (getattr(model, "solver", "") == "liblinear" and len(model.classes_) > 2):
        raise InputTypeError(
            f"model must give the probability of each class by one softmax, as LogisticRegression does; {type(model).__name__} "
            f"does not, so that it has no likelihood of its labels"
        )
    classes = np.asarray(model.classes_)
    if classes.dtype.kind not in "biuf":
        raise InputTypeError(f"model must have numbers for classes, since points are numbers, got {classes.tolist()}")
    return LogisticScores(coefficients, intercepts, classes.astype(np.float64), with_intercept)


def _outer(residuals: Floats, inputs: Floats, with_intercept: bool) -> Floats:
    """Return residual times (x, 1), class by class."""
    n = inputs.shape[0]
    extended = np.column_stack([inputs, np.ones(n)]) if with_intercept else inputs
    return np.asarray((residuals[:, :, None] * extended[:, None, :]).reshape(n, -1))


def _digest(*arrays: Floats) -> str:
    whole = hashlib.sha256()
    for array in arrays:
        whole.update(repr(array.shape).encode() + np.ascontiguousarray(array, dtype="<f8").tobytes())
    return whole.hexdigest()
