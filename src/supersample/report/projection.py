"""A flat map of the data: the two directions in which its encoded rows vary most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supersample._typing import Floats

__all__ = ["Cloud", "Map", "Plane", "evenly", "fit_plane", "points_of"]


class Plane(NamedTuple):
    """Where the map lies in the encoded space, and the share of the variance that it shows."""

    centre: Floats
    axes: Floats
    shown: float

    def place(self, rows: Floats) -> Floats:
        """Return the two coordinates of each encoded row."""
        placed: Floats = (rows - self.centre) @ self.axes.T
        return placed


@dataclass(frozen=True)
class Cloud:
    """Points of one kind on the map; sizes are shares, empty if all count the same."""

    role: str
    label: str
    points: tuple[tuple[float, float], ...]
    sizes: tuple[float, ...] = ()


@dataclass(frozen=True)
class Map:
    """Clouds in one plane, drawn in this order."""

    clouds: tuple[Cloud, ...]
    shown: float
    words: str

    def with_role(self, role: str) -> Cloud:
        """Return the cloud with this role."""
        return next(cloud for cloud in self.clouds if cloud.role == role)


def fit_plane(rows: Floats, shares: Floats) -> Plane:
    """Fit the plane of the two largest principal components of weighted rows (PCA by an eigendecomposition).

    The largest coefficient of each axis is made positive, so that the same rows give the same map.
    """
    centre = shares @ rows
    centred = (rows - centre) * np.sqrt(shares)[:, None]
    # The smaller of the two Gram matrices is decomposed: it costs less, and both give the same axes.
    wide = centred.shape[1] > centred.shape[0]
    values, vectors = np.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
    values, vectors = np.clip(values[::-1][:2], 0.0, None), vectors[:, ::-1][:, :2]
    axes = (centred.T @ vectors).T if wide else vectors.T
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    axes = np.divide(axes, lengths, out=np.zeros_like(axes), where=lengths > 0)
    axes = np.vstack([axes, np.zeros((2 - len(axes), rows.shape[1]))])
    largest = np.abs(axes).argmax(axis=1)
    axes *= np.where(np.take_along_axis(axes, largest[:, None], axis=1) < 0, -1.0, 1.0)
    total = float((centred * centred).sum())
    return Plane(centre, axes, float(values.sum()) / total if total > 0 else 1.0)


def points_of(coordinates: Floats) -> tuple[tuple[float, float], ...]:
    """Return coordinates as plain pairs."""
    return tuple((float(x), float(y)) for x, y in coordinates)


def evenly(n_rows: int, most: int) -> Sequence[int]:
    """Return at most `most` places, spread evenly over the rows."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).round().astype(int)).tolist() if n_rows else []
