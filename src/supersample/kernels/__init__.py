"""Kernels: what "near" means. Each gives exact Gram blocks, k(x, x) and, if shift-invariant, its spectral measure."""

from supersample.kernels.bandwidth import median_distance
from supersample.kernels.base import Kernel
from supersample.kernels.combined import Sum
from supersample.kernels.function import Function
from supersample.kernels.named import KernelLike, as_family, as_kernel, register
from supersample.kernels.normalized import Normalized
from supersample.kernels.product import Laplacian
from supersample.kernels.radial import Cauchy, Gaussian, Matern, Radial
from supersample.kernels.stationary import Stationary

__all__ = [
    "Cauchy",
    "Function",
    "Gaussian",
    "Kernel",
    "KernelLike",
    "Laplacian",
    "Matern",
    "Normalized",
    "Radial",
    "Stationary",
    "Sum",
    "as_family",
    "as_kernel",
    "median_distance",
    "register",
]
