"""Feature maps by name: what `features=` takes, and maps that users register."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from supersample._random import Seed
from supersample._registry import Registry
from supersample._stored import kind_of, stored
from supersample._typing import Floats
from supersample.errors import InputError, InputTypeError
from supersample.features.base import FeatureMap
from supersample.features.fourier import Fourier
from supersample.features.landmark import SPAN_TOLERANCE, Landmark
from supersample.features.nystroem import TRACE_TOLERANCE, Nystroem, landmarks_of
from supersample.features.pivots import Enough
from supersample.kernels import Kernel

__all__ = ["FEATURES", "FeaturesLike", "NamedMap", "Size", "build_map", "register"]

#: A name, or a feature map.
FeaturesLike = str | FeatureMap
M = TypeVar("M", bound=FeatureMap)

#: Least numbers of features of each kind; "auto" has landmarks and residual features, in this proportion if told how many.
_FOURIER, _LANDMARKS, _RESIDUAL = 512, 112, 64
#: To select M points, landmarks are added until they leave this much over M of k(x, x) (docs/decisions/036). At most as many as
#: points, and this many at most; Fourier features likewise.
_UNSPANNED = 20.0
_MOST_LANDMARKS, _MOST_FOURIER = 1300, 2048
#: Residual features for each landmark, beyond the least number.
_RESIDUAL_SHARE = 0.125


class Size(NamedTuple):
    """How many features a map is to have (None: as many as it takes), and how many points are to be selected with it."""

    n_features: int | None
    n_points: int

    @property
    def enough(self) -> Enough:
        """When landmarks suffice: what they leave of the kernel is left to chance, and chance matters less for few points."""
        return Enough(_LANDMARKS, _UNSPANNED / self.n_points)

    @property
    def most_landmarks(self) -> int:
        """How many landmarks there may be."""
        return max(_LANDMARKS, min(self.n_points, _MOST_LANDMARKS))


class NamedMap(NamedTuple):
    """How a map is built: a function of kernel, first rows, size and seed."""

    build: Callable[[Kernel, Floats, Size, Seed], FeatureMap]
    needs_spectrum: bool = False


def build_map(features: str, size: Size, kernel: Kernel, points: Floats, seed: Seed) -> FeatureMap:
    """Return the map of this name for a kernel, fitted on the first rows."""
    return FEATURES[features].build(kernel, points, size, seed.child("features"))


def register(name: str, **fields: Any) -> Callable[[type[M]], type[M]]:
    """Register a feature map class of your own, so that summaries that use it can be saved and loaded.

    fields: what the constructor takes by keyword, each with the type of its values: float, int, str, bool, tuple (of numbers),
    numpy.ndarray, or the class of a kernel or a feature map. If the class has a method `from_sample(kernel, sample, n_features,
    random_state)`, then `features=name` builds the map from the first rows; n_features is None where the user gave none. A file
    holds the name alone: the process that loads it must have registered the class before.

    >>> import numpy as np
    >>> import supersample as ss
    >>> @ss.features.register("product", kernel=ss.kernels.Kernel)
    ... class Product(ss.features.FeatureMap):
    ...     n_features, dtype = 2, np.dtype(np.float64)
    ...
    ...     def __init__(self, kernel):
    ...         self.kernel = kernel
    ...
    ...     @property
    ...     def identity(self):
    ...         return {"map": "product", "kernel": dict(self.kernel.identity)}
    ...
    ...     def fill(self, points, out):
    ...         out[...] = points
    >>> Product(ss.kernels.Gaussian(1.0)).transform([[1.0, 2.0]])
    array([[1., 2.]])
    """

    def add(cls: type[M]) -> type[M]:
        if not (isinstance(cls, type) and issubclass(cls, FeatureMap)):
            raise InputTypeError(f"register must decorate a class that extends supersample.features.FeatureMap, got {cls!r}")
        FEATURES.check(name)
        from_sample = getattr(cls, "from_sample", None)
        kinds = {key: kind_of(key, value, Kernel, FeatureMap) for key, value in fields.items()}
        if from_sample is not None:
            made = NamedMap(lambda kernel, points, size, seed: from_sample(kernel, points, size.n_features, seed.sequence()))
            FEATURES.add(name, made, written=cls)
        return stored(name, kinds, tag="map")(cls)

    return add


def _fourier(kernel: Kernel, points: Floats, size: Size, seed: Seed) -> FeatureMap:
    count = size.n_features or max(_FOURIER, min(size.n_points, _MOST_FOURIER))
    return Fourier(kernel, count, origin=points.mean(axis=0), random_state=seed.sequence())


def _nystroem(kernel: Kernel, points: Floats, size: Size, seed: Seed) -> FeatureMap:
    if size.n_features is not None:
        return Nystroem.from_sample(kernel, points, size.n_features, random_state=seed.sequence())
    return Nystroem(kernel, landmarks_of(kernel, points, size.most_landmarks, seed, TRACE_TOLERANCE, size.enough)[1])


def _auto(kernel: Kernel, points: Floats, size: Size, seed: Seed) -> FeatureMap:
    """Return landmarks, with Fourier features of what they do not span where the kernel has them."""
    if not kernel.has_spectrum:
        return _nystroem(kernel, points, size, seed)
    if size.n_features is None:
        landmarks = landmarks_of(kernel, points, size.most_landmarks, seed, SPAN_TOLERANCE, size.enough)[1]
        residual = max(_RESIDUAL, 2 * round(_RESIDUAL_SHARE / 2 * len(landmarks)))
        return Landmark(kernel, landmarks, residual, random_state=seed.child("residual").sequence())
    if size.n_features < 2:
        raise InputError(f"n_features must be at least 2 for features='auto', got {size.n_features}")
    most = (size.n_features * _LANDMARKS) // (_LANDMARKS + _RESIDUAL) or 1
    return Landmark.from_sample(kernel, points, most, size.n_features - most, random_state=seed.sequence())


#: Feature maps that `features=` takes by name.
FEATURES: Registry[NamedMap] = Registry(
    "feature map",
    {"auto": NamedMap(_auto), "fourier": NamedMap(_fourier, needs_spectrum=True), "nystroem": NamedMap(_nystroem)},
)
