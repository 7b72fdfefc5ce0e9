"""Fastfood: Fourier features whose projection costs D log d instead of D d."""

from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from supersample._compiled import hadamard
from supersample._random import Seed
from supersample._stored import DTYPE, FLOATS, INTEGER, instance_of, one_of, stored
from supersample._typing import Indices, RandomState, Reals
from supersample.device.arrays import Home
from supersample.errors import InputError
from supersample.features.base import FeatureMap
from supersample.features.on_device import DeviceMap
from supersample.features.random_fourier import Projection, RandomFourier
from supersample.kernels import Kernel, KernelLike

__all__ = ["Fastfood"]


class _Factors(NamedTuple):
    """The diagonal matrices and permutations of all stacked blocks, each blocks x 2^q."""

    scales: Reals
    signs: Reals
    gauss: Reals
    lengths: Reals
    order: Indices


@stored(
    "Fastfood",
    {
        "kernel": instance_of(Kernel), "n_features": INTEGER, "form": one_of("paired", "phase"), "dtype": DTYPE,
        "origin": FLOATS, "seed": instance_of(Seed),
    },
    tag="map",
    make="restored",
)  # fmt: skip
class Fastfood(RandomFourier):
    """Fourier features of a radial kernel by products of Hadamard and diagonal matrices (Le, Sarlos and Smola 2013).

    The projection is V x with V = S H G P H B / sqrt(d') on inputs padded with zeros to d' = 2^q; blocks are stacked to any
    number of features (Zhao and Meng 2015, section 2.2). H is the Walsh-Hadamard matrix, B random signs, P a permutation, G
    normal. All rows of H G P H B have the length |G| d'^1/2, so S = r / |G| with r drawn from the lengths of d'-dimensional
    frequencies of the kernel (chi for the Gaussian, times the kernel's own spread for Matern and Cauchy); without S it would be
    a different kernel. Takes any bandwidth for each column, any width and any number of features. Costs O(n D log d) time, and
    O(D) memory beside the features.

    >>> from supersample.kernels import Gaussian
    >>> phi = Fastfood(Gaussian(1.0), 4096, random_state=0)
    >>> x = phi.transform([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    >>> bool(abs(x[0] @ x[1] - 0.6065) < 0.05)
    True
    """

    def __init__(
        self,
        kernel: KernelLike,
        n_features: int = 1024,
        *,
        form: Literal["paired", "phase"] = "paired",
        dtype: npt.DTypeLike = np.float32,
        origin: npt.ArrayLike = 0.0,
        random_state: RandomState = None,
    ) -> None:
        """Set kernel, size, form and seed; they determine the factors."""
        super().__init__(kernel, n_features, form=form, dtype=dtype, origin=origin, random_state=random_state)
        if not self.kernel.is_radial:
            raise InputError(
                f"Fastfood needs a kernel of the Euclidean distance (Gaussian, Matern, Cauchy), got {self.kernel!r}; use "
                f"Fourier features"
            )

    def on_device(self, home: Home, n_inputs: int) -> DeviceMap:
        """Refuse: its loops are compiled for the CPU, and a GPU multiplies whole matrices faster."""
        return FeatureMap.on_device(self, home, n_inputs)

    def _draw(self, n_inputs: int, unit: float) -> _Factors:
        width = 1 << max(0, (n_inputs - 1).bit_length())
        blocks = -(-self.n_frequencies // width)
        shape = (blocks, width)
        generator = self.seed.child("fastfood").generator()
        signs = generator.choice(np.array([-1.0, 1.0]), shape)
        order = np.argsort(generator.random(shape), axis=1, kind="stable")
        gauss = generator.standard_normal(shape)
        uniforms = np.maximum(generator.random((blocks * width, 1 + self.kernel.n_uniforms)), 2.0**-53)
        radii = np.sqrt(2.0 * special.gammaincinv(width / 2.0, uniforms[:, 0])) * self.kernel.spread(uniforms[:, 1:])
        lengths = radii.reshape(shape) / (np.linalg.norm(gauss, axis=1, keepdims=True) * np.sqrt(width))
        scales = unit * self.kernel.scale(np.ones((1, n_inputs)))[0]
        scales, signs, gauss, lengths = (
            factor.astype(np.float32).astype(self.dtype) for factor in (scales, signs, gauss, lengths)
        )
        return _Factors(scales, signs, gauss, lengths, order.astype(np.int64))

    def _steepest(self, drawn: Any) -> float:
        # Each Hadamard matrix multiplies the length of a row by the root of its width.
        factors = (each.astype(np.float64).max(initial=1.0) for each in (np.abs(drawn.gauss), drawn.lengths, drawn.scales))
        return float(drawn.signs.shape[1] * np.prod(list(factors)))

    def _widened(self, drawn: Any) -> _Factors:
        scales, signs, gauss, lengths = (each.astype(np.float64) for each in drawn[:4])
        return _Factors(scales, signs, gauss, lengths, drawn.order)

    def _projection(self, drawn: Any) -> Projection:
        return partial(_project, drawn)


def _project(drawn: _Factors, rows: Reals, out: Reals) -> None:
    first, second = np.zeros((2, drawn.signs.shape[1], hadamard.LANES), dtype=out.dtype)
    hadamard.fastfood(rows * drawn.scales, drawn.signs, drawn.order, drawn.gauss, drawn.lengths, first, second, out)
