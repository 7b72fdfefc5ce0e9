"""SuperSampler: the stream with scikit-learn's conventions."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from supersample._durations import is_duration
from supersample._locking import one_at_a_time
from supersample._random import as_seed
from supersample._typing import Floats, Indices, Points, PointsLike, RandomState
from supersample._validation import check_count, check_log_weights, check_points, check_weights
from supersample.device.arrays import Home, follow, home_of, hosted, is_device_array, require_home
from supersample.device.checks import check_device_points
from supersample.discrepancy.bounds import Judged, checked_bound
from supersample.discrepancy.certificate import Certificate, captured_energy, certify, equal_weights, random_baseline
from supersample.embedding.decay import check_times
from supersample.embedding.moments import ScaledWeights, scale_log_weights, scale_weights
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.features import FeatureMap, FeaturesLike
from supersample.kernels import Kernel, KernelLike
from supersample.records.names import check_names
from supersample.selection import stream
from supersample.selection.stream import merging, there
from supersample.selection.stream.lifecycle import Selected, Stream
from supersample.selection.stream.missed_and_rare import KINDS
from supersample.selection.stream.plan import HELD_OUT, Settings, settings_of
from supersample.selection.stream.rows import Rows
from supersample.summary.by_class import divide, places_of_classes, taken

__all__ = ["SuperSampler"]

T = TypeVar("T")


class SuperSampler(BaseEstimator):  # type: ignore[misc]
    """Keep the M real points whose mean embedding is nearest to that of all rows seen, in one pass.

    Algorithm 2 of Paige, Sejdinovic and Wood 2016. A row may replace a held point if that reduces the maximum mean discrepancy
    (MMD) between the points and the data. A uniform background sample is kept for a second look whenever a result is read.
    Time O(n (d + M / 20) D), memory O((M + 5000) (d + D)), whatever the number of rows. The same rows in the same order with
    the same seed give the same result however they are batched; reading a result changes nothing. Thread-safe: calls are
    serialised, no row is lost, and rows keep the order of the calls.

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
    random_state: an int makes results repeat.

    Attributes
    ----------
    prototypes_: the points kept, in the order of the stream, and prototype_indices_: their positions in it.
    weights_: their weights in averages, positive and of sum one.
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
    random_mmd_: the same for as many rows drawn uniformly; random_mmd_ / mmd_ says how many times better than chance.
    energy_: the share of E k(x, x) that the landmarks span (1 without landmarks); where low, more n_features help.
    kernel_, feature_map_: what the first rows fixed.
    comparisons_: comparisons_[i] rows were compared with i held points (the last entry: or more).
    sample_indices_: the rows that `fit_resample` returned, as places in its X.

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

    n_features_in_: int
    feature_names_in_: npt.NDArray[Any]
    _state: Any  # a Stream, or a StreamOnDevice
    _home: Home | None
    _selected: Selected | None
    _single: bool
    sample_indices_: Any

    def __init__(
        self,
        n_prototypes: int = 100,
        n_criticisms: int = 0,
        *,
        kernel: KernelLike = "gaussian",
        bandwidth: Any = "median",
        features: FeaturesLike = "auto",
        n_features: int | None = None,
        n_held_out: int = HELD_OUT,
        search: Literal["auto", "exact", "tree"] = "auto",
        half_life: float | str | timedelta | None = None,
        regularizer: Literal["logdet"] | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.n_criticisms = n_criticisms
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.features = features
        self.n_features = n_features
        self.n_held_out = n_held_out
        self.search = search
        self.half_life = half_life
        self.regularizer = regularizer
        self.random_state = random_state

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
        fresh = type(self)(**self.get_params(deep=False)).partial_fit(X, y, sample_weight, log_weight=log_weight, time=time)
        if fresh._state.n_seen and not there.has_weight(fresh._state):
            raise InputError(
                f"sample_weight or log_weight must give at least one row a positive weight, got {fresh._state.n_seen} zeros; "
                f"leave it out to weigh all rows alike"
            )
        kept = {name: value for name, value in vars(self).items() if name != "feature_names_in_"}
        self.__dict__ = {**kept, **vars(fresh)}  # one step: after an interrupt, the rows are those seen before, or X
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
        home = home_of(X=X, sample_weight=sample_weight, log_weight=log_weight)
        if hasattr(self, "_state") and self._state.n_seen:
            require_home(home, self.__dict__.get("_home"), "X", "sampler")
        if home is not None:
            with home.working():
                self.__dict__.update(self._taken_there(home, X, sample_weight, log_weight, time))
            return self
        names = check_names(X, self.__dict__.get("feature_names_in_"))
        points = check_points(X, "X")
        expected = self.__dict__.get("n_features_in_", points.shape[1])
        if points.shape[1] != expected:
            raise MismatchError(
                f"X has {points.shape[1]} features, but SuperSampler is expecting {expected} features as input, as in the "
                f"rows seen before; pass the same columns in the same order"
            )
        weights = _weights(sample_weight, log_weight, points.shape[0])
        state = self._host_state() or stream.init(self._settings(by_time=time is not None), points.shape[1])
        times = self._times(state.settings, time, points.shape[0])
        positions = np.arange(points.shape[0], dtype=np.int64)
        state = stream.update(state, Rows(points.astype(np.float64, copy=False), positions, *weights), times)
        after: dict[str, Any] = {"n_features_in_": points.shape[1], "_state": state, "_selected": None}
        after["_single"] = self.__dict__.get("_single", True) and points.dtype == np.float32
        if names is not None and not hasattr(self, "_state"):
            after["feature_names_in_"] = names
        self.__dict__.update(after)  # one step: after an interrupt, all rows of X are taken in, or none
        return self

    def _taken_there(self, home: Home, X: Any, sample_weight: Any, log_weight: Any, time: Any) -> dict[str, Any]:
        """Return what changes by rows that lie on a device; the first ones, which fix bandwidth and maps, go to the host."""
        if not home.is_mutable:
            raise InputTypeError("X must be an array of NumPy, torch or CuPy: JAX is for functions without a state; convert it")
        points = check_device_points(X, "X", home)
        n_rows, width = (int(size) for size in points.shape)
        expected = self.__dict__.get("n_features_in_", width)
        if width != expected:
            raise MismatchError(
                f"X has {width} features, but SuperSampler is expecting {expected} features as input, as in the rows seen "
                f"before; pass the same columns in the same order"
            )
        alike = sample_weight is None and log_weight is None
        weights = None if alike else _weights(hosted(home, sample_weight), hosted(home, log_weight), n_rows)
        state = getattr(self, "_state", None) or stream.init(self._settings(by_time=time is not None), width)
        times = self._times(state.settings, time, n_rows)
        state = there.take_in(state, points, weights, times, home)
        single = points.dtype == home.single and self.__dict__.get("_single", True)
        return {"n_features_in_": width, "_state": state, "_selected": None, "_single": single, "_home": home}

    @one_at_a_time
    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return n_prototypes rows of X with their labels, so that each class is represented by rows that are typical of it.

        The convention of imbalanced-learn: an array gives an array, a DataFrame a DataFrame, a list a list. `sample_indices_`
        are the places of the rows in X. They come in the order of X; if X has no more rows than n_prototypes, all of them.

        The rows are divided over the classes in proportion to their counts, at least one for each: shares of classes stay those
        of y, but for classes too small for a row. From each class its part is selected as by `fit`, with the bandwidth of its
        own rows.
        Nothing of `fit` and `partial_fit` changes: prototypes_ and mmd_ are still of the rows that these took in.

        y: the class of each row: whole numbers, truth values or text.

        >>> import numpy as np
        >>> import supersample as ss
        >>> X = np.random.default_rng(0).normal(size=(1_000, 2))
        >>> y = np.repeat(["usual", "rare"], [950, 50])
        >>> small, labels = ss.SuperSampler(20, random_state=0).fit_resample(X, y)
        >>> small.shape, (labels == "rare").sum()
        ((20, 2), np.int64(1))
        """
        home = home_of(X=X, **({"y": y} if is_device_array(y) else {}))
        points: Any = check_points(X, "X") if home is None else check_device_points(X, "X", home)
        places = places_of_classes(home.host(y) if home is not None and is_device_array(y) else y, points.shape[0])
        wanted = check_count(self.n_prototypes, "n_prototypes")
        if wanted < len(places):
            raise InputError(
                f"n_prototypes must be at least the number of classes of y, {len(places)}, so that each is represented, got "
                f"{wanted}; ask for more rows, or join classes"
            )
        sizes = divide(min(wanted, points.shape[0]), np.array([each.size for each in places]))
        seed, params = as_seed(self.random_state).child("classes"), self.get_params(deep=False) | {"n_criticisms": 0}
        chosen = []
        for place, (rows, size) in enumerate(zip(places, sizes, strict=True)):
            own = params | {"n_prototypes": int(size), "random_state": seed.child(place).sequence()}
            if home is None:
                chosen.append(rows[type(self)(**own).fit(points[rows]).prototype_indices_])
            else:
                part = type(self)(**own).fit(home.xp.take(points, home.array(rows), axis=0))
                chosen.append(rows[home.host(part.prototype_indices_)])
        indices: Indices = np.sort(np.concatenate(chosen))
        self.sample_indices_ = follow(home, indices)
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
        if self.n_features_in_ != other.n_features_in_:
            raise MismatchError(
                f"the two samplers have seen rows of {self.n_features_in_} and {other.n_features_in_} columns and cannot be "
                f"merged"
            )
        home = self.__dict__.get("_home")
        if self._state.n_seen and other._state.n_seen:
            require_home(other.__dict__.get("_home"), home, "other", "sampler")
        home = home or other.__dict__.get("_home")
        merged = self._empty_copy()
        (mine, single), (theirs, also_single) = self._held(), other._held()
        merged._state = merging.merge(mine, theirs)
        merged._single = single and also_single
        merged._home = home
        return merged

    @one_at_a_time
    def empty_like(self, stream_index: int | None = None) -> "SuperSampler":
        """Return an empty sampler with this one's bandwidth and features, for another part of the data, to be merged later.

        If this one has seen fewer rows than its warm-up needs, its bandwidth and features are fixed from the rows seen so far.
        stream_index numbers the parts, so that their random draws are independent: this one is 0 unless it was made
        by `empty_like` itself, and those made from it are 1, 2, ... by default.
        """
        check_is_fitted(self)
        self._parts = self.__dict__.get("_parts", self._state.settings.stream) + 1
        index = self._parts if stream_index is None else check_count(stream_index, "stream_index", minimum=0)
        if isinstance(self._state, Stream):
            self._state = stream.fix_plan(self._state)
        plan = self._state.plan
        if plan is None:
            raise InputError(
                "there are no bandwidth and features to share yet: no row of positive weight was seen; call partial_fit first"
            )
        other = self._empty_copy()
        other._state = stream.init(replace(self._state.settings, stream=index), self.n_features_in_, plan)
        other._single = True
        return other

    @property
    @one_at_a_time
    def prototypes_(self) -> Points:
        """The points kept."""
        return self._as_given(self._require_selected().rows.points)

    @property
    def prototype_indices_(self) -> Indices:
        """Their positions in the stream, counting from 0, rows of weight zero included."""
        return self._follow(self._require_selected().rows.positions.copy())

    @property
    def weights_(self) -> Floats:
        """The weights of the prototypes in averages: at least a tenth of 1 / M each; 1 / M where nothing else was nearer."""
        return self._follow(self._require_selected().weights.copy())

    @property
    @one_at_a_time
    def criticisms_(self) -> Points:
        """The points that the prototypes do not show; copies are left out."""
        return self._as_given(self._require_selected().criticisms.points)

    @property
    def criticism_indices_(self) -> Indices:
        """Their positions in the stream."""
        return self._follow(self._require_selected().criticisms.positions.copy())

    @property
    def criticism_kind_(self) -> npt.NDArray[np.str_]:
        """The kind of each criticism: "missed", "rare" or "witness"."""
        return np.array(KINDS)[self._require_selected().kinds]

    @property
    def criticism_witness_(self) -> Floats:
        """E k(x, .) less the prototypes' mean of k(s, .) at each criticism: positive where these have too little mass.

        For missed and rare points, the mean is by `weights_`, and the prototypes' own mean witness is taken off.
        """
        return self._follow(self._require_selected().witness.copy())

    @property
    def criticism_nearest_(self) -> Indices:
        """The place in prototypes_ of the prototype nearest to each criticism."""
        return self._follow(self._require_selected().nearest.copy())

    @property
    def criticism_share_(self) -> Floats:
        """The share of the data nearer to each criticism than to any prototype, estimated from the background sample."""
        return self._follow(self._require_selected().shares.copy())

    @property
    def n_seen_(self) -> int:
        """Rows seen."""
        check_is_fitted(self)
        return int(self._state.n_seen)

    @property
    def effective_rows_(self) -> float:
        """(sum w)^2 / sum w^2: how many rows of equal weight tell as much as those seen."""
        return self._require_selected().moments.effective_rows

    @property
    def mmd_(self) -> float:
        """MMD between prototypes and data by held-out features; for kernels with a spectrum it is exact up to 5,000 rows."""
        return self._certificate().mmd

    @property
    def mmd_error_(self) -> float:
        """Its standard error: MMD lies within two of them 95 times in 100. Of exact values, a bound on rounding."""
        return self._certificate().error

    @property
    @one_at_a_time
    def uniform_mmd_(self) -> float:
        """The held-out MMD of the prototypes with equal weights."""
        selected = self._require_selected()
        equal, plan = equal_weights(len(selected.rows)), selected.plan
        return certify(plan.held_out, selected.held_out, selected.rows.points, equal, selected.control).mmd

    @property
    @one_at_a_time
    def random_mmd_(self) -> float:
        """The held-out MMD of as many uniformly random rows as there are prototypes."""
        selected = self._require_selected()
        sample, seed = selected.background, self._state.settings.seed
        return random_baseline(
            selected.plan.held_out, selected.held_out, sample.rows.points, sample.shares(), len(selected.rows), seed
        )

    @property
    def energy_(self) -> float:
        """The share of E k(x, x) that the landmarks of the feature map span."""
        selected = self._require_selected()
        sample = selected.background
        return captured_energy(selected.plan.feature_map, sample.rows.points, sample.shares())

    @property
    def kernel_(self) -> Kernel:
        """The kernel with its bandwidth."""
        return self._require_selected().plan.kernel

    @property
    def feature_map_(self) -> FeatureMap:
        """The features that the selection minimises MMD in."""
        return self._require_selected().plan.feature_map

    @property
    def comparisons_(self) -> Indices:
        """How many rows were compared with how many held points."""
        return self._require_selected().histogram.copy()

    @one_at_a_time
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
        selected = self._require_selected()
        rows, held_out = selected.rows.points, selected.held_out
        judged = Judged(rows, selected.weights, selected.plan.held_out, held_out, selected.background, held_out.effective_rows)
        return checked_bound(judged, delta, kind, population)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether any rows were taken in, or bandwidth and features came from another sampler."""
        return hasattr(self, "_state")

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
            random_state=self.random_state,
        )

    @one_at_a_time
    def _held(self) -> tuple[Stream, bool]:
        """Return the state, and whether all its rows came in single precision."""
        state = self._host_state()
        assert state is not None
        return state, self._single

    def _host_state(self) -> Stream | None:
        """Return the stream as that of the host, wherever it is; None before any rows."""
        state = getattr(self, "_state", None)
        return there.on_host(state) if state is not None else None

    def _follow(self, values: T) -> T:
        """Return values where the rows lie."""
        return follow(self.__dict__.get("_home"), values)

    def _as_given(self, points: Floats) -> Points:
        home = self.__dict__.get("_home")
        if home is not None:
            lying: Points = home.array(points, home.single if self._single else home.wide)
            return lying
        return points.astype(np.float32) if self._single else points.copy()

    def _empty_copy(self) -> "SuperSampler":
        copied = type(self)(**self.get_params(deep=False))
        copied.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            copied.feature_names_in_ = self.feature_names_in_
        copied._selected = None
        return copied

    @one_at_a_time
    def _require_selected(self) -> Selected:
        check_is_fitted(self)
        if self._selected is None:
            state = self._host_state()
            assert state is not None
            selected = stream.finish(state)
            if selected is None:
                raise InputError(
                    f"there is nothing to select from: none of the {self._state.n_seen} rows seen has a positive weight; call "
                    f"partial_fit with rows that have"
                )
            self._selected = selected
        return self._selected

    def _certificate(self) -> Certificate:
        selected = self._require_selected()
        rows, weights = selected.rows.points, selected.weights
        return certify(selected.plan.held_out, selected.held_out, rows, weights, selected.control)


def _rows_of(data: Any, indices: Indices) -> Any:
    """Return rows of what a user gave, in the form it was given."""
    home = home_of(data=data)
    return taken(data, indices) if home is None else home.xp.take(data, home.array(indices), axis=0)


def _weights(sample_weight: npt.ArrayLike | None, log_weight: npt.ArrayLike | None, n: int) -> ScaledWeights:
    if sample_weight is not None and log_weight is not None:
        raise InputError("sample_weight and log_weight must not both be given; pass one of them")
    if log_weight is not None:
        return scale_log_weights(check_log_weights(log_weight, n, "log_weight"))
    if sample_weight is not None:
        return scale_weights(check_weights(sample_weight, n, "sample_weight", all_zero=True))
    ones: Floats = np.full(n, 0.5)
    return ScaledWeights(ones, np.ones(n, dtype=np.int64))
