"""The public mean embedding: a thin object over the moments of a feature map."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from supersample._durations import is_duration
from supersample._locking import one_at_a_time
from supersample._typing import Floats, PointsLike
from supersample._validation import check_log_weights, check_points, check_weights, choose
from supersample.device.arrays import Home, follow, home_of, hosted, is_device_array, require_home, where_in_words
from supersample.device.checks import check_device_points
from supersample.embedding import decay, moments
from supersample.embedding.decay import Decay, check_half_life, check_times
from supersample.embedding.on_device import moments_of
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.features import FeatureMap

__all__ = ["MeanEmbedding"]

#: Elements of features held at a time; memory does not depend on the number of rows.
_BLOCK_ELEMENTS = 1 << 21


class MeanEmbedding:
    """The weighted mean of phi over all rows: a data set as one vector (Paige, Sejdinovic and Wood 2016, eq. 15 and 19).

    Rows come in any number of batches, in any floating type, with or without weights. The sums are compensated float64: the
    same rows in the same order give the same bytes for any batching. Two embeddings of the same map can be merged and compared.
    Updates cost O(n (d + 1) D) time and fixed memory. Rows that are arrays of torch, CuPy or JAX are embedded where they lie,
    and `mean` and `witness` follow them; their sums agree with those of the CPU to rounding, not to the bit.

    half_life: in how many rows a row loses half of its weight, or in which duration ("7d"), if rows come with `time`; None:
    all rows count alike. After a merge, the rows of the other embedding count as rows that came after the own ones, if the
    half-life is one of rows; if it is one of time, only their times count.

    >>> import supersample as ss
    >>> phi = ss.features.Fourier(ss.kernels.Gaussian(1.0), 512, random_state=0)
    >>> left = ss.MeanEmbedding(phi).update([[0.0], [1.0]])
    >>> right = ss.MeanEmbedding(phi).update([[0.0], [3.0]])
    >>> abs(left.mmd2(right) - 0.432) < 0.1
    True
    """

    def __init__(self, feature_map: FeatureMap, *, half_life: float | str | timedelta | None = None) -> None:
        """Start with no data."""
        if not isinstance(feature_map, FeatureMap):
            raise InputTypeError(
                f"feature_map must be a feature map such as ss.features.Fourier(...), got {type(feature_map).__name__}"
            )
        self.feature_map = feature_map
        self.half_life = half_life
        self.state = moments.init(feature_map.n_features)
        self.decay: Decay | None = None
        if half_life is not None:  # whether a number is one of rows or of time, the first rows say
            self.decay = Decay(check_half_life(half_life, by_time=is_duration(half_life)), is_duration(half_life))
        self.n_inputs: int | None = None
        self._home: Home | None = None

    @one_at_a_time
    def update(
        self,
        points: PointsLike,
        weight: npt.ArrayLike | None = None,
        *,
        log_weight: npt.ArrayLike | None = None,
        time: npt.ArrayLike | None = None,
    ) -> Self:
        """Add more rows, each with a weight of one, or with `weight`, or with exp(`log_weight`).

        time: when each row happened, if `half_life` is one of time. If the input is invalid, nothing is added.
        """
        there = time if is_device_array(time) else None  # dates are of the host: no other library has them
        home = home_of(points=points, weight=weight, log_weight=log_weight, time=there)
        if self.n_seen:
            require_home(home, self._home, "points", "embedding")
        if home is not None:
            return self._update_on(home, points, weight, log_weight, time)
        rows = check_points(points, "points", width=self.n_inputs)
        clock, scaled = self._weights(rows.shape[0], weight, log_weight, time)
        state = self.state
        step = max(1, _BLOCK_ELEMENTS // self.feature_map.n_features)
        for start in range(0, rows.shape[0], step):
            part = slice(start, start + step)
            block = None if scaled is None else moments.ScaledWeights(scaled.mantissas[part], scaled.exponents[part])
            features = np.empty((rows[part].shape[0], self.feature_map.n_features), dtype=self.feature_map.dtype)
            self.feature_map.fill(rows[part], features)
            state = moments.update(state, features, block)
        # One step: after an interrupt, all rows are added or none.
        self.__dict__.update(n_inputs=rows.shape[1], state=state, decay=clock)
        return self

    def _update_on(self, home: Home, points: Any, weight: Any, log_weight: Any, time: Any) -> Self:
        """Add rows where they lie; weights and times are few numbers, and come to the host."""
        with home.working():
            rows = check_device_points(points, "points", home, width=self.n_inputs)
            n_rows, n_inputs = (int(size) for size in rows.shape)
            clock, scaled = self._weights(n_rows, *(hosted(home, each) for each in (weight, log_weight, time)))
            added = moments_of(self.feature_map.on_device(home, n_inputs), rows, scaled)
        state = moments.merge(self.state, added)
        self.__dict__.update(n_inputs=n_inputs, state=state, decay=clock, _home=home)
        return self

    def _weights(
        self, n_rows: int, weight: Any, log_weight: Any, time: Any
    ) -> tuple[Decay | None, moments.ScaledWeights | None]:
        """Return the clock after more rows, and their weights; None if all are one."""
        if weight is not None and log_weight is not None:
            raise InputError("weight and log_weight must not both be given; pass one of them")
        scaled = None
        if weight is not None:
            scaled = moments.scale_weights(check_weights(weight, n_rows, "weight", all_zero=True))
        elif log_weight is not None:
            scaled = moments.scale_log_weights(check_log_weights(log_weight, n_rows, "log_weight"))
        clock = self._clock(time)
        if clock is not None:
            ones = moments.ScaledWeights(np.full(n_rows, 0.5), np.ones(n_rows, dtype=np.int64))
            times = None if time is None else check_times(time, n_rows, self.half_life, "time")
            clock, scaled = decay.weigh(clock, scaled or ones, self.state.n_seen, times)
        return clock, scaled

    def merge(self, other: "MeanEmbedding") -> "MeanEmbedding":
        """Return the embedding of both data sets together; neither argument changes."""
        self._require_same_map(other)
        merged = MeanEmbedding(self.feature_map, half_life=self.half_life)
        factor = decay.apart(self.decay, other.decay, self.n_seen)
        merged.state = moments.merge(self.state, other.state if factor == moments.ONE else other.state.scaled(factor))
        merged.decay = decay.merge(self.decay, other.decay)
        merged._home = self._home if self.n_seen else other._home
        merged.n_inputs = self.n_inputs if self.n_inputs is not None else other.n_inputs
        return merged

    @property
    def n_seen(self) -> int:
        """The number of rows added."""
        return self.state.n_seen

    @property
    def effective_rows(self) -> float:
        """(sum w)^2 / sum w^2: how many rows of equal weight tell as much as those added."""
        return self.state.effective_rows

    @property
    def total_weight(self) -> float:
        """The sum of their weights."""
        return self.state.total_weight

    @property
    def mean(self) -> Floats:
        """The mean feature vector mu, where the rows lie."""
        return follow(self._home, self.state.mean())

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
            difference = self.state.mean() - other.state.mean()
            return float(difference @ difference)
        mine, theirs = self.state, other.state  # snapshots: other threads may update meanwhile
        return mine.off_diagonal() + theirs.off_diagonal() - 2.0 * _dot(mine, theirs)

    def witness(self, other: "MeanEmbedding") -> Callable[[PointsLike], Floats]:
        """Return the function (mu - mu').phi(x): positive where this data set has more mass than the other.

        Its points lie where the rows of this embedding do; those of the other may have lain elsewhere.
        """
        self._require_same_map(other)
        lying = self._home
        direction = self.state.mean() - other.state.mean()

        def evaluate(points: PointsLike) -> Floats:
            home = home_of(points=points)
            if home != lying:
                raise MismatchError(
                    f"points must lie where the rows of the embedding did ({where_in_words(lying)}), got "
                    f"{where_in_words(home)}; bring them there"
                )
            if home is not None:
                with home.working():
                    there: Floats = home.xp.astype(self.feature_map.transform(points), home.wide) @ home.array(direction)
                    return there
            return np.asarray(self.feature_map.transform(points) @ direction, dtype=np.float64)

        return evaluate

    def __repr__(self) -> str:
        """Show the map and the number of rows."""
        return f"MeanEmbedding({self.feature_map!r}, n_seen={self.n_seen})"

    def _clock(self, time: Any) -> Decay | None:
        """Return the clock for more rows; refuse times that are not needed, and rows that lack them."""
        clock = self.decay
        if clock is not None and time is not None and self.n_seen == 0:
            clock = replace(clock, by_time=True)
        if time is None:
            if clock is not None and clock.by_time:
                raise InputError("time must be given with every batch, since half_life is one of time; pass one time a row")
        elif clock is None or not clock.by_time:
            raise InputError("time must be left out: only half_life uses it, and only if the first batch had it")
        return clock

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
