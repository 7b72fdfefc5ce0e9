"""Features by which changes are seen: cosines and sines at the kernel's own scale, and at a half and a quarter of it.

The bandwidth that suits a summary sees shifts of single columns best. Changes of how columns go together are often seen at a
finer scale only. Each scale is a group of features of length one, and has a limit of its own.
"""

from dataclasses import dataclass

import numpy as np

from supersample._checks import MOST_FEATURES, require
from supersample._random import Seed
from supersample._stored import FLOATS, instance_of, stored, tuple_of
from supersample._typing import Features, Floats
from supersample.features import FeatureMap, Fourier
from supersample.kernels import Kernel

__all__ = ["SCALES", "Waves", "waves_of"]

#: Scales of the bandwidth, fixed beforehand.
SCALES = (1.0, 0.5, 0.25)
#: Features of each scale.
_FEATURES = 128


@stored("Waves", {"maps": tuple_of(instance_of(FeatureMap)), "scales": FLOATS})
@dataclass(frozen=True)
class Waves:
    """One feature map for each scale; rows are divided by it."""

    maps: tuple[FeatureMap, ...]
    scales: Floats

    @property
    def n_groups(self) -> int:
        """Groups of features, one for each scale."""
        return len(self.maps)

    @property
    def n_features(self) -> int:
        """Features of all scales."""
        return sum(each.n_features for each in self.maps)

    def transform(self, points: Floats) -> Features:
        """Return the features of rows, those of each scale of length one at most."""
        found = []
        for each, scale in zip(self.maps, self.scales.tolist(), strict=True):
            part = each.transform(points if scale == 1.0 else points / scale)
            largest = each.kernel.largest
            found.append(part if largest == 1.0 else part / part.dtype.type(np.sqrt(largest)))
        return np.concatenate(found, axis=1)

    def check(self, width: int) -> None:
        """Refuse maps that do not fit together or are no maps of such rows."""
        require(self.scales.shape == (len(self.maps),) and len(self.maps) > 0, "the waves are incomplete")
        require(bool((self.scales > 0).all() and np.isfinite(self.scales).all()), "the waves are impossible")
        require(len({each.n_features for each in self.maps}) == 1, "the waves have groups of several sizes")
        for each in self.maps:
            require(1 <= each.n_features <= MOST_FEATURES, "the waves are impossible")
            each.check()
        require(bool(np.isfinite(self.transform(np.zeros((1, width)))).all()), "the waves are not finite")


def waves_of(kernel: Kernel, seed: Seed, n_features: int = _FEATURES, otherwise: FeatureMap | None = None) -> Waves:
    """Return the features of a kernel with a bandwidth; `otherwise` at its own scale if the kernel is not shift-invariant."""
    if otherwise is not None and not kernel.has_spectrum:
        return Waves((otherwise,), np.ones(1))
    maps = (Fourier(kernel, n_features, random_state=seed.child(place).sequence()) for place in range(len(SCALES)))
    return Waves(tuple(maps), np.array(SCALES))
