"""What criticisms cost: on the stream, and in batch beside the PyPI package mmd-critic."""

import importlib
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa

import supersample as ss
from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import in_child, race
from benchmarks.speed.workloads import D, mixture
from supersample import SuperSampler
from supersample._typing import Floats

__all__ = ["BENCHMARK"]

_PROTOTYPES, _CRITICISMS = 100, 20


def streams(n: int, rounds: int) -> dict[str, Any]:
    """Time fits with and without criticisms in turns; then the first reading of each."""
    points, _ = mixture(0, n, 2)
    samplers = {
        name: SuperSampler(_PROTOTYPES, count, features="fourier", n_features=200, random_state=0)
        for name, count in (("without", 0), ("with", _CRITICISMS))
    }
    for sampler in samplers.values():
        _ = sampler.fit(points[:6_000]).prototypes_  # compiles
    seconds = race(rounds, {name: partial(sampler.fit, points) for name, sampler in samplers.items()})
    reads = race(1, {name: partial(getattr, sampler, "prototypes_") for name, sampler in samplers.items()})
    return {name: {"fit": seconds[name], "read": reads[name], "mmd": samplers[name].mmd_} for name in samplers}


def defaults(n: int, rounds: int) -> dict[str, Any]:
    """Time what users call, with and without criticisms in turns: a fit of ten columns, and a table with a category."""
    generator = np.random.default_rng(0)
    points = generator.normal(size=(n, 10))
    columns = {f"x{place}": points[:, place] for place in range(8)}
    table = pa.table({**columns, "state": pa.array(np.array(list("abcdef"))[generator.integers(6, size=n)].tolist())})
    works: dict[str, Callable[[], Any]] = {}
    for name, count in (("without", 0), ("with", _CRITICISMS)):
        works[f"fit {name}"] = partial(SuperSampler(_PROTOTYPES, count, random_state=0).fit, points)
        works[f"summarize {name}"] = partial(ss.summarize, table, _PROTOTYPES, count, random_state=0)
    race(1, works)  # compiles
    return race(rounds, works)


def ours(n: int) -> dict[str, Any]:
    """Time the batch choice; its MMD is of the exact kernel up to 20,000 rows, and held out above."""
    ss.critic(mixture(1, 1_000, D)[0], 5, 3, random_state=0)  # compiles
    points, bandwidth = _workload(n)
    start = time.perf_counter()
    found = ss.critic(points, _PROTOTYPES, _CRITICISMS, kernel=ss.kernels.Gaussian(bandwidth), random_state=0)
    return {"seconds": time.perf_counter() - start, "mmd": float(found.prototypes.mmd[-1])}


def theirs(n: int) -> dict[str, Any]:
    """Time mmd-critic with the same kernel; it holds the n x n kernel matrix."""
    package = importlib.import_module("mmd_critic")  # not everyone has it
    kernels = importlib.import_module("mmd_critic.kernels")
    points, bandwidth = _workload(n)
    start = time.perf_counter()
    critic = package.MMDCritic(points, kernels.RBFKernel(sigma=bandwidth))
    prototypes, _ = critic.select_prototypes(_PROTOTYPES)
    critic.select_criticisms(_CRITICISMS, prototypes)
    seconds = time.perf_counter() - start
    del critic
    return {"seconds": seconds, "mmd": _true_mmd(points, prototypes, bandwidth)}


def _workload(n: int) -> tuple[Floats, float]:
    points, _ = mixture(0, n, D)
    return points, float(ss.kernels.median_distance(points[:1_000]))


def _true_mmd(points: Floats, chosen: Floats, bandwidth: float) -> float:
    return float(np.sqrt(max(0.0, ss.mmd2(points, chosen, kernel=ss.kernels.Gaussian(bandwidth), estimator="biased"))))


def _run(context: Context) -> Result:
    n, rounds = (20_000, 1) if context.quick else (1_000_000, 3)
    large, small = (22_000, 1_000) if context.quick else (100_000, 10_000)
    taken = in_child(streams, threads=1, n=n, rounds=rounds)
    rows: list[Row] = [
        {
            "method": f"stream {name} criticisms, one thread",
            "N": n,
            "d": 2,
            "seconds": taken[name]["fit"],
            "reading s": taken[name]["read"],
            "peak MB": taken["peak_mb"] if name == "with" else None,
            "MMD": taken[name]["mmd"],
        }
        for name in ("without", "with")
    ]
    targets = [Target("stream with 20 criticisms / without", taken["with"]["fit"] / taken["without"]["fit"], "at most", 1.5)]
    size, turns = (30_000, 1) if context.quick else (300_000, 15)
    usual = in_child(defaults, n=size, rounds=turns)
    for what, width in (("fit", 10), ("summarize", 9)):
        rows += [
            {"method": f"{what} {name} criticisms", "N": size, "d": width, "seconds": usual[f"{what} {name}"]}
            for name in ("without", "with")
        ]
        ratio = usual[f"{what} with"] / usual[f"{what} without"]
        targets.append(Target(f"{what} with 20 criticisms / without", ratio, "at most", 1.05))
    batches = {("critic", large): in_child(ours, n=large), ("critic", small): in_child(ours, n=small)}
    peak = batches["critic", large]["peak_mb"]
    targets.append(Target(f"peak MB of critic at N = {large:,}", peak, "at most", 1000))
    remarks = [f"batch: d = {D}, {_PROTOTYPES} prototypes, {_CRITICISMS} criticisms; streams: best of {rounds}, taken in turns"]
    if find_spec("mmd_critic") is None:
        remarks.append("mmd-critic is not installed, so it is not compared: pip install mmd-critic")
    else:
        batches["mmd-critic", small] = in_child(theirs, n=small)
        ratio = batches["mmd-critic", small]["seconds"] / batches["critic", large]["seconds"]
        targets.append(Target(f"mmd-critic at N = {small:,} / critic at N = {large:,}, seconds", ratio, "at least", 1))
    rows += [
        {"method": name, "N": n, "d": D, "seconds": found["seconds"], "peak MB": found["peak_mb"], "MMD": found["mmd"]}
        for (name, n), found in batches.items()
    ]
    return Result(rows, targets, remarks)


BENCHMARK = Benchmark(
    "criticisms: what 20 of them cost streams and tables; batch at N = 100,000 beside mmd-critic at N = 10,000",
    [
        "The stream's seconds are those of the pass; the first reading, with its second look, does not grow with N and stands "
        "apart. Both samplers live in one process, whose peak is given once. "
        "`fit` and `summarize` are the default calls on all cores, the second with its reading, taken in turns.",
        "mmd-critic (PyPI) is given a tenth of the rows, since it holds the N x N kernel matrix; what it calls logdet is the "
        "log of each point's own kernel value, 0 for this kernel, so it computes no determinant.",
        "MMD: of streams and of 100,000 rows the held-out estimate, of 10,000 rows by the exact kernel.",
        "Batch times are of one run each, on all cores; peak memory is that of a whole process.",
    ],
    _run,
)
