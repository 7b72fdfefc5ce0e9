"""Kernels defined by users: any positive-definite function, identified by a name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from supersample._typing import Floats
from supersample.device.arrays import Home
from supersample.errors import InputError, InputTypeError
from supersample.kernels.base import Kernel
from supersample.kernels.on_device import ByFunction, DeviceKernel

__all__ = ["Function"]

#: Largest kernel value; squares and sums of such values fit into float64.
_LARGEST = 1e100
#: Number of points that a function is tested on, and the relative error that counts as rounding: a function may compute in
#: float32, and far from the origin.
_LOOKED_AT, _ROUNDING = 50, 1e-2


@dataclass(frozen=True)
class Function(Kernel):
    """A user's own positive-definite function of two blocks of points, identified by its name.

    function: takes n x d and m x d float64 arrays and returns the n x m Gram matrix; it may be called from several threads.
    name: identifies the function where kernels are compared or stored, since code cannot be; two different functions must have
    different names.
    A Gram block costs what the function costs; single pairs are blocks of one. Before points are chosen or compared with it,
    the function is tested on 50 of them, and refused if it is not symmetric or not positive definite.

    >>> linear = Function(lambda x, y: x @ y.T, name="linear")
    >>> linear([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    function: Callable[[Floats, Floats], Any]
    name: str

    def __post_init__(self) -> None:
        """Check the arguments without calling the function."""
        if not callable(self.function):
            raise InputTypeError(f"function of kernels.Function must be callable, got {type(self.function).__name__}")
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"name of kernels.Function must be a word that stands for the function, got {self.name!r}")

    @property
    def identity(self) -> Mapping[str, Any]:
        """The name."""
        return {"kernel": "Function", "name": self.name}

    def __eq__(self, other: object) -> bool:
        """Compare by name."""
        return isinstance(other, Function) and other.name == self.name

    def __hash__(self) -> int:
        """Hash by name."""
        return hash(("Function", self.name))

    def fill(self, left: Floats, right: Floats, out: Floats) -> None:
        """Call the function and check what it returns."""
        values = np.asarray(self.function(left, right))
        if values.shape != out.shape:
            raise InputError(
                f"kernel function {self.name!r} must return a {out.shape[0]} x {out.shape[1]} matrix for "
                f"{left.shape[0]} and {right.shape[0]} points, got shape {values.shape}"
            )
        if values.dtype.kind not in "biuf":
            raise InputTypeError(f"kernel function {self.name!r} must return real numbers, got dtype {values.dtype}")
        out[...] = values
        if not bool((np.abs(out) <= _LARGEST).all()):
            raise InputError(f"kernel function {self.name!r} must return finite numbers up to {_LARGEST:g}, got others, or NaN")

    def on_device(self, home: Home, dtype: Any, origin: Floats) -> DeviceKernel:
        """Call the function with arrays of the device."""
        return ByFunction(self.function, self.name, home, dtype)

    def check_on(self, points: Floats, *, differences: bool = False) -> None:
        """Refuse a function whose Gram matrix of some of the points is not symmetric, or has an eigenvalue below 0."""
        count = points.shape[0]
        places = np.linspace(0, count - 1, min(_LOOKED_AT, count)).astype(np.int64)
        some = np.ascontiguousarray(points[places], dtype=np.float64)
        gram = np.empty((some.shape[0], some.shape[0]))
        self.fill(some, some, gram)
        size = float(np.abs(gram).max())
        if float(np.abs(gram - gram.T).max()) > _ROUNDING * size:
            raise InputError(
                f"kernel function {self.name!r} must be symmetric, k(x, y) = k(y, x), and is not on the points given"
            )
        if differences:
            gram = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
        least = float(np.linalg.eigvalsh(gram)[0])
        if least < -_ROUNDING * size:
            raise InputError(
                f"kernel function {self.name!r} must be positive definite, and its Gram matrix of {some.shape[0]} of the "
                f"points has the eigenvalue {least:.3g}, beside values up to {size:.3g}; use another kernel, or compute it "
                f"more exactly"
            )

    def paired(self, left: Floats, right: Floats) -> Floats:
        """Call the function for one pair at a time, since it only takes blocks."""
        value = np.empty((1, 1))
        out = np.empty(left.shape[0])
        for i in range(left.shape[0]):
            self.fill(left[i : i + 1], right[i : i + 1], value)
            out[i] = value[0, 0]
        return out
