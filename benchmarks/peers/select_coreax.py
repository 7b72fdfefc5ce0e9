"""coreax: each solver compiled as one function of solver and data, in float32 as it comes, set as in its own benchmarks."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers.selection_protocol import EQUAL, Chooser, Chosen, Floats, Task

__all__ = ["compress", "herding", "iterative_herding", "kernel_thinning", "rp_cholesky", "rp_cholesky_weighted"]

_ITERATIONS = 10


class _Given(NamedTuple):
    n: int
    m: int
    kernel: Any
    key: Any


def herding() -> Chooser:
    """Herd with all rows as candidates, none of them twice."""
    return _chooser(_herding, lambda solver, data: solver.reduce(data)[0])


def iterative_herding() -> Chooser:
    """Ten probabilistic rounds with the cubic schedule of temperatures."""

    def make(given: _Given) -> Any:
        from coreax.solvers import KernelHerding

        options = {"probabilistic": True, "temperature": 0.001, "random_key": given.key}
        return KernelHerding(given.m, kernel=given.kernel, **options)

    def reduce(solver: Any, data: Any) -> Any:
        import jax.numpy as jnp

        schedule = 1.0 / jnp.linspace(10.0, 100.0, _ITERATIONS) ** 3
        return solver.reduce_iterative(data, num_iterations=_ITERATIONS, t_schedule=schedule)[0]

    return _chooser(make, reduce)


def kernel_thinning() -> Chooser:
    """Thin with the square-root kernel; its constant factor overflows float32 in many dimensions and changes no choice."""

    def make(given: _Given) -> Any:
        from coreax.solvers import KernelThinning

        return KernelThinning(given.m, **_thinning(given))

    return _chooser(make, lambda solver, data: solver.reduce(data)[0])


def compress() -> Chooser:
    """Compress++ with oversampling 4."""

    def make(given: _Given) -> Any:
        from coreax.solvers import CompressPlusPlus

        return CompressPlusPlus(given.m, g=4, **_thinning(given))

    return _chooser(make, lambda solver, data: solver.reduce(data)[0])


def rp_cholesky() -> Chooser:
    """Randomly pivoted Cholesky, which aims at the kernel matrix rather than at MMD."""
    return _chooser(_pivoted, lambda solver, data: solver.reduce(data)[0])


def rp_cholesky_weighted() -> Chooser:
    """The same with the weights that minimise MMD, as coreax solves for them."""

    def reduce(solver: Any, data: Any) -> Any:
        from coreax.weights import SBQWeightsOptimiser

        return solver.reduce(data)[0].solve_weights(SBQWeightsOptimiser(solver.kernel))

    return _chooser(_pivoted, reduce, weighted=True)


def _herding(given: _Given) -> Any:
    from coreax.solvers import KernelHerding

    return KernelHerding(given.m, kernel=given.kernel, unique=True)


def _pivoted(given: _Given) -> Any:
    from coreax.solvers import RPCholesky

    return RPCholesky(given.m, kernel=given.kernel, random_key=given.key)


def _chooser(make: Callable[[_Given], Any], reduce: Callable[[Any, Any], Any], *, weighted: bool = False) -> Chooser:
    """Import, and return a chooser that makes the solver for a seed and runs it compiled."""
    import coreax
    import coreax.solvers
    import coreax.weights
    import equinox
    import jax

    compiled = equinox.filter_jit(lambda solver, data: _parts(reduce(solver, data)))

    def choose(rows: Floats, task: Task) -> Chosen:
        kernel = coreax.SquaredExponentialKernel(length_scale=task.bandwidth)
        solver = make(_Given(len(rows), task.m, kernel, jax.random.key(task.seed)))
        indices, weights = (np.asarray(part) for part in compiled(solver, coreax.Data(rows.astype(np.float32))))
        return Chosen(indices, {"free": weights} if weighted else {EQUAL: None})

    return choose


def _parts(coreset: Any) -> tuple[Any, Any]:
    return coreset.unweighted_indices, coreset.indices.weights


def _thinning(given: _Given) -> dict[str, Any]:
    root = type(given.kernel)(length_scale=given.kernel.length_scale / math.sqrt(2.0))
    delta = 1.0 / (given.n * math.log(math.log(given.n)))
    return {"kernel": given.kernel, "random_key": given.key, "delta": delta, "sqrt_kernel": root}
