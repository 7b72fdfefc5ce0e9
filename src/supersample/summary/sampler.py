"""SuperSampler: the stream with scikit-learn's conventions."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from supersample._durations import is_duration
from supersample._locking import one_at_a_time
from supersample._processes import check_jobs
from supersample._random import as_seed
from supersample._typing import Floats, Indices, Points, PointsLike, RandomState
from supersample._validation import check_count, check_log_weights, check_points, check_weights
from supersample.device.arrays import Home, follow, home_of, hosted, is_device_array, require_home, require_host
from supersample.device.checks import check_device_points
from supersample.discrepancy.bounds import checked_bound
from supersample.embedding.decay import check_times
from supersample.embedding.moments import ScaledWeights, scale_log_weights, scale_weights
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.features import FeaturesLike
from supersample.kernels import KernelLike
from supersample.measures import Measure
from supersample.records.names import check_names
from supersample.selection import stream
from supersample.selection.stream import device_transfer, merging
from supersample.selection.stream.lifecycle import Stream
from supersample.selection.stream.plan import CHUNK, HELD_OUT, Settings, settings_of
from supersample.selection.stream.rows import Rows
from supersample.selection.stream.spaced import far_from
from supersample.summary.aiming import started
from supersample.summary.by_class import chosen_by_class, taken
from supersample.summary.readings import Readings
from supersample.summary.sampled import Sampled
from supersample.summary.stream_parts import take_in_parts
from supersample.summary.summary import Summary

__all__ = ["SuperSampler"]

#: Coordinates that are converted to float64 at a time, in whole chunks.
_CONVERTED = 1 << 24


class SuperSampler(Readings, BaseEstimator):  # type: ignore[misc]
    """Keep the M real points whose mean embedding is nearest to that of all rows seen, in one pass.

    Algorithm 2 of Paige, Sejdinovic and Wood 2016. A row may replace a held point if that reduces the maximum mean discrepancy
    (MMD) between the points and the data. A uniform background sample is kept for a second look whenever a result is read.
    Time O(n (d + M / 20) D). Memory O(M D + B d) whatever the number of rows, where B, the rows of the background sample, is
    5,000 for up to 250 points and 20,000 for 1,000 to 6,000; an array on disk (`np.load` with mmap_mode) is read in slices.
    The same rows in the same order with the same seed give the same result however they are batched; reading a result changes
    nothing. Thread-safe: calls are serialised, no row is lost, and rows keep the order of the calls.

    Parameters
    ----------
    n_prototypes: how many points to keep; fewer rows than that are all kept.
    n_criticisms: how many points to keep that the prototypes do not show: groups that they lack, and rare points.
    regularizer: "logdet" chooses criticisms as the draft Online Prototypes and Criticisms does (its Algorithms 2 and 4): those
        with large |witness| that lie far from each other.
    kernel: "gaussian", "laplacian", "cauchy", "matern12", "matern32", "matern52", a kernel, or a function of two arrays.
    bandwidth: "median" (of the distances among the first rows), a number, or one number a column; for a named kernel only.
    features: "auto" (landmarks of the first rows plus Fourier features of what they do not span), "fourier" (the paper's),
        "nystroem" (landmarks alone; for data that look alike throughout), or a feature map.
    n_features: how many; None for a good number.
    n_held_out: how many features to measure MMD by, which the selection does not use. More of them make mmd_error_ and the
        bounds of `bound` smaller, at O(d n_held_out) for each row.
    search: "exact" (with bounds that skip hopeless comparisons), "tree" (section 3.2 of Paige, Sejdinovic and Wood
        2016), or "auto", the faster one.
    half_life: in how many rows a row loses half of its weight, or in which duration ("7d"), if rows come with `time`; None:
        all rows count alike. `effective_rows_` says how many rows the decayed ones are worth.
    target: what the prototypes are to match in place of the rows: other rows, a measure (`ss.measures`), or a Summary, for the
        rows that it has seen. Bandwidth and features are then the target's, and so is what mmd_, random_mmd_ and `bound` speak
        of. Rows of X are still what is chosen from.
    include: points that were chosen before, such as rows that have labels already. They count beside the prototypes, which are
        chosen to complete them; n_prototypes, prototypes_ and weights_ are without them, mmd_ is of all of them together. A
        row of X that equals one of them is not chosen again.
    min_distance: no two prototypes are nearer to each other than this, or to a point of `include`, in the units of X. There are
        fewer than n_prototypes if no such rows are left among those that are kept for the second look.
    random_state: an int makes results repeat.
    n_jobs: None takes rows in as one stream. A number, or -1 for all cores, has `fit` cut a large X into parts at fixed rows,
        which so many processes take in and which are then merged. Any number gives the same result, which is not that of one
        stream. Small arrays stay one stream, and so do rows of `partial_fit`.

    Attributes
    ----------
    prototypes_: the points kept, in the order of the stream, and prototype_indices_: their positions in it.
    weights_: their weights in averages, positive and of sum one; with `include`, include_weights_ are those of its points, and
        the sum is that of both.
    criticisms_, criticism_indices_: the same for the criticisms: missed groups, the largest first, then the rarest points,
        and no others, so there may be fewer than n_criticisms; with a regularizer, those with the largest |witness| first.
    criticism_kind_: "missed", "rare", or "witness" with a regularizer.
    criticism_witness_: where data and prototypes differ, at each criticism: positive where the prototypes have too little.
    criticism_nearest_: the place in prototypes_ of each one's nearest prototype.
    criticism_share_: the share of the data nearer to each criticism than to any prototype.
    n_seen_: rows seen, and effective_rows_: (sum w)^2 / sum w^2, the number of equally weighted rows that tell as much.
    mmd_, mmd_error_: MMD between weighted prototypes and data with its standard error, from features not used in the selection.
        Two errors cover it 95 times in 100.
    uniform_mmd_: the MMD of the prototypes with equal weights.
    random_mmd_: the same for as many rows drawn at random, as prototypes and points of `include` together, from the target if
        there is one; random_mmd_ / mmd_ says how many times better than chance.
    energy_: the share of E k(x, x) that the landmarks span (1 without landmarks); where low, more n_features help.
    kernel_, feature_map_: what the first rows fixed.
    comparisons_: comparisons_[i] rows were compared with i held points (the last entry: or more).
    sample_indices_: the rows that `fit_resample` returned, as places in its X. sample_note_: which classes have fewer rows than
        were asked for, since `min_distance` left no more; empty if none.

    >>> import numpy as np
    >>> import supersample as ss
    >>> data = np.random.default_rng(0).normal(size=(10_000, 2))
    >>> sampler = ss.SuperSampler(50, random_state=0).fit(data)
    >>> sampler.prototypes_.shape
    (50, 2)
    >>> bool((data[sampler.prototype_indices_] == sampler.prototypes_).all())
    True
    >>> bool(sampler.mmd_ < sampler.random_mmd_ / 5)
    True

    """

    sample_indices_: Any
    sample_note_: str

    def __init__(
        self,
        n_prototypes: int = 100,
        n_criticisms: int = 0,
        *,
        target: "Measure | Summary | PointsLike | None" = None,
        include: PointsLike | None = None,
        min_distance: float | None = None,
        kernel: KernelLike = "gaussian",
        bandwidth: Any = "median",
        features: FeaturesLike = "auto",
        n_features: int | None = None,
        n_held_out: int = HELD_OUT,
        search: Literal["auto", "exact", "tree"] = "auto",
        half_life: float | str | timedelta | None = None,
        regularizer: Literal["logdet"] | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.n_criticisms = n_criticisms
        self.target = target
        self.include = include
        self.min_distance = min_distance
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.features = features
        self.n_features = n_features
        self.n_held_out = n_held_out
        self.search = search
        self.half_life = half_life
        self.regularizer = regularizer
        self.random_state = random_state
        self.n_jobs = n_jobs

    @one_at_a_time
    def fit(
        self,
        X: PointsLike,
        y: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        log_weight: npt.ArrayLike | None = None,
        time: npt.ArrayLike | None = None,
    ) -> Self:
        """Forget all rows seen before and take in X. y is ignored, as scikit-learn requires."""
        jobs = None if self.n_jobs is None else check_jobs(self.n_jobs)
        fresh = type(self)(**self.get_params(deep=False))._take_in(X, sample_weight, log_weight, time, jobs)
        state = fresh._now.state
        if state.n_seen and not device_transfer.has_weight(state):
            raise InputError(
                f"sample_weight or log_weight must give at least one row a positive weight, got {state.n_seen} zeros; "
                f"leave it out to weigh all rows alike"
            )
        self._now = fresh._now  # one step: after an interrupt, the rows are those seen before, or X
        return self

    @one_at_a_time
    def partial_fit(
        self,
        X: PointsLike,
        y: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        log_weight: npt.ArrayLike | None = None,
        time: npt.ArrayLike | None = None,
    ) -> Self:
        """Take in more rows, each of weight one, or of `sample_weight`, or of exp(`log_weight`).

        Rows of weight zero are counted and never chosen. If anything is wrong with the input, nothing is taken in.
        time: when each row happened, if `half_life` is a duration, or a number of the times' own unit. Rows may come late. A
        row without a time (NaN, NaT) counts as of now, and so does one far ahead of all others, until eight rows agree with it.
        """
        return self._take_in(X, sample_weight, log_weight, time, None)

    def _take_in(self, X: PointsLike, sample_weight: Any, log_weight: Any, time: Any, jobs: int | None) -> Self:
        """Take in more rows; with `jobs` workers, if there were none before."""
        now = self.__dict__.get("_now")
        lying = time if is_device_array(time) else None  # dates are of the host: no other library has them
        home = home_of(X=X, sample_weight=sample_weight, log_weight=log_weight, time=lying)
        if now is not None and now.state.n_seen:
            require_home(home, now.home, "X", "sampler")
        if home is not None:
            with home.working():
                self._now = self._taken_there(home, X, sample_weight, log_weight, time)
            return self
        require_host(include=self.include, target=self.target)
        names = check_names(X, None if now is None else now.names)
        points = check_points(X, "X")
        expected = points.shape[1] if now is None else now.state.width
        if points.shape[1] != expected:
            raise MismatchError(
                f"X has {points.shape[1]} features, but SuperSampler is expecting {expected} features as input, as in the "
                f"rows seen before; pass the same columns in the same order"
            )
        weights = _weights(sample_weight, log_weight, points.shape[0])
        state = self._started(points.shape[1], by_time=time is not None) if now is None else now.state
        times = self._times(state.settings, time, points.shape[0])
        parted = None if jobs is None else take_in_parts(state, points, weights, times, jobs)
        if parted is None:
            parted = _updated(state, points, weights, times)
        single = points.dtype == np.float32
        # One step: after an interrupt, all rows of X are taken in, or none.
        self._now = Sampled(parted, names, single) if now is None else replace(now, state=parted, single=now.single and single)
        return self

    def _taken_there(self, home: Home, X: Any, sample_weight: Any, log_weight: Any, time: Any) -> Sampled:
        """Return the moment after rows that lie on a device; the first ones, which fix bandwidth and maps, go to the host."""
        if not home.is_mutable:
            raise InputTypeError("X must be an array of NumPy, torch or CuPy: JAX is for functions without a state; convert it")
        now = self.__dict__.get("_now")
        points = check_device_points(X, "X", home)
        n_rows, width = (int(size) for size in points.shape)
        if now is not None and width != now.state.width:
            raise MismatchError(
                f"X has {width} features, but SuperSampler is expecting {now.state.width} features as input, as in the rows "
                f"seen before; pass the same columns in the same order"
            )
        alike = sample_weight is None and log_weight is None
        weights = None if alike else _weights(hosted(home, sample_weight), hosted(home, log_weight), n_rows)
        state = self._started(width, by_time=time is not None) if now is None else now.state
        state = device_transfer.take_in(state, points, weights, self._times(state.settings, hosted(home, time), n_rows), home)
        single = points.dtype == home.single and (now is None or now.single)
        return Sampled(state, None, single, 0 if now is None else now.parts, home)

    @one_at_a_time
    def fit_resample(self, X: Any, y: Any, *, quotas: Mapping[Any, int] | None = None) -> tuple[Any, Any]:
        """Return n_prototypes rows of X with their labels, so that each class is represented by rows that are typical of it.

        The convention of imbalanced-learn: an array gives an array, a DataFrame a DataFrame, a list a list. `sample_indices_`
        are the places of the rows in X. They come in the order of X; if X has no more rows than n_prototypes, all of them.

        The rows are divided over the classes in proportion to their counts, at least one for each: shares of classes stay those
        of y, but for classes too small for a row. From each class its part is selected as by `fit`, with the bandwidth of its
        own rows. `min_distance` holds among the rows of all classes; where it leaves a class fewer rows than its part,
        `sample_note_` says so. Nothing of `fit` and `partial_fit` changes: prototypes_ and mmd_ are still of the rows that
        these took in.

        y: the class of each row: whole numbers, truth values or text.
        quotas: how many rows of each class to return, by class, in place of n_prototypes in proportion.

        >>> import numpy as np
        >>> import supersample as ss
        >>> X = np.random.default_rng(0).normal(size=(1_000, 2))
        >>> y = np.repeat(["usual", "rare"], [950, 50])
        >>> small, labels = ss.SuperSampler(20, random_state=0).fit_resample(X, y)
        >>> small.shape, (labels == "rare").sum()
        ((20, 2), np.int64(1))
        """
        if self.target is not None or self.include is not None:
            raise InputError(
                "fit_resample needs a sampler without target and include, since classes are represented by their own rows; use "
                "fit, or a sampler without them"
            )
        if self.min_distance is not None and self.half_life is not None:
            raise InputError(
                f"fit_resample needs a sampler without half_life where it has min_distance, got {self.half_life!r}; leave "
                f"one of the two out"
            )
        home = home_of(X=X, **({"y": y} if is_device_array(y) else {}))
        points: Any = check_points(X, "X") if home is None else check_device_points(X, "X", home)
        labels = y if home is None or not is_device_array(y) else home.host(y)
        params = self.get_params(deep=False) | {"n_criticisms": 0}
        seed = as_seed(self.random_state).child("classes")

        def choose_from(rows: Indices, size: int, place: int, chosen: Indices) -> Indices:
            own = params | {"n_prototypes": size, "random_state": seed.child(place).sequence()}
            if home is None:
                free = rows
                if self.min_distance is not None and chosen.size:
                    mine, others = (points[each].astype(np.float64, copy=False) for each in (rows, chosen))
                    free = rows[far_from(mine, others, self.min_distance)]
                    own["target"] = points[rows]  # rows too near to those of other classes still count as rows of their class
                return rows[:0] if free.size == 0 else free[type(self)(**own).fit(points[free]).prototype_indices_]
            found = type(self)(**own).fit(home.xp.take(points, home.array(rows), axis=0))
            return np.asarray(rows[home.host(found.prototype_indices_)])

        indices, note = chosen_by_class(labels, int(points.shape[0]), self.n_prototypes, quotas, choose_from)
        self.sample_indices_, self.sample_note_ = follow(home, indices), note
        return _rows_of(X, indices), _rows_of(y, indices)

    def merge(self, other: "SuperSampler") -> "SuperSampler":
        """Return a sampler for the rows of both, as if those of `other` had come after; neither argument changes.

        The moments are added exactly, and the points are selected again from both; MMD comes within 1.5 times that of one pass
        over all rows. `other` must have been made by `empty_like`, so that both share bandwidth and features.
        """
        if not isinstance(other, SuperSampler):
            raise InputTypeError(f"other must be a SuperSampler, got {type(other).__name__}")
        check_is_fitted(self)
        check_is_fitted(other)
        mine, theirs = self._held(), other._held()
        if mine.state.width != theirs.state.width:
            raise MismatchError(
                f"the two samplers have seen rows of {mine.state.width} and {theirs.state.width} columns and cannot be merged"
            )
        if mine.state.n_seen and theirs.state.n_seen:
            require_home(theirs.home, mine.home, "other", "sampler")
        merged, home = (
            merging.merge(*(device_transfer.on_host(each.state) for each in (mine, theirs))),
            mine.home or theirs.home,
        )
        return self._copy_with(Sampled(merged, mine.names, mine.single and theirs.single, merged.settings.stream, home))

    @one_at_a_time
    def empty_like(self, stream_index: int | None = None) -> "SuperSampler":
        """Return an empty sampler with this one's bandwidth and features, for another part of the data, to be merged later.

        If this one has seen fewer rows than its warm-up needs, its bandwidth and features are fixed from the rows seen so far.
        stream_index numbers the parts, so that their random draws are independent: this one is 0 unless it was made
        by `empty_like` itself, and those made from it are 1, 2, ... by default.
        """
        check_is_fitted(self)
        state = self._now.state
        fixed = stream.fix_plan(state) if isinstance(state, Stream) else state
        if fixed.plan is None:
            raise InputError(
                "there are no bandwidth and features to share yet: no row of positive weight was seen; call partial_fit first"
            )
        parts = self._now.parts + 1
        index = parts if stream_index is None else check_count(stream_index, "stream_index", minimum=0)
        self._now = replace(self._now, state=fixed, parts=parts)
        empty = stream.init(replace(fixed.settings, stream=index), fixed.width, fixed.plan, aim=fixed.aim)
        return self._copy_with(Sampled(empty, self._now.names, True, index))

    def bound(
        self,
        delta: float = 0.05,
        *,
        kind: Literal["auto", "background", "bernstein", "theorem"] = "auto",
        population: bool = False,
    ) -> float:
        """Return an upper bound on MMD that holds with probability 1 - delta.

        kind: what the bound is derived from.
            "background": the exact MMD to a uniform sample of 5,000 rows, plus how far such a sample can be from all rows.
            Needs rows of equal weight; up to 5,000 rows, of any weight, it is the exact MMD. O(5000^2 d).
            "bernstein": mean and variance of the terms at the held-out frequencies (Maurer and Pontil 2009).
            "theorem": their mean (Theorem 1 of Paige, Sejdinovic and Wood 2016).
            "auto": "background" if the rows allow it, else "bernstein".
        "bernstein" and "theorem" hold for any weights. They are near 1 with 128 held-out features; a larger `n_held_out` helps.
        population: bound the MMD to the population that the rows were drawn from independently, instead of to the rows. Rows
        of unequal weight count as (sum w)^2 / sum w^2, dependent ones as if they were independent.
        """
        return checked_bound(self._read().bound_inputs, delta, kind, population)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether any rows were taken in, or bandwidth and features came from another sampler."""
        return hasattr(self, "_now")

    def _times(self, settings: Settings, time: Any, n: int) -> Floats | None:
        """Return the times of n rows; None if no half-life needs them."""
        if time is None:
            if settings.by_time:
                raise InputError("time must be given with every batch, since half_life is one of time; pass one time a row")
            return None
        if not settings.by_time:
            raise InputError(
                "time must be left out: it is of use only with half_life, and if the first batch had it; make a new sampler"
            )
        return check_times(time, n, self.half_life, "time")

    def _settings(self, *, by_time: bool) -> Settings:
        return settings_of(
            n_prototypes=self.n_prototypes,
            n_criticisms=self.n_criticisms,
            kernel=self.kernel,
            bandwidth=self.bandwidth,
            features=self.features,
            n_features=self.n_features,
            n_held_out=self.n_held_out,
            search=self.search,
            half_life=self.half_life,
            by_time=self.half_life is not None and (by_time or is_duration(self.half_life)),
            regularizer=self.regularizer,
            include=self.include,
            min_distance=self.min_distance,
            random_state=self.random_state,
        )

    def _started(self, width: int, *, by_time: bool) -> Stream:
        """Return a stream that has seen nothing."""
        return started(self._settings(by_time=by_time), width, self.target)

    def _copy_with(self, now: Sampled) -> "SuperSampler":
        copied = type(self)(**self.get_params(deep=False))
        copied._now = now
        return copied


def _rows_of(data: Any, indices: Indices) -> Any:
    """Return rows of what a user gave, in the form it was given."""
    home = home_of(data=data)
    return taken(data, indices) if home is None else home.xp.take(data, home.array(indices), axis=0)


def _updated(state: Stream, points: Points, weights: ScaledWeights, times: Floats | None) -> Stream:
    """Return the stream after more rows, of which a slice at a time is converted: X may be a mapped file larger than memory."""
    n_rows, width = points.shape
    step = CHUNK * max(1, _CONVERTED // (CHUNK * width))
    for start in range(0, n_rows, step):
        part = slice(start, start + step)
        some = points[part].astype(np.float64, copy=False)
        rows = Rows(some, np.arange(len(some), dtype=np.int64), weights.mantissas[part], weights.exponents[part])
        state = stream.update(state, rows, None if times is None else times[part])
    return state


def _weights(sample_weight: npt.ArrayLike | None, log_weight: npt.ArrayLike | None, n: int) -> ScaledWeights:
    if sample_weight is not None and log_weight is not None:
        raise InputError("sample_weight and log_weight must not both be given; pass one of them")
    if log_weight is not None:
        return scale_log_weights(check_log_weights(log_weight, n, "log_weight"))
    if sample_weight is not None:
        return scale_weights(check_weights(sample_weight, n, "sample_weight", all_zero=True))
    ones: Floats = np.full(n, 0.5)
    return ScaledWeights(ones, np.ones(n, dtype=np.int64))
