"""Arrays that are not NumPy's: which library they belong to, on which device they lie, and the way there and back.

None of the libraries is imported here before the user has: an array's type says which one made it. Computation goes through the
array API standard, by array-api-compat or the copy of it that scikit-learn carries.
"""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from supersample._typing import Floats
from supersample._validation import to_host
from supersample.errors import InputTypeError, MismatchError

__all__ = [
    "Array",
    "Home",
    "follow",
    "home_of",
    "hosted",
    "is_device_array",
    "require_home",
    "require_host",
    "where_in_words",
    "working",
]

T = TypeVar("T")

#: An array of torch, CuPy, JAX, or of any other library of the standard.
Array = Any

#: Libraries by the package of their arrays' type.
_KINDS = {"torch": "torch", "cupy": "cupy", "jax": "jax", "jaxlib": "jax", "array_api_strict": "array_api_strict"}
#: Where the standard's functions for each library are.
_MODULES = {"torch": "{compat}.torch", "cupy": "{compat}.cupy", "jax": "jax.numpy", "array_api_strict": "array_api_strict"}
_COMPAT = ("array_api_compat", "sklearn.externals.array_api_compat")


@dataclass(frozen=True)
class Home:
    """A library and a device: where a computation takes place."""

    kind: str
    device: Any

    def __str__(self) -> str:
        """Return both in words."""
        return f"{self.kind} on {self.device}"

    @property
    def xp(self) -> Any:
        """The functions of the array API standard for this library."""
        return _namespace(self.kind)

    @property
    def single(self) -> Any:
        """The type that rows are chosen in."""
        return self.xp.float32

    @property
    def wide(self) -> Any:
        """The type of sums and of what is reported: float64, or float32 where the library or the device has no other."""
        if self.kind == "jax" and not sys.modules["jax"].config.jax_enable_x64:
            return self.xp.float32
        if self.kind == "torch" and self.device.type == "mps":
            return self.xp.float32
        return self.xp.float64

    @property
    def is_mutable(self) -> bool:
        """Whether arrays can be written into."""
        return self.kind != "jax"

    @property
    def on_gpu(self) -> bool:
        """Whether products of float32 may be rounded to fewer digits for speed."""
        return self.kind == "cupy" or (self.kind == "torch" and self.device.type == "cuda")

    def array(self, values: npt.ArrayLike, dtype: Any = None) -> Array:
        """Copy numbers of the host to the device; dtype: None for int64, or the wide type for floats."""
        host = np.array(values, order="C")
        if host.dtype.kind == "f" and dtype is None:
            dtype = self.wide
        if host.dtype.kind == "f" and dtype == self.xp.float32:
            host = host.astype(np.float32)
        if self.kind == "jax" and host.dtype == np.int64:
            host = host.astype(np.int64 if sys.modules["jax"].config.jax_enable_x64 else np.int32)
        return self.xp.asarray(host, dtype=dtype, device=self.device)

    def send(self, values: npt.NDArray[Any]) -> Array:
        """Start to copy numbers to the device; `array` waits until the device has done all that it was told before."""
        if self.kind == "torch" and self.on_gpu:
            return sys.modules["torch"].from_numpy(np.array(values, order="C")).pin_memory().to(self.device, non_blocking=True)
        return self.array(values)

    def host(self, array: Array) -> Any:
        """Copy an array of the device to the host."""
        if self.kind == "torch":
            return array.detach().cpu().numpy()
        if self.kind == "array_api_strict":  # whose arrays NumPy reads from one device only
            array = array.to_device(self.xp.Device("CPU_DEVICE"))
        return array.get() if self.kind == "cupy" else np.array(array)

    def floats(self, array: Array) -> Floats:
        """Copy an array of the device to the host, in float64."""
        if self.kind == "torch" and array.dtype in (self.xp.bfloat16, self.xp.float16):
            array = array.to(self.xp.float32)
        return np.asarray(self.host(array), dtype=np.float64)

    def zeros(self, shape: int | tuple[int, ...], dtype: Any = None) -> Array:
        """Return zeros, of the wide type by default."""
        return self.xp.zeros(shape, dtype=self.wide if dtype is None else dtype, device=self.device)

    def places(self, stop: int) -> Array:
        """Return the numbers 0, 1, ..., stop - 1."""
        return self.xp.arange(stop, device=self.device)

    def put(self, array: Array, where: Any, values: Any) -> Array:
        """Return the array with values written to some places: the same array, or a new one where arrays do not change."""
        if not self.is_mutable:
            return array.at[where].set(values)
        array[where] = values
        return array

    def add(self, array: Array, where: Any, values: Any) -> Array:
        """Return the array with values added at some places."""
        if not self.is_mutable:
            return array.at[where].add(values)
        array[where] += values
        return array

    def put_rows(self, array: Array, places: Array, rows: Array) -> Array:
        """Write rows to some places of an array, and return it."""
        if self.kind == "array_api_strict":  # which takes no lists of places here
            for row, place in enumerate(self.host(places).tolist()):
                array[place, ...] = rows[row, ...]
            return array
        return self.put(array, places, rows)

    def fetch(self, array: Array) -> Callable[[], Any]:
        """Start to copy an array to the host; the function that is returned waits for it."""
        if self.kind == "torch" and self.on_gpu:
            torch = sys.modules["torch"]
            pinned = torch.empty(array.shape, dtype=array.dtype, pin_memory=True)
            pinned.copy_(array, non_blocking=True)
            done = torch.cuda.Event()
            done.record(torch.cuda.current_stream(self.device))

            def wait() -> Any:
                done.synchronize()
                return pinned.numpy()

            return wait
        return lambda: self.host(array)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Compute on this device, with products of float32 in full: torch and JAX may be set to round them to fewer digits."""
        if self.kind == "cupy":
            with self.device:
                yield
        elif self.kind == "jax":
            with sys.modules["jax"].default_matmul_precision("highest"):
                yield
        elif self.kind == "torch":
            torch = sys.modules["torch"]
            with torch.no_grad(), _torch_precision(torch, "highest"):
                yield
        else:
            yield

    @contextmanager
    def rough_products(self) -> Iterator[None]:
        """Let products of float32 be rounded to the ten bits of TF32 on NVIDIA GPUs, for choosing only. In torch."""
        if self.kind == "torch" and self.on_gpu:
            with _torch_precision(sys.modules["torch"], "high"):
                yield
        else:
            yield


@contextmanager
def _torch_precision(torch: Any, precision: str) -> Iterator[None]:
    # One setting of the process: other threads that multiply meanwhile see it too.
    products = _torch_products(torch)
    values = [each.fp32_precision for each in products]
    try:
        before = torch.get_float32_matmul_precision()
    except RuntimeError:  # the user set fp32_precision, which the old name cannot say
        before = None
    if before == precision:
        yield
        return
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before or "highest")
        for each, value in zip(products, values, strict=True):
            each.fp32_precision = "none"  # follow torch.backends.fp32_precision, if that is what it did
            if each.fp32_precision != value:
                each.fp32_precision = value


def _torch_products(torch: Any) -> list[Any]:
    """Return what holds the precision of products on GPUs and on the CPU; nothing before torch 2.9."""
    found = (torch.backends.cuda.matmul, getattr(torch.backends.mkldnn, "matmul", None))
    return [each for each in found if hasattr(each, "fp32_precision")]


def is_device_array(value: Any) -> bool:
    """Return whether a value is an array of torch, CuPy, JAX or another library of the standard."""
    return _kind_of(value) is not None


def home_of(**arrays: Any) -> Home | None:
    """Return where some arguments lie, the first of them above all; None if they are on the host. Refuse a mixture.

    Arguments that are None are left out.
    """
    given = {name: value for name, value in arrays.items() if value is not None}
    kinds = {name: _kind_of(value) for name, value in given.items()}
    if not any(kinds.values()):
        return None
    homes = {name: None if kinds[name] is None else _home(given[name], str(kinds[name])) for name in given}
    first, home = next(iter(homes.items()))
    for name, other in homes.items():
        if other != home:
            raise MismatchError(
                f"{name} must lie where {first} does ({_words(home, given[first])}), got {_words(other, given[name])}; "
                f"{_remedy(name, first, home, given[name])}"
            )
    assert home is not None
    return home


def require_home(home: Home | None, before: Home | None, name: str, whose: str) -> None:
    """Refuse more rows that lie elsewhere than those before."""
    if home != before:
        raise MismatchError(
            f"{name} must lie where the rows before it did ({where_in_words(before)}), got {where_in_words(home)}; pass "
            f"all rows of one {whose} as arrays of one kind on one device"
        )


def require_host(**arguments: Any) -> None:
    """Refuse arguments that lie on a device, or hold points there, beside an X of the host."""
    for name, value in arguments.items():
        points = getattr(value, "lie", value)  # of an empirical measure
        if is_device_array(points):
            what = f"pass {to_host(points, name)}" if points is value else "make the measure of NumPy arrays"
            raise MismatchError(f"{name} must lie on the host as X does, got {home_of(points=points)}; {what}")


def working(home: Home | None) -> AbstractContextManager[None]:
    """Compute at home; with None, on the host, where nothing needs to be set."""
    return nullcontext() if home is None else home.working()


def hosted(home: Home | None, values: Any) -> Any:
    """Return few numbers, such as weights, on the host; None and values of the host stay as they are."""
    return values if home is None or not is_device_array(values) else home.floats(values)


def follow(home: Home | None, values: T) -> T:
    """Return values of the host as an array of this kind on this device; without one, unchanged.

    Annotations say what the values are on the host.
    """
    if home is None:
        return values
    there: T = home.array(values)  # type: ignore[arg-type]
    return there


def _kind_of(value: Any) -> str | None:
    if isinstance(value, np.ndarray | list | tuple | str | int | float):
        return None
    for each in type(value).__mro__[:-1]:
        kind = _KINDS.get(each.__module__.partition(".")[0])
        if kind is not None:
            return kind if hasattr(value, "shape") and hasattr(value, "dtype") else None
    return None


def _home(value: Any, kind: str) -> Home:
    device = value.device
    if kind == "jax" and not hasattr(device, "platform"):
        raise InputTypeError("arrays of JAX must lie on one device, got one that is spread over several; gather it first")
    if kind == "torch" and value.layout is not sys.modules["torch"].strided:
        raise InputTypeError(f"tensors must be dense, got layout {value.layout}; pass .to_dense()")
    return Home(kind, device)


def where_in_words(home: Home | None) -> str:
    """Return where arrays lie."""
    return "on the host" if home is None else str(home)


def _words(home: Home | None, value: Any) -> str:
    return where_in_words(home) if home is not None or value is None else f"{type(value).__name__} on the host"


def _remedy(name: str, first: str, home: Home | None, value: Any) -> str:
    if home is None:
        return f"pass {to_host(value, name)}, or {first} as an array of the same kind"
    return f"bring {name} there, or {first} to the host"


@cache
def _namespace(kind: str) -> Any:
    wanted = _MODULES[kind]
    if "{compat}" not in wanted:
        return importlib.import_module(wanted)
    for compat in _COMPAT:
        try:
            return importlib.import_module(wanted.format(compat=compat))
        except ModuleNotFoundError:
            continue
    raise InputTypeError(
        f"arrays of {kind} need array-api-compat, which is missing: pip install 'supersample[arrays]', or scikit-learn 1.7 or "
        f"newer, which carries a copy"
    )
