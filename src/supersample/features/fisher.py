"""Fisher features: rows are similar if they pull a fitted model's parameters in the same direction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import linalg

from supersample._products import RowProduct
from supersample._threads import BLOCK_ROWS, cut, map_blocks, pad
from supersample._typing import Features, Floats, Points, PointsLike
from supersample._validation import choose
from supersample.errors import InputError, InputTypeError
from supersample.features.base import FeatureMap, as_dtype
from supersample.features.scores import Scores, digest, scores_of
from supersample.features.torch_scores import TorchScores, is_module
from supersample.kernels import Kernel
from supersample.kernels.base import as_float64

__all__ = ["Fisher", "FisherKernel"]

#: Directions whose eigenvalue is below this share of the largest hold rounding error only.
_TOLERANCE = 1e-10


class Fisher(FeatureMap):
    """The scores of labelled rows under a fitted model (Jaakkola and Haussler 1999; Khanna et al. 2021, section 6.2).

    phi(x, y) = d log p(y | x, theta) / d theta at the fitted theta; for logistic regression (y - p(x)) (x, 1). The practical
    kernel is phi.phi'; the whitened one is phi^T I^-1 phi' with I = E phi phi^T, which does not depend on how the parameters
    are scaled. Rows that are close in it change the model in the same way, so a summary by this kernel is suited to refitting
    the model. The products of the features equal the kernel; there is no approximation.

    Rows hold the model's inputs and then the label: np.column_stack([X, y]).

    model: a fitted scikit-learn LogisticRegression, of two or more classes, or an SGDClassifier with log_loss, of two; or a
    regression by least squares, penalised or not (LinearRegression, Ridge, Lasso, ElasticNet and their like), whose noise has
    standard deviation `noise`; or a torch module, with `loss` a function of its output and the label for one row
    (cross-entropy of whole labels by default), and `parameters` the names of those to differentiate by. Other models are
    refused.

    sample: rows over which I is averaged; needed for kind="whitened" only.

    The kernel has rank at most D, the number of parameters, so D points match any mean of scores. The mean score of the data
    that a model was fitted to is near 0, so the weights of those points mean little. For summaries of more points, put a kernel
    on top: ss.sbq(phi.transform(train), m, target=phi.transform(validation)).

    O(n D) for linear models; for modules one backward pass a row.

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[-1.0], [-0.5], [0.5], [1.0]]), np.array([0, 1, 0, 1])
    >>> phi = Fisher(LogisticRegression().fit(X, y))
    >>> phi.transform(np.column_stack([X, y])).shape
    (4, 2)
    """

    def __init__(
        self,
        model: Any,
        *,
        kind: Literal["practical", "whitened"] = "practical",
        sample: PointsLike | None = None,
        noise: float = 1.0,
        loss: Callable[[Any, Any], Any] | None = None,
        parameters: Sequence[str] | None = None,
        n_inputs: int | None = None,
        dtype: npt.DTypeLike = np.float64,
    ) -> None:
        """Read the model; later changes to it do not change the map. n_inputs: columns of X, for torch modules only."""
        self.kind = choose(kind, "kind", ("practical", "whitened"))
        self.dtype = as_dtype(dtype)
        if isinstance(noise, bool) or not isinstance(noise, int | float | np.integer | np.floating):
            raise InputTypeError(f"noise must be a positive number, got {type(noise).__name__} {noise!r}")
        if not (noise > 0 and np.isfinite(noise)):
            raise InputError(
                f"noise must be a positive number, the standard deviation of the labels around the line, got {noise!r}"
            )
        rows = None if sample is None else as_float64(sample, "sample")
        self._scores = _scores(model, noise, loss, parameters, n_inputs, rows)
        self._whitening: Floats | None = None
        if self.kind == "whitened":
            if rows is None:
                raise InputError("sample must be given for kind='whitened': the information matrix is a mean over rows")
            self._whitening = _whiten(self._raw(rows))
        self.n_features = self._scores.n_scores if self._whitening is None else self._whitening.shape[1]
        self.kernel: Kernel = FisherKernel(self._features, self.identity)

    @property
    def is_exact(self) -> bool:
        """True: the products of the features equal the kernel."""
        return True

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model's parameters, the kind, and the whitening; the whitening depends on the sample."""
        return {
            "map": "Fisher",
            "kind": self.kind,
            "dtype": self.dtype.name,
            "n_features": self.n_features,
            "whitening": None if self._whitening is None else digest(self._whitening),
            **self._scores.identity,
        }

    def fill(self, points: Points, out: Features) -> None:
        """Write scores, whitened if `kind` says so, block by block on all cores."""
        out[...] = self._features(np.asarray(points, dtype=np.float64))

    def _features(self, rows: Floats) -> Floats:
        scores = self._raw(rows)
        if self._whitening is None:
            return scores
        whiten = RowProduct(self._whitening)
        blocks = cut(rows.shape[0], BLOCK_ROWS)
        parts = map_blocks(lambda part: whiten(pad(scores[part]))[: part.stop - part.start], blocks)
        return np.asarray(np.concatenate(parts))

    def _raw(self, rows: Floats) -> Floats:
        if rows.shape[1] != self._scores.n_inputs:
            raise InputError(
                f"points must have {self._scores.n_inputs} columns, the model's {self._scores.n_inputs - 1} inputs and the "
                f"label, got {rows.shape[1]}; pass np.column_stack([X, y])"
            )
        self._scores.check(rows)
        blocks = cut(rows.shape[0], BLOCK_ROWS)

        def work(part: slice) -> Floats:
            # All blocks have one shape, so that a row's scores do not depend on the other rows passed.
            return self._scores(np.asarray(pad(rows[part]), dtype=np.float64))[: part.stop - part.start]

        # torch has threads of its own.
        parts = [work(part) for part in blocks] if isinstance(self._scores, TorchScores) else map_blocks(work, blocks)
        return np.asarray(np.concatenate(parts))


