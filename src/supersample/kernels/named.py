"""Convert the `kernel=` argument of users to a kernel, or to a family of kernels."""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from types import CodeType
from typing import Any, TypeVar

import numpy as np

from supersample._registry import Registry
from supersample._stored import kind_of, stored
from supersample.errors import InputError, InputTypeError
from supersample.kernels.bandwidth import BANDWIDTH, Bandwidth
from supersample.kernels.base import Kernel
from supersample.kernels.function import Function
from supersample.kernels.product import Laplacian
from supersample.kernels.radial import Cauchy, Gaussian, Matern
from supersample.kernels.stationary import Stationary

__all__ = ["KERNELS", "KernelLike", "as_family", "as_kernel", "name_of", "register"]

K = TypeVar("K", bound=Kernel)

#: A name, a kernel, or a function of two blocks of points.
KernelLike = str | Kernel | Callable[[Any, Any], Any]

#: Kernels that `kernel=` takes by name: functions from a bandwidth to a kernel.
KERNELS: Registry[Callable[..., Kernel]] = Registry(
    "kernel",
    {
        "gaussian": Gaussian,
        "laplacian": Laplacian,
        "cauchy": Cauchy,
        "matern12": partial(Matern, 0.5),
        "matern32": partial(Matern, 1.5),
        "matern52": partial(Matern, 2.5),
    },
)


def register(name: str, **fields: Any) -> Callable[[type[K]], type[K]]:
    """Register a kernel class of your own, so that `kernel=name` finds it and summaries that use it can be saved and loaded.

    fields: what the constructor takes by keyword, each with the type of its values: float, int, str, bool, tuple (of numbers)
    or numpy.ndarray. The bandwidth of a `Stationary` or `Radial` kernel need not be given. A file holds the name alone: the
    process that loads it must have registered the class before.

    >>> import numpy as np
    >>> import supersample as ss
    >>> @ss.kernels.register("logistic")
    ... class Logistic(ss.kernels.Kernel):
    ...     identity = {"kernel": "logistic"}
    ...     k0 = 0.25
    ...
    ...     def fill(self, left, right, out):
    ...         out[...] = np.prod(1 / (2 + 2 * np.cosh(left[:, None] - right)), axis=2)
    ...
    ...     def paired(self, left, right):
    ...         return np.prod(1 / (2 + 2 * np.cosh(left - right)), axis=1)
    >>> len(ss.herd(np.arange(10.0)[:, None], 3, kernel="logistic"))
    3
    """

    def add(cls: type[K]) -> type[K]:
        if not (isinstance(cls, type) and issubclass(cls, Kernel)):
            raise InputTypeError(f"register must decorate a class that extends supersample.kernels.Kernel, got {cls!r}")
        kinds = {key: kind_of(key, value) for key, value in fields.items()}
        if issubclass(cls, Stationary):
            kinds = {"bandwidth": BANDWIDTH, **kinds}
        KERNELS.add(name, cls)
        return stored(name, kinds)(cls)

    return add


def as_kernel(kernel: KernelLike, bandwidth: Bandwidth = "median") -> Kernel:
    """Turn a name, a kernel or a function into a kernel.

    `bandwidth` is accepted with a name only: a kernel object has its own.

    >>> as_kernel("gaussian", 2.0)
    Gaussian(bandwidth=2.0)
    """
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            other = "; 'rbf' is 'gaussian' here, with bandwidth (2 gamma)^-1/2" * (kernel == "rbf")
            raise InputError(f"kernel must be one of {', '.join(map(repr, KERNELS))} or a kernel object, got {kernel!r}{other}")
        make = KERNELS[kernel]
        if _is_given(bandwidth) and not _has_bandwidth(make):
            raise InputError(f"bandwidth must be left out with kernel={kernel!r}, which has none")
        return make(bandwidth=bandwidth) if _has_bandwidth(make) else make()
    if _is_given(bandwidth):
        raise InputError(f"bandwidth goes with a kernel named by a string; {kernel!r} carries its own, so leave bandwidth out")
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Function(kernel, name=name_of(kernel))
    raise InputTypeError(
        f"kernel must be a name such as 'gaussian', a kernel object or a function of two arrays, got {type(kernel).__name__}"
    )


def name_of(function: Callable[[Any, Any], Any]) -> str:
    """Return a name that differs for functions of different code, defaults or captured values, and for different objects."""
    name = getattr(function, "__qualname__", type(function).__name__)
    code = getattr(function, "__code__", None)
    if code is None:
        return f"{name} at {id(function):#x}"
    captured = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    defaults = (getattr(function, "__defaults__", None), getattr(function, "__kwdefaults__", None))
    what = (_code_of(code), [_value_of(value) for value in (*captured, *defaults, getattr(function, "__self__", None))])
    return f"{name} {hashlib.sha256(repr(what).encode()).hexdigest()[:16]}"


def _code_of(code: CodeType) -> tuple[Any, ...]:
    consts = [_code_of(each) if isinstance(each, CodeType) else each for each in code.co_consts]
    return (code.co_code, consts, code.co_names)


def _value_of(value: Any) -> Any:
    """Return a stand-in for a captured value: itself if its repr identifies it, a digest of an array, or else its address."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return value
    if isinstance(value, tuple | list):
        return [_value_of(each) for each in value]
    if isinstance(value, dict):
        return [(key, _value_of(each)) for key, each in value.items()]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (value.shape, value.dtype.str, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest())
    return (type(value).__qualname__, id(value))


def as_family(kernel: KernelLike | Sequence[KernelLike | float], bandwidth: Bandwidth = "median") -> tuple[Kernel, ...]:
    """Turn the `kernel` argument into a tuple of kernels: one, or a family given as a list.

    A list may hold kernels, names and plain numbers; a number is the bandwidth of a Gaussian kernel.

    >>> as_family([0.5, 1.0])
    (Gaussian(bandwidth=0.5), Gaussian(bandwidth=1.0))
    """
    if isinstance(kernel, str | Kernel) or callable(kernel):
        return (as_kernel(kernel, bandwidth),)
    given: Any = kernel
    members: list[Any] = list(given) if isinstance(given, Sequence) or getattr(given, "ndim", 0) == 1 else []
    if not members:
        raise InputTypeError(
            f"kernel must be a name, a kernel, a function, or a non-empty list of kernels or bandwidths, got {kernel!r}"
        )
    if _is_given(bandwidth):
        raise InputError("bandwidth must be left out where kernel is a list: each member carries its own")
    return tuple(Gaussian(float(member)) if _is_number(member) else as_kernel(member) for member in members)


def _has_bandwidth(make: Any) -> bool:
    return not isinstance(make, type) or issubclass(make, Stationary)


def _is_given(bandwidth: Any) -> bool:
    return not (isinstance(bandwidth, str) and bandwidth == "median")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
