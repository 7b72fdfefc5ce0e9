"""How many random features an error of MMD^2 takes, by the bounds of Zhao and Meng 2015."""

import math
from typing import Any, Literal

import numpy as np

from supersample._validation import check_count, choose
from supersample.errors import InputError, InputTypeError
from supersample.kernels import Gaussian, Kernel, KernelLike, as_kernel
from supersample.kernels.bandwidth import Bandwidth

__all__ = ["n_features_for"]

#: The widest block of Fastfood that is looked at.
_WIDEST = 1 << 60


def n_features_for(
    error: float,
    *,
    probability: float = 0.95,
    kernel: KernelLike = "gaussian",
    bandwidth: Bandwidth = "median",
    n_inputs: int,
    diameter: float | None = None,
    method: Literal["fourier", "fastfood"] = "fourier",
) -> int:
    """Return an `n_features` with which MMD^2 by features is within `error` of the exact one with this probability.

    These are sufficient numbers and far from necessary: on real data the error is usually a small part of `error`, and so is
    MMD^2 itself. To plan for data that you have, compare `mmd2` at two seeds instead: the error falls as 1 / sqrt(n_features).

    With L frequencies (two features each), failure probability delta, and the kernel scaled to k(x, x) = 1:

    fourier, without a diameter: 2 exp(-L error^2 / 8) <= delta, Hoeffding's inequality for L independent terms between 0 and 4.
        For two given samples and the biased estimate, in any dimension.
    fourier, with a diameter: 2^12 (sigma_p diameter / error)^2 exp(-L error^2 / (64 (d + 2))) <= delta, Zhao and Meng 2015,
        Theorem 3. For all samples at once that lie in a set of this diameter, both estimates. sigma_p^2 is the mean square of
        a frequency, infinite for Laplacian and Matern(0.5). The ratio before the exponential counts as at least 1: the proof
        needs it.
    fastfood, with a diameter: (16 diameter / bandwidth) sqrt(log(2 / t) log(2 L / t) / L) <= error, t = delta / 2, Theorem 4
        there. For a Gaussian kernel and one block of L = 2^q frequencies, all samples at once, both estimates. The theorem says
        nothing of stacked blocks, which `Fastfood` uses for rows of fewer than L columns.

    kernel, bandwidth: as for `mmd2`, but the bandwidth must be a number.
    n_inputs: the number of columns, d.

    >>> from supersample.kernels import Gaussian
    >>> n_features_for(0.1, kernel=Gaussian(1.0), n_inputs=2)
    5904
    >>> n_features_for(0.1, kernel=Gaussian(1.0), n_inputs=2, diameter=20.0)
    1157288
    """
    choose(method, "method", ("fourier", "fastfood"))
    resolved = as_kernel(kernel, bandwidth)
    resolved.require_resolved()
    width = check_count(n_inputs, "n_inputs")
    resolved.check_width(width)
    share = _number(error, "error") / resolved.k0
    delta = 1.0 - _number(probability, "probability")
    if not delta > 0.0:
        raise InputError(f"probability must lie between 0 and 1, got {probability!r}; no number of features is certain")
    reach = None if diameter is None else _number(diameter, "diameter")
    if method == "fastfood":
        return 2 * _block_of(share, delta, resolved, width, reach)
    if reach is None:
        return 2 * math.ceil(8.0 / share**2 * math.log(2.0 / delta))
    mean_square = resolved.mean_square_frequency(width)
    if math.isinf(mean_square):
        raise InputError(
            f"Theorem 3 needs frequencies with a finite mean square, and those of {resolved!r} have none; leave diameter out, "
            f"or use a smoother kernel"
        )
    ratio = max(math.sqrt(mean_square) * reach / share, 1.0)
    exponent = 12.0 * math.log(2.0) + 2.0 * math.log(ratio) - math.log(delta)
    return 2 * math.ceil(64.0 * (width + 2) / share**2 * exponent)


def _block_of(error: float, delta: float, kernel: Kernel, width: int, diameter: float | None) -> int:
    """Return the least power of two, at least `width`, for which Theorem 4 holds."""
    if not isinstance(kernel, Gaussian) or not isinstance(kernel.bandwidth, float):
        raise InputError(
            f"method='fastfood': Theorem 4 is for a Gaussian kernel with one bandwidth, got {kernel!r}; use 'fourier'"
        )
    if diameter is None:
        raise InputError("method='fastfood': Theorem 4 needs the diameter of the data; pass diameter, or use method='fourier'")
    tail = delta / 2.0
    size = 1 << (width - 1).bit_length()
    while 16.0 * diameter / kernel.bandwidth * math.sqrt(math.log(2.0 / tail) * math.log(2.0 * size / tail) / size) > error:
        size *= 2
        if size > _WIDEST:
            raise InputError(f"error={error:g} is so small that Theorem 4 gives no number of features that could be stored")
    return size


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputTypeError(f"{name} must be a number, got {type(value).__name__}")
    if not (value > 0 and math.isfinite(value)):
        raise InputError(f"{name} must be positive and finite, got {value!r}")
    return float(value)