@dataclass(frozen=True)
class FisherKernel(Kernel):
    """The products of Fisher features, as a kernel of labelled rows."""

    features: Callable[[Floats], Floats] = field(repr=False, compare=False)
    identified: Mapping[str, Any]

    @property
    def identity(self) -> Mapping[str, Any]:
        """That of the features."""
        return {"kernel": "Fisher", **self.identified}

    def fill(self, left: Floats, right: Floats, out: Floats) -> None:
        """Multiply features."""
        np.matmul(self.features(left), self.features(right).T, out=out)

    def paired(self, left: Floats, right: Floats) -> Floats:
        """Multiply features row by row."""
        return np.asarray(np.einsum("ij,ij->i", self.features(left), self.features(right)))


def _scores(
    model: Any,
    noise: float,
    loss: Callable[[Any, Any], Any] | None,
    parameters: Sequence[str] | None,
    n_inputs: int | None,
    sample: Floats | None,
) -> Scores:
    if not is_module(model):
        return scores_of(model, noise)
    if n_inputs is None and sample is None:
        raise InputError(
            "n_inputs must be given for a torch module, which does not know its number of inputs; or pass a sample"
        )
    return TorchScores(model, n_inputs + 1 if n_inputs is not None else sample.shape[1], loss, parameters)  # type: ignore[union-attr]


def _whiten(scores: Floats) -> Floats:
    """Return U L^-1/2 of I = U L U^T, without directions that hold no information."""
    values, vectors = linalg.eigh(scores.T @ scores / scores.shape[0])
    keep = values > _TOLERANCE * max(float(values[-1]), 0.0)
    if not bool(keep.any()):
        raise InputError(
            "sample: all scores are 0, so that there is no information matrix; pass rows that the model does not fit"
        )
    return np.ascontiguousarray(vectors[:, keep] / np.sqrt(values[keep]))
