"""Kernels: what "near" means. Each gives exact Gram blocks, k(x, x) and, if shift-invariant, its spectral measure."""

from supersample.features.kernels.bandwidth import median_distance
from supersample.features.kernels.base import Kernel
from supersample.features.kernels.combined import Sum
from supersample.features.kernels.function import Function
from supersample.features.kernels.named import KernelLike, as_family, as_kernel
from supersample.features.kernels.product import Laplacian
from supersample.features.kernels.radial import Cauchy, Gaussian, Matern, Radial
from supersample.features.kernels.stationary import Stationary

__all__ = [
    "Cauchy",
    "Function",
    "Gaussian",
    "Kernel",
    "KernelLike",
    "Laplacian",
    "Matern",
    "Radial",
    "Stationary",
    "Sum",
    "as_family",
    "as_kernel",
    "median_distance",
]
