"""Bandwidth and feature maps of a stream, for selection and for evaluation: fixed by its first rows."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from supersample._checks import MOST, MOST_FEATURES, ROUNDING, require
from supersample._random import Seed, as_seed
from supersample._stored import (
    FLAG,
    FLOATS,
    INTEGER,
    NUMBER,
    TEXT,
    UnknownNameError,
    any_of,
    instance_of,
    one_of,
    optional,
    stored,
)
from supersample._threads import BLOCK_ROWS
from supersample._typing import Floats, RandomState
from supersample._validation import check_count, check_points, choose
from supersample.embedding.decay import check_half_life
from supersample.errors import InputError, MismatchError
from supersample.features import FeatureMap, FeaturesLike
from supersample.features.base import require_features
from supersample.features.heldout import held_out_map
from supersample.features.named import FEATURES, Size, build_map
from supersample.kernels import Kernel, KernelLike, as_kernel
from supersample.selection.pool import kernel_block
from supersample.selection.stream import rare
from supersample.selection.stream.rows import Rows

__all__ = ["CHUNK", "HELD_OUT", "WARM_UP", "Plan", "Search", "Settings", "check_settings", "make_plan", "settings_of"]

Search = Literal["auto", "exact", "tree"]

#: Rows of a chunk; a multiple of the rows of a block of features.
CHUNK = 8 * BLOCK_ROWS
#: Rows that bandwidth and maps are fitted on.
WARM_UP = 5000
#: Draws, in proportion to weight, that the median distance is taken from.
_MEDIAN_ROWS = 2000
#: Usual number of held-out features: not used by the selection, only to measure its MMD.
HELD_OUT = 128
#: With at least this many points the tree is faster than the pruned exact search (benchmarks/speed, "crossover").
_TREE_FROM = 2000


@stored(
    "Settings",
    {
        "n_prototypes": INTEGER,
        "kernel": instance_of(Kernel),
        "n_criticisms": INTEGER,
        "features": any_of(TEXT, instance_of(FeatureMap)),
        "n_features": optional(INTEGER),
        "search": one_of("auto", "exact", "tree"),
        "seed": instance_of(Seed),
        "stream": INTEGER,
        "half_life": optional(NUMBER),
        "by_time": FLAG,
        "include": optional(FLOATS),
        "min_distance": optional(NUMBER),
    },
    later={"half_life": None, "by_time": False, "include": None, "min_distance": None},
)
@dataclass(frozen=True)
class Settings:
    """The user's options. `stream` distinguishes streams that share a plan, so that their random draws are independent.

    half_life: rows, or units of the rows' times (by_time), in which a row loses half of its weight; None: they keep it.
    include: points chosen before, which count beside the prototypes. min_distance: between any two chosen points, at least.
    regularizer, n_held_out: not stored; tables have none, and the usual number of held-out features.
    """

    n_prototypes: int
    kernel: Kernel
    n_criticisms: int = 0
    features: FeaturesLike = "auto"
    n_features: int | None = None
    search: Search = "auto"
    seed: Seed = field(default_factory=lambda: as_seed(None))
    stream: int = 0
    half_life: float | None = None
    by_time: bool = False
    regularizer: Literal["logdet"] | None = None
    n_held_out: int = HELD_OUT
    include: Floats | None = field(default=None, compare=False)
    min_distance: float | None = None

    @property
    def n_held_criticisms(self) -> int:
        """Criticisms that the stream itself holds: none, unless they are chosen by their witness and log det."""
        return 0 if self.regularizer is None else self.n_criticisms

    @property
    def n_rare(self) -> int:
        """Rows of low density that are kept, among which the rare ones are found."""
        return rare.size_for(self.n_criticisms) if self.regularizer is None else 0

    @property
    def use_tree(self) -> bool:
        """Whether the tree searches the reservoir."""
        return self.search == "tree" or (self.search == "auto" and self.n_prototypes >= _TREE_FROM)

    @property
    def n_background(self) -> int:
        """Rows of the uniform sample: enough for a second look, and for a random set to compare with."""
        size = self.n_prototypes
        return max(5000, min(20 * size, 20_000), min(3 * size, 100_000), size)

    def check(self) -> None:
        """Refuse settings that are out of range, and features that are not registered."""
        if isinstance(self.features, str) and self.features not in FEATURES:
            raise UnknownNameError(self.features)
        sizes = (self.n_prototypes - 1, self.n_criticisms, self.stream)
        require(all(0 <= each < MOST for each in sizes), "the settings are impossible")
        require(min(self.seed.entropy, *self.seed.path, 0) >= 0, "the seed is impossible")
        n_features = self.n_features
        half_life = self.half_life
        require(half_life is None or (np.isfinite(half_life) and half_life > 0), "the half-life is impossible")
        require(n_features is None or 1 <= n_features <= MOST_FEATURES, "the number of features is impossible")
        least, before = self.min_distance, self.include
        require(least is None or (np.isfinite(least) and least > 0), "the least distance is impossible")
        fits = before is None or (before.ndim == 2 and len(before) > 0 and bool(np.isfinite(before).all()))
        require(fits, "the included rows are impossible")


@stored("Plan", {"feature_map": instance_of(FeatureMap), "held_out": instance_of(FeatureMap)})
@dataclass(frozen=True)
class Plan:
    """The maps of a stream: phi, used to select, and held-out features, used only to measure the selection."""

    feature_map: FeatureMap
    held_out: FeatureMap

    @property
    def kernel(self) -> Kernel:
        """The kernel, with its bandwidth."""
        return self.feature_map.kernel

    def check(self, reach: Floats) -> None:
        """Refuse maps that do not give finite features for rows whose coordinates are at most `reach` in size."""
        corners = np.stack([-reach, np.zeros_like(reach), reach])
        kernel = self.kernel
        require(self.held_out.kernel == kernel, "selection and judgement differ in their kernel")
        _require_kernel(kernel, corners)
        for each in (self.feature_map, self.held_out):
            require(1 <= each.n_features <= MOST_FEATURES, "the number of features is impossible")
            each.check()
            features = each.transform(corners)
            require(features.shape == (3, each.n_features), "a feature map is incomplete")
            require_features(features, features.shape, kernel, "a feature map")


def settings_of(
    *,
    n_prototypes: Any,
    n_criticisms: Any,
    kernel: KernelLike,
    bandwidth: Any,
    features: Any,
    n_features: Any,
    search: Any,
    random_state: RandomState,
    half_life: Any = None,
    by_time: bool = False,
    regularizer: Any = None,
    n_held_out: Any = HELD_OUT,
    include: Any = None,
    min_distance: Any = None,
) -> Settings:
    """Check the users' arguments and return them as settings."""
    if isinstance(features, FeatureMap):
        if not (isinstance(kernel, str) and kernel == "gaussian") and as_kernel(kernel) != features.kernel:
            raise InputError(f"kernel must be left out or equal that of the feature map, {features.kernel!r}")
        if n_features is not None or not (isinstance(bandwidth, str) and bandwidth == "median"):
            raise InputError("bandwidth and n_features must be left out where features is a feature map, which carries its own")
        checked = features.kernel
    else:
        choose(features, "features", tuple(FEATURES))
        checked = as_kernel(kernel, bandwidth)
    choose(search, "search", ("auto", "exact", "tree"))
    if regularizer is not None:
        choose(regularizer, "regularizer", ("logdet",))
    if check_count(n_held_out, "n_held_out", minimum=4) % 2:
        raise InputError(f"n_held_out must be even, a cosine and a sine for each frequency, got {n_held_out}")
    return Settings(
        n_prototypes=check_count(n_prototypes, "n_prototypes"),
        kernel=checked,
        n_criticisms=check_count(n_criticisms, "n_criticisms", minimum=0),
        features=features,
        n_features=None if n_features is None else check_count(n_features, "n_features"),
        search=search,
        seed=as_seed(random_state),
        half_life=None if half_life is None else check_half_life(half_life, by_time=by_time),
        by_time=by_time,
        regularizer=regularizer,
        n_held_out=int(n_held_out),
        include=None if include is None else check_points(include, "include").astype(np.float64),
        min_distance=None if min_distance is None else _check_distance(min_distance),
    )


