"""Kernel values of points that lie on a device: blocks of the Gram matrix, by the array API standard."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from supersample.device.arrays import Array, Home
from supersample.device.blocks import cut_for, item_bytes
from supersample.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from supersample.kernels.stationary import Stationary

__all__ = ["ByDifferences", "ByFunction", "ByProducts", "DeviceKernel", "Normed", "Prepared", "Summed"]

#: Arrays of a block that are held at a time while it is worked on.
_HELD = 4


class Prepared(NamedTuple):
    """Points in the form that a kernel takes them: arrays with a row for each point."""

    parts: tuple[Array, ...]

    @property
    def size(self) -> int:
        """The number of points."""
        return int(self.parts[0].shape[0])

    def rows(self, part: slice) -> "Prepared":
        """Return some consecutive points."""
        return Prepared(tuple(each[part, ...] for each in self.parts))

    def take(self, places: Array, xp: Any) -> "Prepared":
        """Return points by their places, which lie on the device."""
        return Prepared(tuple(xp.take(each, places, axis=0) for each in self.parts))


class DeviceKernel(ABC):
    """A kernel with its numbers on a device, for kernel values of one type."""

    def __init__(self, home: Home, dtype: Any) -> None:
        self.home, self.xp, self.dtype = home, home.xp, dtype

    @abstractmethod
    def prepare(self, points: Array) -> Prepared:
        """Return points in the form that `block` takes."""

    @abstractmethod
    def block(self, left: Prepared, right: Prepared) -> Array:
        """Return the Gram block of two sets of points."""

    @abstractmethod
    def diagonal(self, points: Prepared) -> Array:
        """Return k(x, x) for each point."""

    def blocks(self, left: Prepared, n_right: int) -> list[slice]:
        """Cut the left points so that the Gram block of each part with so many others fits."""
        held = sum(int(np.prod(each.shape[1:])) for each in left.parts)
        width = max(n_right, held)
        return cut_for(
            self.home, left.size, _HELD * width * item_bytes(self.home, self.dtype), width, "kernel values of one row"
        )


def _by_parts(home: Home, points: Array, work: Callable[[Array], Array]) -> Array:
    """Return what `work` makes of the rows, of so many at a time that copies of them in the wide type fit."""
    n_rows, width = (int(size) for size in points.shape)
    row = _HELD * width * item_bytes(home, home.wide)
    parts = cut_for(home, n_rows, row, width, "one scaled row")
    return work(points) if len(parts) <= 1 else home.xp.concat([work(points[part, :]) for part in parts])


class ByProducts(DeviceKernel):
    """A function of the Euclidean distance: -|x - y|^2 / 2 = x.y - |x|^2 / 2 - |y|^2 / 2 is one product of longer rows.

    Points are measured in bandwidths from an origin near them: only differences matter, and short rows cancel least.
    """

    def __init__(self, kernel: "Stationary", home: Home, dtype: Any, origin: npt.ArrayLike) -> None:
        super().__init__(home, dtype)
        self.kernel, self.origin, self.width = kernel, home.array(origin), home.array(kernel.bandwidth)

    def prepare(self, points: Array) -> Prepared:
        """Scale in the wide type, append half of the squared norm and a one, then round."""
        return Prepared((_by_parts(self.home, points, self._scaled),))

    def _scaled(self, points: Array) -> Array:
        xp = self.xp
        scaled = (xp.astype(points, self.home.wide) - self.origin) / self.width
        halves = -0.5 * xp.sum(scaled * scaled, axis=1, keepdims=True)
        return xp.astype(xp.concat([scaled, halves, xp.ones_like(halves)], axis=1), self.dtype)

    def block(self, left: Prepared, right: Prepared) -> Array:
        """Multiply, with the two last columns of one side exchanged, and apply the profile."""
        (x,), (y,) = left.parts, right.parts
        turned = self.xp.concat([y[:, :-2], y[:, -1:], y[:, -2:-1]], axis=1)
        return self.kernel.profile_at(self.xp, x @ turned.T)

    def diagonal(self, points: Prepared) -> Array:
        """Return ones."""
        return self.xp.ones(points.size, dtype=self.dtype, device=self.home.device)


class ByDifferences(DeviceKernel):
    """A kernel of a distance that is added up column by column: for sums of absolute differences, and for cusps.

    A product leaves the root of its rounding error at distance zero.
    """

    def __init__(self, kernel: "Stationary", home: Home, dtype: Any, origin: npt.ArrayLike) -> None:
        super().__init__(home, dtype)
        self.kernel, self.origin, self.width = kernel, home.array(origin), home.array(kernel.bandwidth)

    def prepare(self, points: Array) -> Prepared:
        """Scale in the wide type, then round."""
        return Prepared((_by_parts(self.home, points, self._scaled),))

    def _scaled(self, points: Array) -> Array:
        return self.xp.astype((self.xp.astype(points, self.home.wide) - self.origin) / self.width, self.dtype)

    def block(self, left: Prepared, right: Prepared) -> Array:
        """Add up differences, and apply the profile."""
        (x,), (y,) = left.parts, right.parts
        total = 0.0
        squared = self.kernel.metric == "squared_l2"
        for column in range(int(x.shape[1])):
            away = x[:, column : column + 1] - y[:, column][None, :]
            total = total - (0.5 * away * away if squared else self.xp.abs(away))
        return self.kernel.profile_at(self.xp, total)

    def diagonal(self, points: Prepared) -> Array:
        """Return ones."""
        return self.xp.ones(points.size, dtype=self.dtype, device=self.home.device)


class Summed(DeviceKernel):
    """A sum of kernels."""

    def __init__(self, terms: Sequence[tuple[float, DeviceKernel]]) -> None:
        super().__init__(terms[0][1].home, terms[0][1].dtype)
        self.terms = terms

    def prepare(self, points: Array) -> Prepared:
        """Prepare the points for each term."""
        found = [kernel.prepare(points).parts for _, kernel in self.terms]
        self._lengths = [len(each) for each in found]
        return Prepared(tuple(part for each in found for part in each))

    def block(self, left: Prepared, right: Prepared) -> Array:
        """Add up the blocks of the terms."""
        return sum(
            factor * kernel.block(mine, theirs)
            for (factor, kernel), mine, theirs in zip(self.terms, self._split(left), self._split(right), strict=True)
        )

    def diagonal(self, points: Prepared) -> Array:
        """Add up the diagonals of the terms."""
        return sum(
            factor * kernel.diagonal(mine) for (factor, kernel), mine in zip(self.terms, self._split(points), strict=True)
        )

    def _split(self, points: Prepared) -> list[Prepared]:
        ends = np.cumsum(self._lengths).tolist()
        return [Prepared(points.parts[end - length : end]) for end, length in zip(ends, self._lengths, strict=True)]


class ByFunction(DeviceKernel):
    """A user's own function, called with arrays of the device."""

    def __init__(self, function: Callable[[Array, Array], Array], name: str, home: Home, dtype: Any) -> None:
        super().__init__(home, dtype)
        self.function, self.name = function, name

    def prepare(self, points: Array) -> Prepared:
        """Hand the function points of the wide type, as on the host, with their k(x, x)."""
        rows = self.xp.astype(points, self.home.wide)
        return Prepared((rows, self._diagonal(rows)))

    def block(self, left: Prepared, right: Prepared) -> Array:
        """Call the function."""
        return self._called(left.parts[0], right.parts[0])

    def diagonal(self, points: Prepared) -> Array:
        """Return what was found when the points were prepared."""
        return points.parts[1]

    def _diagonal(self, rows: Array) -> Array:
        # The function takes blocks only; small ones waste little.
        step, xp = 64, self.xp
        found = []
        for start in range(0, int(rows.shape[0]), step):
            size = min(step, int(rows.shape[0]) - start)
            some = rows[start : start + size, :]
            places = self.home.places(size)
            gram = self._called(some, some)
            found.append(xp.sum(xp.where(places[:, None] == places[None, :], gram, xp.zeros_like(gram)), axis=1))
        return xp.concat(found)

    def _called(self, left: Array, right: Array) -> Array:
        values = self.function(left, right)
        if type(values) not in (type(left), type(right)):  # in a compiled step of JAX the two are not of one type
            raise InputTypeError(
                f"kernel function {self.name!r} must return an array of {self.home} where it is given such, got "
                f"{type(values).__name__}; write it with operators, or with that library's functions"
            )
        if tuple(values.shape) != (left.shape[0], right.shape[0]):
            raise InputError(
                f"kernel function {self.name!r} must return a {left.shape[0]} x {right.shape[0]} matrix for {left.shape[0]} "
                f"and {right.shape[0]} points, got shape {tuple(values.shape)}"
            )
        return self.xp.astype(values, self.dtype)


class Normed(DeviceKernel):
    """A kernel divided by the roots of k(x, x) and k(y, y)."""

    def __init__(self, inner: DeviceKernel) -> None:
        super().__init__(inner.home, inner.dtype)
        self.inner = inner

    def prepare(self, points: Array) -> Prepared:
        """Prepare the points, and one over the root of k(x, x)."""
        prepared = self.inner.prepare(points)
        return Prepared((*prepared.parts, 1.0 / self.xp.sqrt(self.inner.diagonal(prepared))))

    def block(self, left: Prepared, right: Prepared) -> Array:
        """Scale the block of the kernel inside."""
        values = self.inner.block(Prepared(left.parts[:-1]), Prepared(right.parts[:-1]))
        return values * left.parts[-1][:, None] * right.parts[-1][None, :]

    def diagonal(self, points: Prepared) -> Array:
        """Return ones."""
        return self.xp.ones_like(points.parts[-1])
