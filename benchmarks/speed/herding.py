"""What herding and sequential Bayesian quadrature cost: beside coreax, beside their memory floor, and for a million points."""

import importlib
import time
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

import supersample as ss
from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import in_child, race
from benchmarks.speed.workloads import mixture
from supersample._threads import one_blas_thread
from supersample._typing import Floats

__all__ = ["BENCHMARK"]

_WIDE = 16


def ours(n: int, m: int, width: int, rounds: int) -> dict[str, Any]:
    """Time herding of the pool against itself, z included."""
    points, bandwidth = _workload(n, width)
    kernel = ss.kernels.Gaussian(bandwidth)
    found = ss.herd(points, m, kernel=kernel)  # compiles
    seconds = race(rounds, {"herd": partial(ss.herd, points, m, kernel=kernel)})["herd"]
    return {"seconds": seconds, "mmd": float(found.mmd[-1])}


def theirs(n: int, m: int, width: int, rounds: int) -> dict[str, Any]:
    """Time coreax's kernel herding with the same kernel, after a first run that compiles; in float32, as it comes."""
    coreax, solvers = importlib.import_module("coreax"), importlib.import_module("coreax.solvers")
    points, bandwidth = _workload(n, width)
    rows = points.astype(np.float32)

    solver = solvers.KernelHerding(m, kernel=coreax.SquaredExponentialKernel(length_scale=bandwidth), unique=True)
    reduced = importlib.import_module("equinox").filter_jit(lambda data: solver.reduce(data)[0].points.data)

    def work() -> Any:
        return np.asarray(reduced(coreax.Data(rows)))

    start = time.perf_counter()
    chosen = work()
    cold = time.perf_counter() - start
    seconds = race(rounds, {"herd": work})["herd"]
    square = ss.mmd2(points, chosen.astype(np.float64), kernel=ss.kernels.Gaussian(bandwidth))
    return {"seconds": seconds, "cold": cold, "mmd": float(np.sqrt(max(square, 0.0)))}


def quadrature(n: int, m: int, rounds: int) -> dict[str, Any]:
    """Time SBQ and, in turns, the products of its factor alone: row s of the factor needs one with the s rows before it."""
    points, bandwidth = _workload(n, _WIDE)
    kernel = ss.kernels.Gaussian(0.5 * bandwidth)
    ss.sbq(points[:1_000], 10, kernel=kernel)  # compiles
    factor = np.random.default_rng(0).standard_normal((m, n))
    found: list[ss.Selection] = []

    def select() -> None:
        found.append(ss.sbq(points, m, kernel=kernel))

    @one_blas_thread()
    def products() -> None:
        out = np.empty(n)
        for size in range(1, m):
            np.dot(factor[:size, size], factor[:size], out=out)

    seconds = race(rounds, {"sbq": select, "products": products})
    return {**seconds, "points": len(found[-1]), "mmd": float(found[-1].mmd[-1])}


def million(n: int, m: int, n_features: int) -> dict[str, Any]:
    """Herd a large pool by features; the path is measured by other features."""
    points, _ = mixture(0, n, 2)
    bandwidth = float(ss.kernels.median_distance(points[:1_000]))
    phi = ss.features.Fourier(ss.kernels.Gaussian(bandwidth), n_features, random_state=0)
    start = time.perf_counter()
    found = ss.herd(points, m, features=phi, random_state=0)
    return {"seconds": time.perf_counter() - start, "mmd": float(found.mmd[-1])}


def _workload(n: int, width: int) -> tuple[Floats, float]:
    points, _ = mixture(0, n, width)
    return points, float(ss.kernels.median_distance(points[:1_000], random_state=0))


def _run(context: Context) -> Result:
    n, m, rounds = (2_000, 20, 1) if context.quick else (10_000, 100, 5)
    rows: list[Row] = []
    targets: list[Target] = []
    remarks = []
    for width in (2, _WIDE):
        mine = in_child(ours, n=n, m=m, width=width, rounds=rounds)
        rows.append(_row("herd", n, m, width, mine))
        if find_spec("coreax") is None:
            continue
        peer = in_child(theirs, n=n, m=m, width=width, rounds=rounds)
        rows.append(_row("coreax, warm", n, m, width, peer))
        targets.append(Target(f"coreax warm / herd, seconds, d = {width}", peer["seconds"] / mine["seconds"], "at least", 10))
        remarks.append(f"coreax took {peer['cold']:.2f} s the first time at d = {width}, with compilation")
    if find_spec("coreax") is None:
        remarks.append("coreax is not installed, so it is not compared: pip install coreax")
    count = 100 if context.quick else 1_000
    taken = in_child(quadrature, threads=1, n=n, m=count, rounds=2)
    rows.append(_row("sbq", n, count, _WIDE, {**taken, "seconds": taken["sbq"]}))
    rows.append({"method": "products of its factor alone", "N": n, "m": count, "d": _WIDE, "seconds": taken["products"]})
    remarks.append(f"sbq chose {taken['points']} points of {count}")
    targets.append(Target("sbq / products of its factor alone, seconds", taken["sbq"] / taken["products"], "at most", 1.5))
    pool, many = (20_000, 50) if context.quick else (1_000_000, 1_000)
    large = in_child(million, n=pool, m=many, n_features=200)
    rows.append(_row("herd, 200 features", pool, many, 2, large))
    targets.append(Target(f"peak MB of herding {many:,} of {pool:,} in features", large["peak_mb"], "at most", 2_000))
    return Result(rows, targets, remarks)


def _row(method: str, n: int, m: int, width: int, taken: dict[str, Any]) -> Row:
    return {
        "method": method,
        "N": n,
        "m": m,
        "d": width,
        "seconds": taken["seconds"],
        "peak MB": taken["peak_mb"],
        "MMD": taken["mmd"],
    }


BENCHMARK = Benchmark(
    "100 of 10,000 beside coreax; SBQ 1,000 of 10,000 beside its matrix-vector products; 1,000 of 1,000,000 by features",
    [
        "Herding is timed with z, the mean of all kernel values of each row, which is most of the work. Both choose from and "
        "for the same rows with the same Gaussian kernel; coreax in float32, ours in float64, both on all cores.",
        "coreax is compiled before the clock starts, as one function of the data; MMD is by the exact kernel for both.",
        "The products alone read a factor of 1,000 x 10,000 numbers as often as SBQ has to: its memory floor. Both in one "
        "thread, SBQ with z.",
        "The million rows are herded by 200 Fourier features; their MMD is of held-out features. One run.",
    ],
    _run,
)
