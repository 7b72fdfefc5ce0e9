"""A small training set for a fitted model: rows and weights whose scores match those of all rows."""

import copy
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from supersample._random import as_seed
from supersample._typing import Floats, Indices, RandomState
from supersample._validation import check_count, check_points, choose
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.features import Fisher
from supersample.features.scores import likelihood_of
from supersample.kernels import Gaussian
from supersample.measures import Empirical
from supersample.selection.batch.frank_wolfe import frank_wolfe
from supersample.selection.batch.herding import herd
from supersample.selection.batch.quadrature import sbq, wkh
from supersample.selection.batch.reweighting import quadrature_weights
from supersample.summary.by_class import taken

__all__ = ["Distilled", "distil"]

_METHODS = {"sbq": sbq, "wkh": wkh, "herd": herd, "frank_wolfe": frank_wolfe}
Method = Literal["sbq", "wkh", "herd", "frank_wolfe"]


@dataclass(frozen=True)
class Distilled:
    """A small training set, as `distil` returns it.

    indices: the rows of X, in order of selection; points, labels: those rows and their labels, of the kind that came in.
    weights: the `sample_weight` of each, with mean one, so that a penalty is that of as many rows; multiply them by n / m for
    the penalty of all n rows. mmd: the distance between the weighted scores and those of the target. note: remarks, empty if
    none. model: the model that the rows were chosen for.
    """

    indices: Indices
    points: Any
    labels: Any
    weights: Floats
    mmd: float
    note: str
    model: Any = field(repr=False)

    def __len__(self) -> int:
        """Count the rows."""
        return int(self.indices.size)

    def refit(self, model: Any = None) -> Any:
        """Return a copy of the model, or of another one, fitted to these rows with their weights."""
        return clone(self.model if model is None else model).fit(self.points, self.labels, sample_weight=self.weights)


class _Labels(NamedTuple):
    """Labels as numbers, and the number of classes: 0 for a regression."""

    numbers: Floats
    classes: int


def distil(
    model: Any,
    X: Any,
    y: Any,
    m: int,
    *,
    target: tuple[Any, Any] | None = None,
    method: Method = "sbq",
    bandwidth: float | None = None,
    noise: float = 1.0,
    random_state: RandomState = None,
) -> Distilled:
    """Return m rows of X with labels and weights, to which the model can be fitted in place of all rows.

    Rows are described by their scores d log p(y | x, theta) / d theta under the fitted model (`ss.features.Fisher`, whitened),
    and chosen so that their weighted scores match those of the target by a Gaussian kernel: Khanna, Hodgkinson and Mahoney
    2021, section 6.2, with a Gaussian kernel on the scores in place of their product, whose rank is the number of parameters.
    The weights are positive. Every class of y is kept: a class that would be missing gets the row whose scores are nearest to
    its mean, and no class weighs less than its share of the rows or 1/m, whichever is less.

    Rows of weight 0 are left out, so that there may be fewer than m; `note` says so.

    model: a LogisticRegression, an SGDClassifier with log_loss for two classes, or a regression by least squares
    (LinearRegression, Ridge, Lasso and their like). One that is not fitted is fitted to all rows first, as a copy. A penalised
    model is better: without a penalty the scores of classes that it separates vanish.
    target: held-out inputs and labels to match, as a tuple; the rows themselves by default.
    method: "sbq", "wkh", "herd" or "frank_wolfe" (which keeps fewer rows). bandwidth: of the kernel on whitened scores, by
    default the root of their number, which is the root mean square of their lengths. noise: see `ss.features.Fisher`.

    Costs the fit, and the selection's N kernel values of D scores for each row of the target.

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> import supersample as ss
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> y = np.where(X @ [1.0, -1.0, 0.5] > 0, "yes", "no")
    >>> small = ss.distil(LogisticRegression(), X, y, 20)
    >>> bool(small.refit().score(X, y) > 0.9), set(small.labels.tolist()) == {"yes", "no"}
    (True, True)
    """
    count, rows = check_count(m, "m"), np.asarray(check_points(X, "X"), dtype=np.float64)
    select = _METHODS[choose(method, "method", tuple(_METHODS))]
    if count > len(rows):
        raise InputError(f"m must not be more than the {len(rows)} rows of X, got {count}; ask for fewer")
    fitted = _fitted(model, X, y, len(rows))
    numbered, labels = _numbered(fitted, y, len(rows), "y")
    if labels.classes > count:
        raise InputError(f"m must be at least the number of classes of y, {labels.classes}, so that each is kept, got {count}")
    labelled = np.column_stack([rows, labels.numbers])
    phi = Fisher(numbered, kind="whitened", sample=labelled, noise=noise)
    scores = phi.transform(labelled).astype(np.float64, copy=False)
    kernel = Gaussian(float(np.sqrt(phi.n_features)) if bandwidth is None else bandwidth)
    measured = scores
    if target is not None:
        measured = phi.transform(_held_out(fitted, target, rows.shape[1])).astype(np.float64, copy=False)
    aim = None if target is None else measured
    found = select(scores, count, target=aim, kernel=kernel, random_state=as_seed(random_state).child("distil").sequence())
    chosen = np.array(list(dict.fromkeys(found.indices.tolist())), dtype=np.int64)
    if labels.classes:
        chosen = _with_all_classes(chosen, scores, labels, count)
    weights = quadrature_weights(scores[chosen], target=measured, kernel=kernel, kind="simplex")
    if labels.classes:
        weights = _lifted(weights, labels, chosen, count)
    kept = weights > 0
    chosen, weights = chosen[kept], weights[kept]
    return Distilled(
        chosen,
        taken(X, chosen),
        taken(y, chosen),
        weights * chosen.size,
        _distance(scores[chosen], weights, measured, kernel),
        _said(int(chosen.size), count),
        fitted,
    )


