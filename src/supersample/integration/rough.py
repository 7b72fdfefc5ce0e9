"""Matern kernels as sums of Gaussian kernels, which have closed forms for boxes and Gaussians in any dimension."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from supersample.kernels import Gaussian, Kernel, Matern
from supersample.kernels.combined import Sum
from supersample.measures import Measure

__all__ = ["GaussianMatern", "matern"]

#: Widths of the Gaussians, as powers of 2 of the kernel's width: the narrower, the rougher.
_NARROWEST = {2.5: -3, 1.5: -4, 0.5: -6}
_WIDEST = 2
#: Terms with a smaller factor are left out.
_LEAST = 1e-6


@dataclass(frozen=True, repr=False)
class GaussianMatern(Sum):
    """A Matern kernel to within 0.01, by Gaussian kernels of widths one octave apart.

    The Matern kernel is the mean of Gaussian kernels of width bandwidth / s, with s^2 = 2 nu / chi^2_{2 nu}. Here s is rounded
    to powers of 2, and the narrowest widths are joined, so functions are smooth at a scale below all distances of interest.
    """

    nu: float
    bandwidth: float | tuple[float, ...]

    @classmethod
    def like(cls, nu: float, bandwidth: float | tuple[float, ...]) -> "GaussianMatern":
        """Return the sum for a Matern kernel."""
        powers = np.arange(_WIDEST, _NARROWEST[nu] - 1, -1)
        edges = -(powers[1:] + powers[:-1]) / 2.0
        below = special.gammaincc(nu, nu / 4.0**edges)  # P(log2 s < edge)
        factors = np.diff(below, prepend=0.0, append=1.0)
        widths = np.asarray(bandwidth)[..., None] * 2.0**powers
        terms = [
            (float(factor), Gaussian(tuple(width.tolist()) if width.ndim else float(width)))
            for factor, width in zip(factors, np.moveaxis(widths, -1, 0), strict=True)
            if factor > _LEAST
        ]
        return cls(tuple(terms), nu, bandwidth)

    def __repr__(self) -> str:
        """Show the kernel that it stands for."""
        return f"{Matern(self.nu, self.bandwidth)!r} as {len(self.terms)} Gaussians"


def matern(measure: Measure, nu: float, bandwidth: float | tuple[float, ...]) -> Kernel:
    """Return a Matern kernel with a closed form for the measure: itself, or a sum of Gaussians."""
    kernel = Matern(nu, bandwidth)
    return kernel if measure.is_exact(kernel) else GaussianMatern.like(nu, bandwidth)
