"""The interface of a target measure: z(y) = E k(x, y), E = E k(x, x'), and draws."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from supersample._random import Seed, as_seed
from supersample._text import plural
from supersample._threads import cut, map_blocks
from supersample._typing import Floats, Mask, PointsLike, RandomState
from supersample._validation import check_count, check_points, to_host
from supersample.device.arrays import home_of
from supersample.errors import InputError, MismatchError
from supersample.kernels import Kernel, KernelLike, as_kernel

if TYPE_CHECKING:
    from supersample.measures.empirical import Empirical

__all__ = ["Measure"]


class Measure(ABC):
    """A probability measure on R^d whose embedding into the space of a kernel is known.

    Herding and quadrature need only z(y) = E_x k(x, y) and E = E_x E_x' k(x, x'):
    MMD^2 = E - 2 sum_j v_j z(y_j) + sum_jl v_j v_l k(y_j, y_l) (Huszar and Duvenaud 2012, eq. 5).
    """

    #: Rows embedded at a time: enough to amortise the cost of each component per block, few enough to stay in cache.
    _block_rows = 4096

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of columns of its points."""

    @abstractmethod
    def _draw(self, n: int, seed: Seed) -> Floats:
        """Return n independent draws."""

    @abstractmethod
    def _is_closed(self, kernel: Kernel) -> bool:
        """Whether z and E are known exactly for a kernel that is not a sum."""

    @abstractmethod
    def _embed(self, kernel: Kernel, rows: Floats) -> Floats:
        """Return z of a block of rows, for a kernel that is not a sum and has a closed form."""

    @abstractmethod
    def _energy(self, kernel: Kernel) -> float:
        """Return E for such a kernel."""

    def __repr__(self) -> str:
        """Return its type and dimensions: the points and parameters of most measures are too many for a line."""
        return f"{type(self).__name__} in {plural(self.dimension, 'dimension')}"

    def is_exact(self, kernel: KernelLike) -> bool:
        """Whether z and E of this kernel are exact; if not, `sampled` replaces the measure by draws."""
        return all(self._is_closed(term) for _, term in as_kernel(kernel).as_sum())

    def mean_embedding(self, kernel: KernelLike, points: PointsLike) -> Floats:
        """Return z(y) = E k(x, y) for each row y, in blocks on all cores.

        A sum of kernels is embedded term by term. Raises an error if the kernel has no closed form.
        """
        self._require_host(points)
        resolved = self._checked(kernel)
        rows = np.ascontiguousarray(check_points(points, "points", width=self.dimension), dtype=np.float64)

        def work(part: slice) -> Floats:
            total = np.zeros(part.stop - part.start)
            for factor, term in resolved.as_sum():
                total += factor * self._embed(term, rows[part])
            return total

        return np.concatenate(map_blocks(work, cut(rows.shape[0], self._block_rows)))

    def energy(self, kernel: KernelLike) -> float:
        """Return E = E k(x, x'), for two independent draws of the measure."""
        return float(sum(factor * self._energy(term) for factor, term in self._checked(kernel).as_sum()))

    def contains(self, points: PointsLike) -> Mask:
        """Return for each row whether the measure can have mass there: everywhere, unless it is bounded."""
        return np.ones(check_points(points, "points", width=self.dimension).shape[0], dtype=np.bool_)

    def sample(self, n: int, random_state: RandomState = None) -> Floats:
        """Return n independent draws, as n rows."""
        return self._draw(check_count(n, "n"), as_seed(random_state).child("measure"))

    def sampled(self, n: int, random_state: RandomState = None) -> "Empirical":
        """Return the empirical measure of n draws: it has z and E for every kernel, with an error of order 1/sqrt(n)."""
        from supersample.measures.empirical import Empirical  # the two modules need each other

        return Empirical(self.sample(n, random_state))

    def _require_host(self, points: PointsLike) -> None:
        home = home_of(points=points)
        if home is not None:
            raise MismatchError(
                f"points must be NumPy arrays, since {self!r} is on the host, got {home}; pass {to_host(points, 'points')}"
            )

    def _checked(self, kernel: KernelLike) -> Kernel:
        resolved = as_kernel(kernel)
        resolved.require_resolved()
        resolved.check_width(self.dimension)
        for _, term in resolved.as_sum():
            if not self._is_closed(term):
                raise InputError(
                    f"{type(self).__name__} in {plural(self.dimension, 'dimension')} has no closed form for "
                    f"kernel {term!r}; use measure.sampled(n, random_state) in its place, where draws stand for the measure"
                )
        return resolved
