"""Random Fourier features: any shift-invariant kernel, one matrix product."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from supersample._products import RowProduct
from supersample._random import Seed
from supersample._stored import DTYPE, FLOATS, INTEGER, instance_of, one_of, stored
from supersample._typing import Floats, RandomState, Reals
from supersample._validation import choose
from supersample.errors import InputError
from supersample.features.random_fourier import Projection, RandomFourier
from supersample.kernels import Kernel, KernelLike

__all__ = ["Fourier"]


@stored(
    "Fourier",
    {
        "kernel": instance_of(Kernel), "n_features": INTEGER, "form": one_of("paired", "phase"),
        "frequencies": one_of("independent", "orthogonal", "sobol"), "dtype": DTYPE, "origin": FLOATS,
        "seed": instance_of(Seed),
    },
    tag="map",
    make="restored",
)  # fmt: skip
class Fourier(RandomFourier):
    """Random Fourier features of a shift-invariant kernel (Rahimi and Recht 2007).

    See also Paige, Sejdinovic and Wood 2016, eq. 8, and Zhao and Meng 2015, section 2.2. The frequencies are drawn from the
    kernel's spectral measure: independently, or spread more evenly as orthogonal directions (radial kernels) or as scrambled
    Sobol points. The default form pairs cosine and sine of each frequency: its error of kernel values is never larger, and far
    smaller for near points (docs/decisions/003). Costs O(n d D) time and O(d D) memory beside the features.

    origin is subtracted from every row first; it changes no kernel value and keeps float32 accurate for data far from
    zero.

    >>> import numpy as np
    >>> from supersample.kernels import Gaussian
    >>> phi = Fourier(Gaussian(1.0), 4096, random_state=0)
    >>> x = phi.transform([[0.0], [1.0]])
    >>> bool(abs(x[0] @ x[1] - np.exp(-0.5)) < 0.03)
    True
    """

    def __init__(
        self,
        kernel: KernelLike,
        n_features: int = 1024,
        *,
        form: Literal["paired", "phase"] = "paired",
        frequencies: Literal["independent", "orthogonal", "sobol"] = "independent",
        dtype: npt.DTypeLike = np.float32,
        origin: npt.ArrayLike = 0.0,
        random_state: RandomState = None,
    ) -> None:
        """Set kernel, size, form and seed; they determine the frequencies."""
        super().__init__(kernel, n_features, form=form, dtype=dtype, origin=origin, random_state=random_state)
        self.frequencies = choose(frequencies, "frequencies", ("independent", "orthogonal", "sobol"))
        if self.frequencies == "orthogonal" and not self.kernel.is_radial:
            raise InputError(
                f"frequencies='orthogonal' needs a kernel of the Euclidean distance (Gaussian, Matern, Cauchy), got "
                f"{self.kernel!r}; use 'independent' or 'sobol'"
            )

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kernel, size, form, way of drawing, dtype, origin and seed."""
        return {**super().identity, "frequencies": self.frequencies}

    def _draw(self, n_inputs: int, unit: float) -> Reals:
        draw = {"independent": _independent, "orthogonal": _orthogonal, "sobol": _sobol}[self.frequencies]
        weights = draw(self.kernel, self.n_frequencies, n_inputs, self.seed.child("frequencies"))
        return np.ascontiguousarray((unit * weights.T).astype(np.float32), dtype=self.dtype)

    def _steepest(self, drawn: Reals) -> float:
        return float(np.linalg.norm(drawn.astype(np.float64), axis=0).max())

    def _widened(self, drawn: Reals) -> Floats:
        return drawn.astype(np.float64)

    def _projection(self, drawn: Reals) -> Projection:
        return RowProduct(drawn)


def _independent(kernel: Kernel, n: int, n_inputs: int, seed: Seed) -> Floats:
    # random() may return 0, where the inverse distribution functions are infinite.
    uniforms = np.maximum(seed.generator().random((n, n_inputs + kernel.n_uniforms)), 2.0**-53)
    return kernel.frequencies(uniforms, n_inputs)


def _sobol(kernel: Kernel, n: int, n_inputs: int, seed: Seed) -> Floats:
    from scipy.stats import qmc  # here, since it took a quarter of supersample's import time

    width, widest = n_inputs + kernel.n_uniforms, qmc.Sobol.MAXDIM
    if width > widest:
        raise InputError(f"frequencies='sobol' reaches {widest} dimensions and this needs {width}; use 'independent'")
    sequence = qmc.Sobol(width, scramble=True, rng=seed.generator())
    uniforms = sequence.random_base2(max(0, (n - 1).bit_length()))[:n]
    return kernel.frequencies(np.clip(uniforms, 2.0**-32, 1.0 - 2.0**-32), n_inputs)


def _orthogonal(kernel: Kernel, n: int, n_inputs: int, seed: Seed) -> Floats:
    generator = seed.generator()
    directions = np.empty((n, n_inputs))
    for start in range(0, n, n_inputs):
        basis, triangle = np.linalg.qr(generator.standard_normal((n_inputs, n_inputs)))
        basis *= np.sign(np.diag(triangle))  # without this the directions are not uniform on the sphere
        stop = min(start + n_inputs, n)
        directions[start:stop] = basis[: stop - start]
    uniforms = np.maximum(generator.random((n, 1 + kernel.n_uniforms)), 2.0**-53)
    lengths = np.sqrt(2.0 * special.gammaincinv(n_inputs / 2.0, uniforms[:, 0]))
    return kernel.scale(directions * (lengths * kernel.spread(uniforms[:, 1:]))[:, None])