def _fitted(model: Any, X: Any, y: Any, n: int) -> Any:
    """Return the model, or a copy fitted to all rows."""
    if not hasattr(model, "fit"):
        raise InputTypeError(
            f"model must be an estimator of scikit-learn such as LogisticRegression(), got {type(model).__name__}"
        )
    likelihood_of(model)  # refused now: to fit it may take long
    if np.shape(y)[:1] != (n,):
        raise MismatchError(f"y must have one label for each of the {n} rows of X, got shape {np.shape(y)}")
    try:
        check_is_fitted(model)
    except NotFittedError:
        return clone(model).fit(X, y)
    return model


def _numbered(model: Any, y: Any, n: int, name: str) -> tuple[Any, _Labels]:
    """Return a model whose classes are numbers, and the labels as these; a regression and its labels as they are."""
    labels: npt.NDArray[Any] = np.asarray(y)
    if labels.shape != (n,):
        raise MismatchError(f"{name} must have one label for each of the {n} rows, got shape {labels.shape}")
    if not hasattr(model, "classes_"):
        return model, _Labels(labels.astype(np.float64), 0)
    known = np.isin(labels, model.classes_)
    if not bool(known.all()):
        stray = labels[int(np.argmin(known))]
        shown = stray.item() if isinstance(stray, np.generic) else stray
        raise InputError(
            f"{name} holds {shown!r}, and the model was fitted to {model.classes_.tolist()}; pass "
            f"labels that it knows, or a model that is not fitted"
        )
    numbered = copy.copy(model)
    numbered.classes_ = np.arange(len(model.classes_))
    places = np.searchsorted(model.classes_, labels)
    return numbered, _Labels(places.astype(np.float64), int(np.unique(places).size))


def _held_out(model: Any, target: Any, width: int) -> Floats:
    if not isinstance(target, tuple) or len(target) != 2:
        raise InputTypeError(f"target must be a tuple of inputs and labels, (X, y), got {type(target).__name__}")
    rows = np.asarray(check_points(target[0], "target[0]", width=width), dtype=np.float64)
    return np.column_stack([rows, _numbered(model, target[1], len(rows), "target[1]")[1].numbers])


def _with_all_classes(chosen: Indices, scores: Floats, labels: _Labels, count: int) -> Indices:
    """Return the rows with one of each missing class, which takes the place of the last row of a class that has several."""
    held = chosen.tolist()
    for each in np.setdiff1d(labels.numbers, labels.numbers[chosen]):
        mine = np.flatnonzero(labels.numbers == each)
        if len(held) == count:
            present = labels.numbers[held]
            spare = [place for place, label in enumerate(present) if (present == label).sum() > 1]
            del held[spare[-1]]
        held.append(int(mine[np.argmin(((scores[mine] - scores[mine].mean(axis=0)) ** 2).sum(axis=1))]))
    return np.array(held, dtype=np.int64)


def _lifted(weights: Floats, labels: _Labels, chosen: Indices, count: int) -> Floats:
    """Return the weights with those of light classes raised to their share of rows or 1/m, and the others lowered to fit."""
    lifted = weights.copy()
    short: Indices = np.zeros(0, dtype=np.int64)
    for each in np.unique(labels.numbers):
        mine = np.flatnonzero(labels.numbers[chosen] == each)
        least, total = min(float((labels.numbers == each).mean()), 1.0 / count), float(weights[mine].sum())
        if total < least:
            lifted[mine] = least / mine.size if total == 0.0 else weights[mine] * least / total
            short = np.concatenate([short, mine])
    if short.size:
        others = np.setdiff1d(np.arange(chosen.size), short)
        lifted[others] *= (1.0 - lifted[short].sum()) / lifted[others].sum()
    return lifted


def _distance(points: Floats, weights: Floats, target: Floats, kernel: Gaussian) -> float:
    """Return the exact MMD between weighted points and the rows of the target."""
    measure = Empirical.holding(target)
    pull = measure.mean_embedding(kernel, points)
    square = measure.energy(kernel) - 2.0 * float(weights @ pull) + float(weights @ kernel(points) @ weights)
    return float(np.sqrt(max(square, 0.0)))


def _said(size: int, count: int) -> str:
    if size == count:
        return ""
    return f"{size} of {count} rows: the others have weight 0, since the ones kept match the scores without them."
