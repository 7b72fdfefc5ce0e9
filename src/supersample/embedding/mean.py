"""The public mean embedding: a thin object over the moments of a feature map."""

from collections.abc import Callable
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

from supersample._locking import one_at_a_time
from supersample._typing import Floats, PointsLike
from supersample._validation import check_log_weights, check_points, check_weights, choose
from supersample.embedding import moments
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.features import FeatureMap

__all__ = ["MeanEmbedding"]

#: Elements of features held at a time; memory does not depend on the number of rows.
_BLOCK_ELEMENTS = 1 << 21


class MeanEmbedding:
    """The weighted mean of phi over all rows: a data set as one vector (Paige, Sejdinovic and Wood 2016, eq. 15 and 19).

    Rows come in any number of batches, in any floating type, with or without weights. The sums are compensated float64: the
    same rows in the same order give the same bytes for any batching. Two embeddings of the same map can be merged and compared.
    Updates cost O(n (d + 1) D) time and fixed memory.

    >>> import supersample as ss
    >>> phi = ss.features.Fourier(ss.kernels.Gaussian(1.0), 512, random_state=0)
    >>> left = ss.MeanEmbedding(phi).update([[0.0], [1.0]])
    >>> right = ss.MeanEmbedding(phi).update([[0.0], [3.0]])
    >>> abs(left.mmd2(right) - 0.432) < 0.1
    True
    """

    def __init__(self, feature_map: FeatureMap) -> None:
        """Start with no data."""
        if not isinstance(feature_map, FeatureMap):
            raise InputTypeError(
                f"feature_map must be a feature map such as ss.features.Fourier(...), got {type(feature_map).__name__}"
            )
        self.feature_map = feature_map
        self.state = moments.init(feature_map.n_features)
        self.n_inputs: int | None = None

    @one_at_a_time
    def update(
        self,
        points: PointsLike,
        weight: npt.ArrayLike | None = None,
        *,
        log_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Add more rows, each with a weight of one, or with `weight`, or with exp(`log_weight`).

        If the input is invalid, nothing is added.
        """
        rows = check_points(points, "points", width=self.n_inputs)
        if weight is not None and log_weight is not None:
            raise InputError("weight and log_weight must not both be given; pass one of them")
        scaled = None
        if weight is not None:
            checked = check_weights(weight, rows.shape[0], "weight", all_zero=True)
            scaled = moments.scale_weights(checked)
        elif log_weight is not None:
            scaled = moments.scale_log_weights(check_log_weights(log_weight, rows.shape[0], "log_weight"))
        state = self.state
        step = max(1, _BLOCK_ELEMENTS // self.feature_map.n_features)
        for start in range(0, rows.shape[0], step):
            part = slice(start, start + step)
            block = None if scaled is None else moments.ScaledWeights(scaled.mantissas[part], scaled.exponents[part])
            features = np.empty((rows[part].shape[0], self.feature_map.n_features), dtype=self.feature_map.dtype)
            self.feature_map.fill(rows[part], features)
            state = moments.update(state, features, block)
        self.__dict__.update(n_inputs=rows.shape[1], state=state)  # one step: after an interrupt, all rows are added or none
        return self

    def merge(self, other: "MeanEmbedding") -> "MeanEmbedding":
        """Return the embedding of both data sets together; neither argument changes."""
        self._require_same_map(other)
        merged = MeanEmbedding(self.feature_map)
        merged.state = moments.merge(self.state, other.state)
        merged.n_inputs = self.n_inputs if self.n_inputs is not None else other.n_inputs
        return merged

    @property
    def n_seen(self) -> int:
        """The number of rows added."""
        return self.state.n_seen

    @property
    def total_weight(self) -> float:
        """The sum of their weights."""
        return self.state.total_weight

    @property
    def mean(self) -> Floats:
        """The mean feature vector mu."""
        return self.state.mean()

    def dot(self, other: "MeanEmbedding") -> float:
        """Return mu.mu', the mean of k(x, y) over all pairs of a row here and a row there."""
        self._require_same_map(other)
        return _dot(self.state, other.state)

    def norm2(self) -> float:
        """Return |mu|^2, the mean of k(x, y) over all pairs of rows, a row with itself included."""
        state = self.state
        return _dot(state, state)

    def mmd2(self, other: "MeanEmbedding", *, estimator: Literal["biased", "unbiased"] = "biased") -> float:
        """Return the squared discrepancy between two data sets, in the feature space of their map.

        biased: |mu - mu'|^2 (Zhao and Meng 2015, eq. 12), never negative. unbiased: without pairs of a row with itself (Zhao
        and Meng 2015, eq. 13, with |phi(x)|^2 in place of k0 so that it is unbiased for every map); it may be negative.
        """
        self._require_same_map(other)
        if choose(estimator, "estimator", ("biased", "unbiased")) == "biased":
            difference = self.mean - other.mean
            return float(difference @ difference)
        mine, theirs = self.state, other.state  # snapshots: other threads may update meanwhile
        return mine.off_diagonal() + theirs.off_diagonal() - 2.0 * _dot(mine, theirs)

    def witness(self, other: "MeanEmbedding") -> Callable[[PointsLike], Floats]:
        """Return the function (mu - mu').phi(x): positive where this data set has more mass than the other."""
        self._require_same_map(other)
        direction = self.mean - other.mean

        def evaluate(points: PointsLike) -> Floats:
            return np.asarray(self.feature_map.transform(points) @ direction, dtype=np.float64)

        return evaluate

    def __repr__(self) -> str:
        """Show the map and the number of rows."""
        return f"MeanEmbedding({self.feature_map!r}, n_seen={self.n_seen})"

    def _require_same_map(self, other: "MeanEmbedding") -> None:
        if not isinstance(other, MeanEmbedding):
            raise InputTypeError(f"other must be a MeanEmbedding, got {type(other).__name__}")
        if self.feature_map != other.feature_map:
            raise MismatchError(
                f"the two embeddings have different feature maps and cannot be combined: {_difference(self, other)}; build "
                f"both with one map"
            )
        if self.n_inputs is not None and other.n_inputs is not None and self.n_inputs != other.n_inputs:
            raise MismatchError(
                f"the two embeddings have seen points of {self.n_inputs} and {other.n_inputs} columns and cannot be combined; "
                f"use the same columns for both"
            )


def _dot(mine: moments.Moments, theirs: moments.Moments) -> float:
    return float(mine.mean() @ theirs.mean())


def _difference(left: MeanEmbedding, right: MeanEmbedding) -> str:
    mine, theirs = left.feature_map.identity, right.feature_map.identity
    keys = [key for key in {**mine, **theirs} if mine.get(key) != theirs.get(key)]
    return "; ".join(f"{key} is {mine.get(key)!r} here and {theirs.get(key)!r} there" for key in keys)
