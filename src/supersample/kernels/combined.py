"""Sums of kernels; their spectral measures are mixtures."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from supersample._random import as_seed
from supersample._stored import NUMBER, instance_of, stored, tuple_of
from supersample._typing import Floats, PointsLike, RandomState
from supersample.device.arrays import Home
from supersample.errors import InputError, InputTypeError
from supersample.kernels.base import Kernel
from supersample.kernels.on_device import DeviceKernel, Summed
from supersample.kernels.stationary import Stationary

__all__ = ["Sum"]

#: Range of factors for which features, their squares and the sums of the squares fit into float32.
_LEAST, _MOST = 1e-30, 1e30


@stored("Sum", {"terms": tuple_of(tuple_of(NUMBER, instance_of(Kernel), repeated=False))})
@dataclass(frozen=True)
class Sum(Kernel):
    """A sum of kernels with positive factors; `Gaussian(1) + 0.5 * Cauchy(3)` builds one.

    >>> from supersample.kernels import Cauchy, Gaussian
    >>> (Gaussian(1.0) + 0.5 * Cauchy(3.0)).k0
    1.5
    """

    terms: tuple[tuple[float, Kernel], ...]

    def __post_init__(self) -> None:
        """Refuse factors outside the supported range."""
        for factor, _ in self.terms:
            if not _LEAST <= factor <= _MOST:
                raise InputError(
                    f"a kernel can be multiplied by a number between {_LEAST:g} and {_MOST:g} only, got {factor!r}"
                )

    @classmethod
    def of(cls, *terms: tuple[float, Kernel]) -> "Sum":
        """Build a sum, flattening sums of sums."""
        flat: list[tuple[float, Kernel]] = []
        for factor, kernel in terms:
            if isinstance(factor, bool) or not isinstance(factor, int | float | np.integer | np.floating):
                raise InputTypeError(f"a kernel can be multiplied by a number only, got {type(factor).__name__}")
            inner = kernel.terms if isinstance(kernel, Sum) else ((1.0, kernel),)
            flat.extend((float(factor) * weight, term) for weight, term in inner)
        return cls(tuple(flat))

    @property
    def k0(self) -> float:
        """The sum of the terms' k(x, x)."""
        return sum(factor * kernel.k0 for factor, kernel in self.terms)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The factors and the identities of the terms, in order."""
        terms = [{"factor": factor, **kernel.identity} for factor, kernel in self.terms]
        return {"kernel": "Sum", "terms": terms}

    @property
    def is_resolved(self) -> bool:
        """Whether every term is."""
        return all(kernel.is_resolved for _, kernel in self.terms)

    def resolve(self, points: PointsLike, *, random_state: RandomState = None) -> "Sum":
        """Resolve each term from the same sample."""
        if self.is_resolved:
            return self
        seed = as_seed(random_state).entropy
        return Sum(tuple((factor, kernel.resolve(points, random_state=seed)) for factor, kernel in self.terms))

    def check_width(self, width: int) -> None:
        """Check every term."""
        for _, kernel in self.terms:
            kernel.check_width(width)

    def check_on(self, points: Floats, *, differences: bool = False) -> None:
        """Check every term."""
        for _, kernel in self.terms:
            kernel.check_on(points, differences=differences)

    def resolved_by(self, bandwidth: float) -> "Sum":
        """Set this bandwidth in the terms that have none yet."""
        return Sum(tuple((factor, kernel.resolved_by(bandwidth)) for factor, kernel in self.terms))

    def fill(self, left: Floats, right: Floats, out: Floats) -> None:
        """Add up the terms' Gram blocks."""
        term = np.empty_like(out)
        out[...] = 0.0
        for factor, kernel in self.terms:
            kernel.fill(left, right, term)
            term *= factor
            out += term

    def on_device(self, home: Home, dtype: Any, origin: Floats) -> DeviceKernel:
        """Add up the terms there."""
        return Summed([(factor, kernel.on_device(home, dtype, origin)) for factor, kernel in self.terms])

    def paired(self, left: Floats, right: Floats) -> Floats:
        """Add up the terms' values."""
        total = np.zeros(left.shape[0])
        for factor, kernel in self.terms:
            total += factor * kernel.paired(left, right)
        return total

    def as_sum(self) -> tuple[tuple[float, Kernel], ...]:
        """The terms, and those of terms that are sums themselves."""
        return tuple((factor * inner, part) for factor, kernel in self.terms for inner, part in kernel.as_sum())

    @property
    def has_spectrum(self) -> bool:
        """Whether every term has one."""
        return all(kernel.has_spectrum for _, kernel in self.terms)

    @property
    def is_radial(self) -> bool:
        """Whether every term is, with a bandwidth that is the same for all columns."""
        if self._one_bandwidth:
            return all(kernel.is_radial for _, kernel in self.terms)
        return all(kernel.is_radial and _scalar_bandwidth(kernel) for _, kernel in self.terms)

    @property
    def _one_bandwidth(self) -> bool:
        """Whether all terms have the same bandwidth, so that it can be taken out of the sum."""
        widths = {kernel.bandwidth if isinstance(kernel, Stationary) else None for _, kernel in self.terms}
        return len(widths) == 1 and None not in widths

    @property
    def n_uniforms(self) -> int:
        """One to choose the term, plus the largest number that any term needs."""
        return 1 + max(kernel.n_uniforms for _, kernel in self.terms)

    def frequencies(self, uniforms: Floats, n_inputs: int) -> Floats:
        """Draw from the mixture of the terms' spectral measures, each in proportion to its k(x, x)."""
        out = np.empty((uniforms.shape[0], n_inputs))
        for kernel, mine in self._chosen(uniforms[:, -1]):
            out[mine] = kernel.frequencies(uniforms[mine], n_inputs)
        return out

    def mean_square_frequency(self, n_inputs: int) -> float:
        """Return the mean over the terms, each in proportion to its k(x, x)."""
        total = sum(factor * kernel.k0 * kernel.mean_square_frequency(n_inputs) for factor, kernel in self.terms)
        return total / self.k0

    def spread(self, uniforms: Floats) -> Floats:
        """Draw s from the mixture of the terms' spreads, each divided by its bandwidth unless all terms share one."""
        out = np.empty(uniforms.shape[0])
        for kernel, mine in self._chosen(uniforms[:, -1]):
            drawn = kernel.spread(uniforms[mine])
            out[mine] = drawn if self._one_bandwidth else kernel.scale(drawn[:, None])[:, 0]
        return out

    def scale(self, points: Floats) -> Floats:
        """Divide by the bandwidth if all terms share one; otherwise return the points, since `spread` has divided by each."""
        return self.terms[0][1].scale(points) if self._one_bandwidth else points

    def _chosen(self, uniforms: Floats) -> Iterator[tuple[Kernel, npt.NDArray[np.bool_]]]:
        shares = np.cumsum([factor * kernel.k0 for factor, kernel in self.terms])
        chosen = np.searchsorted(shares / shares[-1], uniforms, side="right")
        for index, (_, kernel) in enumerate(self.terms):
            yield kernel, chosen == index


def _scalar_bandwidth(kernel: Kernel) -> bool:
    return isinstance(kernel, Stationary) and isinstance(kernel.bandwidth, float)
