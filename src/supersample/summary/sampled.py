"""A SuperSampler at one moment: the stream, which never changes, and what follows from it when it is asked for."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from supersample._typing import Floats, Points
from supersample.device.arrays import Home, follow
from supersample.discrepancy.bounds import BoundInputs
from supersample.discrepancy.certificate import Certificate, captured_energy, certify, equal_weights, random_baseline
from supersample.errors import InputError
from supersample.selection import stream
from supersample.selection.stream import device_transfer
from supersample.selection.stream.lifecycle import Selected

__all__ = ["Sampled"]

T = TypeVar("T")


@dataclass(frozen=True)
class Sampled:
    """A stream, of the host or of a device, and the names of its columns. single: whether all rows came in single precision.

    parts: the number of the latest copy that `empty_like` made. home: where the rows lie; None for the host.
    """

    state: Any
    names: npt.NDArray[Any] | None
    single: bool
    parts: int = 0
    home: Home | None = None

    @cached_property
    def selected(self) -> Selected:
        """The result of the stream: takes the second look."""
        selected = stream.finish(device_transfer.on_host(self.state))
        if selected is None and device_transfer.has_weight(self.state):
            raise InputError(
                f"there is nothing to select from: the rows kept of the {self.state.n_seen} seen are all points of include, or "
                f"nearer to one than min_distance; pass other rows to partial_fit, or use a smaller min_distance"
            )
        if selected is None:
            raise InputError(
                f"there is nothing to select from: none of the {self.state.n_seen} rows seen has a positive weight; call "
                f"partial_fit with rows that have"
            )
        return selected

    @cached_property
    def certificate(self) -> Certificate:
        """MMD of the weighted points."""
        return self._certified(self.selected.weights)

    @cached_property
    def uniform_mmd(self) -> float:
        """MMD of the points with equal weights."""
        return self._certified(equal_weights(len(self.selected.points))).mmd

    @cached_property
    def random_mmd(self) -> float:
        """MMD of as many random rows."""
        found, seed = self.selected, self.state.settings.seed
        sample = found.background
        return random_baseline(
            found.plan.held_out, found.held_out, sample.rows.points, sample.shares(), len(found.points), seed,
            replaced=self.state.aim is not None,
        )  # fmt: skip

    @property
    def energy(self) -> float:
        """The share of E k(x, x) that the landmarks of the map span."""
        sample = self.selected.background
        return captured_energy(self.selected.plan.feature_map, sample.rows.points, sample.shares())

    @property
    def bound_inputs(self) -> BoundInputs:
        """The weighted points, and what bounds on their MMD are computed from."""
        found, held_out = self.selected, self.selected.held_out
        return BoundInputs(
            found.points, found.weights, found.plan.held_out, held_out, found.background, held_out.effective_rows
        )

    @property
    def weights(self) -> Floats:
        """The weights of the prototypes, those of the points chosen before left out."""
        return self.follow(self.selected.weights[: len(self.selected.rows)])

    def as_given(self, points: Floats) -> Points:
        """Return points in the precision in which they came."""
        if self.home is not None:
            lying: Points = self.home.array(points, self.home.single if self.single else self.home.wide)
            return lying
        return points.astype(np.float32) if self.single else points.copy()

    def follow(self, values: T) -> T:
        """Return a copy of numbers, where the rows lie."""
        if self.home is not None:
            return follow(self.home, values)
        copied: T = values.copy()  # type: ignore[attr-defined]
        return copied

    def _certified(self, weights: Floats) -> Certificate:
        found = self.selected
        return certify(found.plan.held_out, found.held_out, found.points, weights, found.control)
