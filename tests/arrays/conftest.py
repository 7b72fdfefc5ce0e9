"""Each test of this folder runs for every library of arrays that is installed, on the CPU and on a GPU if there is one.

`make test-arrays` has array-api-strict, PyTorch and JAX on the CPU; `make test-gpu` runs the same on a GPU.
"""

import importlib.util
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

# JAX takes three quarters of a GPU's memory at its start if it may.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


class Lying(NamedTuple):
    """A library and a device: how an array gets there and back, and the digits that float64 arrays have there."""

    name: str
    put: Callable[[Any], Any]
    back: Callable[[Any], Any]
    type: type
    rounding: float

    @property
    def mutable(self) -> bool:
        return not self.name.startswith("jax")


def _torch(device: str) -> Lying:
    import torch

    def put(values: Any) -> Any:
        return torch.tensor(np.asarray(values), device=device)

    return Lying(f"torch-{device}", put, lambda array: array.cpu().numpy(), torch.Tensor, 1e-9)


def _cupy() -> Lying:
    import cupy

    return Lying("cupy", cupy.asarray, lambda array: array.get(), cupy.ndarray, 1e-9)


def _strict() -> Lying:
    import array_api_strict

    return Lying("strict", array_api_strict.asarray, np.asarray, type(array_api_strict.zeros(1)), 1e-9)


def _jax() -> Lying:
    import jax

    return Lying("jax", jax.numpy.asarray, np.asarray, jax.Array, 2e-6)


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _has_cuda() -> bool:
    if not _installed("torch"):
        return False
    import torch

    return torch.cuda.is_available()


MAKERS: dict[str, Callable[[], Lying]] = {}
if _installed("array_api_strict"):
    MAKERS["strict"] = _strict
if _installed("torch"):
    MAKERS["torch-cpu"] = lambda: _torch("cpu")
if _has_cuda():
    MAKERS["torch-cuda"] = lambda: _torch("cuda:0")
if _installed("cupy"):
    MAKERS["cupy"] = _cupy
if _installed("jax"):
    MAKERS["jax"] = _jax


@pytest.fixture(
    params=sorted(MAKERS) or [pytest.param("", marks=pytest.mark.skip(reason="no library of arrays; make test-arrays"))]
)
def lying(request: pytest.FixtureRequest) -> Lying:
    return MAKERS[request.param]()


@pytest.fixture
def writable(lying: Lying) -> Lying:
    """The libraries whose arrays can be changed: all but JAX."""
    if not lying.mutable:
        pytest.skip("arrays of JAX are for functions without a state")
    return lying
