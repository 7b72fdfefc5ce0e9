"""Feature maps with their draws and landmarks on a device: the features of points that lie there."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from supersample._typing import Floats, Reals
from supersample.device.arrays import Array, Home
from supersample.device.blocks import cut_for, item_bytes
from supersample.errors import InputError
from supersample.kernels import Kernel

__all__ = ["DeviceMap", "LandmarksOnDevice", "NystroemOnDevice", "WavesOnDevice"]

#: Arrays as large as a block of features that are held while it is computed.
_HELD = 4


class DeviceMap(ABC):
    """A feature map of one home, for points of one width."""

    def __init__(self, home: Home, n_features: int, dtype: np.dtype[Any]) -> None:
        self.home, self.xp, self.n_features = home, home.xp, n_features
        self.dtype = home.single if dtype == np.float32 else home.wide

    @abstractmethod
    def features(self, points: Array, *, far: bool = False) -> Array:
        """Return the features of a block of points. far: whether some of them lie as far out as `is_far` says."""

    def is_far(self, reach: float) -> bool:
        """Whether coordinates of this size may overflow in the map's type, so that the wide one is needed."""
        return False

    @property
    def widest(self) -> int:
        """Numbers of a row that are held at a time while its features are computed."""
        return self.n_features

    @property
    def row_bytes(self) -> int:
        """What a row takes while its features are computed."""
        return _HELD * self.widest * item_bytes(self.home, self.home.wide)

    def blocks(self, n_rows: int) -> list[slice]:
        """Cut rows so that the features of each block fit."""
        return cut_for(self.home, n_rows, self.row_bytes, self.widest, f"{self.n_features} features of one row")

    def of_all(self, points: Array) -> Array:
        """Return the features of any number of points."""
        far = self.is_far(float(self.xp.max(self.xp.abs(points))))
        return self.xp.concat([self.features(points[part, :], far=far) for part in self.blocks(int(points.shape[0]))])


class WavesOnDevice(DeviceMap):
    """Cosines and sines of projections: sqrt(2 k0 / D) [cos(W x); sin(W x)], or cos(W x + b)."""

    def __init__(
        self,
        home: Home,
        *,
        frequencies: Floats,
        origin: Floats,
        heights: Any,
        phases: Reals | None,
        n_features: int,
        dtype: np.dtype[Any],
        harmless: float,
    ) -> None:
        """Copy the draws. phases: of the phase form, or of the odd last feature; harmless: rows this long do not overflow."""
        super().__init__(home, n_features, dtype)
        self.origin = home.array(origin)
        self.frequencies = {each: home.array(frequencies, each) for each in {self.dtype, home.wide}}
        self.heights = home.array(np.asarray(heights, dtype=np.float64), self.dtype)
        self.phases = None if phases is None else home.array(np.asarray(phases, dtype=np.float64), self.dtype)
        self.paired = n_features // 2 if frequencies.shape[1] != n_features else 0
        self.harmless = harmless / np.sqrt(frequencies.shape[0])
        self.largest_origin = float(np.abs(origin).max())

    def is_far(self, reach: float) -> bool:
        """Whether projections of rows that reach so far may overflow."""
        return bool(reach + self.largest_origin > self.harmless)

    def features(self, points: Array, *, far: bool = False) -> Array:
        """Project and take the waves."""
        xp, working = self.xp, self.home.wide if far else self.dtype
        rows = xp.astype(xp.astype(points, self.home.wide) - self.origin, working)
        angles = rows @ self.frequencies[working]
        if far and not bool(xp.all(xp.isfinite(angles))):
            raise InputError(
                "points: a row lies more bandwidths away than float64 can hold; pass a larger bandwidth, or scale the points"
            )
        if not self.paired:
            waves = xp.cos(angles if self.phases is None else angles + xp.astype(self.phases, working))
        else:
            parts = [xp.cos(angles[:, : self.paired]), xp.sin(angles[:, : self.paired])]
            if self.phases is not None:
                parts.append(xp.cos(angles[:, -1:] + xp.astype(self.phases, working)[-1:]))
            waves = xp.concat(parts, axis=1)
        return xp.astype(waves, self.dtype) * self.heights


class NystroemOnDevice(DeviceMap):
    """Kernel values with landmarks, whitened: phi(x) = K_ZZ^-1/2 k_Z(x)."""

    def __init__(self, home: Home, kernel: Kernel, landmarks: Floats, whitening: Reals, dtype: np.dtype[Any]) -> None:
        """Prepare the landmarks in the type that the whitening needs."""
        super().__init__(home, whitening.shape[1], dtype)
        working = home.single if whitening.dtype == np.float32 else home.wide
        self.kernel = kernel.on_device(home, working, landmarks.mean(axis=0))
        self.landmarks = self.kernel.prepare(home.array(landmarks))
        self.whitening = home.array(whitening.astype(np.float64), working)

    def features(self, points: Array, *, far: bool = False) -> Array:
        """Take kernel values, and whiten."""
        values = self.kernel.block(self.kernel.prepare(points), self.landmarks)
        return self.xp.astype(values @ self.whitening, self.dtype)

    @property
    def widest(self) -> int:
        """Kernel values with all landmarks are held, too."""
        return self.n_features + self.landmarks.size


class LandmarksOnDevice(DeviceMap):
    """Nystroem features, and waves less what the landmarks span of them."""

    def __init__(self, spanned: DeviceMap, waves: DeviceMap, overlap: Reals) -> None:
        super().__init__(spanned.home, spanned.n_features + waves.n_features, np.dtype(overlap.dtype))
        self.spanned, self.waves = spanned, waves
        self.overlap = self.home.array(overlap.astype(np.float64), self.dtype)

    def is_far(self, reach: float) -> bool:
        """Whether the waves of rows that reach so far may overflow."""
        return self.waves.is_far(reach)

    def features(self, points: Array, *, far: bool = False) -> Array:
        """Write both parts side by side."""
        spanned = self.spanned.features(points)
        waves = self.waves.features(points, far=far)
        return self.xp.concat([spanned, waves - spanned @ self.overlap], axis=1)

    @property
    def widest(self) -> int:
        """Both parts and all features are held together."""
        return self.spanned.widest + self.waves.widest
