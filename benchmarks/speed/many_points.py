"""Thousands of points: true MMD, time and memory as M grows, beside goodpoints' Compress, and on wide rows."""

import time
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import in_child, peak_mb
from benchmarks.speed.truth import Truth
from benchmarks.speed.workloads import clustered_directions, mixture
from supersample import SuperSampler
from supersample.kernels import Gaussian

__all__ = ["BENCHMARK"]

_WIDTH, _BANDWIDTH = 10, 6.0
#: Compress keeps 2^g sqrt(N) rows.
_OVERSAMPLING = 4
#: Largest true MMD for each number of points, and seconds.
_GOALS = {1_000: 0.0024, 2_000: 0.0014, 5_000: 0.0007, 10_000: 0.0005}
_SECONDS = 8.0


def ours(n: int, m: int, seeds: int) -> dict[str, Any]:
    """Time fit and first reading on mixtures; rows chosen for each seed."""
    SuperSampler(m, bandwidth=_BANDWIDTH, random_state=0).fit(mixture(0, 6_000, _WIDTH)[0]).prototype_indices_  # noqa: B018
    fits, reads, chosen = [], [], []
    for seed in range(seeds):
        points, _ = mixture(seed, n, _WIDTH)
        sampler = SuperSampler(m, bandwidth=_BANDWIDTH, random_state=seed)
        start = time.perf_counter()
        sampler.fit(points)
        middle = time.perf_counter()
        indices = sampler.prototype_indices_
        fits.append(middle - start)
        reads.append(time.perf_counter() - middle)
        chosen.append(indices.tolist())
    return {"fit": fits, "read": reads, "chosen": chosen, "features": sampler.feature_map_.n_features}


def theirs(n: int, seeds: int) -> dict[str, Any]:
    """Time Compress with kernel thinning and the same kernel."""
    from goodpoints.compress import compress_kt  # not everyone has it

    parameter = np.array([2.0 * _BANDWIDTH**2])
    seconds, chosen = [], []
    for seed in range(seeds):
        points, _ = mixture(seed, n, _WIDTH)
        start = time.perf_counter()
        indices = compress_kt(points, b"gaussian", k_params=parameter, g=_OVERSAMPLING, seed=seed)
        seconds.append(time.perf_counter() - start)
        chosen.append(np.asarray(indices).tolist())
    return {"fit": seconds, "read": [0.0] * seeds, "chosen": chosen, "features": None}


def wide(n: int, width: int, m: int) -> dict[str, Any]:
    """Time fit and first reading on wide rows, and the memory that they take beyond the data."""
    SuperSampler(m, random_state=0).fit(clustered_directions(1, 5_500, 64)).prototype_indices_  # noqa: B018  compile
    points = clustered_directions(0, n, width)
    before = peak_mb()
    sampler = SuperSampler(m, random_state=0)
    start = time.perf_counter()
    sampler.fit(points)
    middle = time.perf_counter()
    _ = sampler.prototype_indices_
    stop = time.perf_counter()
    beyond = peak_mb() - max(before, points.nbytes / 1e6)
    return {
        "fit": middle - start, "read": stop - middle, "beyond": beyond, "features": sampler.feature_map_.n_features,
        "mmd": sampler.mmd_, "random": sampler.random_mmd_,
    }  # fmt: skip


def _run(context: Context) -> Result:
    n, seeds = (20_000, 1) if context.quick else (100_000, 2)
    rows: list[Row] = []
    targets: list[Target] = []
    truths = [Truth(mixture(seed, n, _WIDTH)[0], Gaussian(_BANDWIDTH)) for seed in range(seeds)]
    for m, goal in _GOALS.items():
        taken = in_child(ours, n=n, m=m, seeds=seeds)
        row = _judged(f"ours, {m:,} of {n:,}", taken, truths)
        rows.append(row)
        targets.append(Target(f"true MMD, M = {m:,}", float(row["true MMD"]), "at most", goal))  # type: ignore[arg-type]
        targets.append(Target(f"seconds with reading, M = {m:,}", _seconds(taken), "at most", _SECONDS))
    targets += _beside_compress(rows, *((4_096, 1) if context.quick else (65_536, 2)))
    for size, width, m in ((20_000, 64, 2_000),) if context.quick else ((100_000, 768, 5_000), (1_000_000, 64, 20_000)):
        taken = in_child(wide, n=size, width=width, m=m)
        told = f"ours, {m:,} of {size:,} x {width}"
        rows.append(
            {"method": told, "fit s": taken["fit"], "reading s": taken["read"], "D": taken["features"],
             "MB beyond the data": taken["beyond"], "held-out MMD": taken["mmd"], "random MMD": taken["random"]}
        )  # fmt: skip
        if width == 768:
            targets.append(Target(f"seconds with reading, {told}", taken["fit"] + taken["read"], "at most", 12.0))
            targets.append(Target(f"MB beyond the data, {told}", taken["beyond"], "at most", 1_500.0))
    remarks = [f"mixtures of ten Gaussians in {_WIDTH} dimensions, Gaussian kernel of bandwidth {_BANDWIDTH}, {seeds} seeds"]
    return Result(rows, targets, remarks)


def _beside_compress(rows: list[Row], n: int, seeds: int) -> list[Target]:
    """Add both methods for as many points as Compress keeps; without goodpoints, ours alone."""
    m = 2**_OVERSAMPLING * int(np.sqrt(n))
    truths = [Truth(mixture(seed, n, _WIDTH)[0], Gaussian(_BANDWIDTH)) for seed in range(seeds)]
    taken = in_child(ours, n=n, m=m, seeds=seeds)
    mine = _judged(f"ours, {m:,} of {n:,}", taken, truths)
    rows.append(mine)
    if find_spec("goodpoints") is None:
        return []
    other = in_child(theirs, n=n, seeds=seeds)
    peer = _judged(f"goodpoints compress_kt, g = {_OVERSAMPLING}, {m:,} of {n:,}", other, truths)
    rows.append(peer)
    ratio = float(mine["true MMD"]) / float(peer["true MMD"])  # type: ignore[arg-type]
    return [
        Target("true MMD, ours / compress_kt", ratio, "at most", 1.0),
        Target("time with reading, compress_kt / ours", _seconds(other) / _seconds(taken), "at least", 3.0),
    ]


def _judged(name: str, taken: dict[str, Any], truths: list[Truth]) -> Row:
    mmds = [truth.mmd(truth.points[each]) for truth, each in zip(truths, taken["chosen"], strict=True)]
    fit, read = float(np.mean(taken["fit"])), float(np.mean(taken["read"]))
    return {
        "method": name, "fit s": fit, "reading s": read, "D": taken["features"], "peak MB": taken["peak_mb"],
        "true MMD": float(np.mean(mmds)),
    }  # fmt: skip


def _seconds(taken: dict[str, Any]) -> float:
    return float(np.mean(taken["fit"]) + np.mean(taken["read"]))


BENCHMARK = Benchmark(
    "Thousands of points: quality, time and memory as M grows",
    [
        "Settings are the defaults but for the bandwidth, which both methods are given; both are judged by the exact kernel.",
        "Compress needs the whole sample and runs on one core; ours reads the rows once and uses all cores, reading included.",
    ],
    _run,
)