def _check_distance(value: Any) -> float:
    number = not isinstance(value, bool) and isinstance(value, int | float | np.integer | np.floating)
    if not number or not (np.isfinite(value) and value > 0):
        raise InputError(f"min_distance must be a number above 0, in the units of the points, got {value!r}; None for no limit")
    return float(value)


def check_settings(settings: Settings, width: int) -> None:
    """Refuse settings that cannot work for rows of this width, before any row is processed."""
    settings.kernel.check_width(width)
    if settings.include is not None and settings.include.shape[1] != width:
        raise MismatchError(
            f"include must have the {width} columns of the rows to choose from, got {settings.include.shape[1]}; pass the same "
            f"columns of both"
        )
    features = settings.features
    if isinstance(features, str) and FEATURES[features].needs_spectrum and not settings.kernel.has_spectrum:
        raise InputError(
            f"features={features!r} needs a shift-invariant kernel, got {settings.kernel!r}; use features='auto' or 'nystroem'"
        )


def make_plan(settings: Settings, rows: Rows) -> Plan:
    """Fix bandwidth and maps from the first rows."""
    seed, points = settings.seed, rows.points
    if isinstance(settings.features, FeatureMap):
        feature_map = settings.features
    else:
        kernel = _resolve(settings.kernel, _weighted_sample(rows, seed), seed)
        size = Size(settings.n_features, settings.n_prototypes)
        feature_map = build_map(settings.features, size, kernel, points, seed)
    state = seed.child("held-out").sequence()
    count = settings.n_held_out
    held_out = held_out_map(feature_map.kernel, count, 2 * count, points, origin=points.mean(axis=0), random_state=state)
    return Plan(feature_map, held_out)


def _weighted_sample(rows: Rows, seed: Seed) -> Floats:
    """Return rows drawn in proportion to their weights, so that the bandwidth fits the rows that carry the weight."""
    weights = rows.relative_weights()
    if weights.size == 0 or weights.min() == weights.max():
        return rows.points
    chosen = seed.child("weighted sample").generator().choice(len(rows), _MEDIAN_ROWS, p=weights / weights.sum())
    return rows.points[np.unique(chosen)]


def _resolve(kernel: Kernel, points: Floats, seed: Seed) -> Kernel:
    """Resolve a "median" bandwidth; if all rows are equal it is 1, since they have no scale."""
    kernel.check_on(points)
    if not kernel.is_resolved and bool((points == points[0]).all()):
        return kernel.resolved_by(1.0)
    return kernel.resolve(points, random_state=seed.child("bandwidth").sequence())


def _require_kernel(kernel: Kernel, points: Floats) -> None:
    values = kernel_block(kernel, points, points)
    require(bool(np.isfinite(values).all()), "the kernel is not finite")
    require(bool((np.abs(values) <= kernel.largest * (1.0 + ROUNDING)).all()), "the kernel is larger than at its centre")
