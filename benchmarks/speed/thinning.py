"""SuperSampler against goodpoints' Compress++: true MMD and time."""

import time
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import in_child
from benchmarks.speed.truth import Truth, median_kernel
from benchmarks.speed.workloads import mixture
from supersample import SuperSampler

__all__ = ["BENCHMARK"]

_OVERSAMPLING = 4
_BINS = 4


def ours(n: int, width: int, m: int, seeds: int) -> dict[str, Any]:
    """Time fit and reading apart; rows chosen for each seed."""
    SuperSampler(m, random_state=0).fit(mixture(0, 6_000, width)[0]).prototype_indices_  # noqa: B018  compile
    fits, reads, chosen = [], [], []
    for seed in range(seeds):
        points, _ = mixture(seed, n, width)
        sampler = SuperSampler(m, bandwidth=median_kernel(points).bandwidth, random_state=seed)
        start = time.perf_counter()
        sampler.fit(points)
        middle = time.perf_counter()
        indices = sampler.prototype_indices_
        reads.append(time.perf_counter() - middle)
        fits.append(middle - start)
        chosen.append(indices.tolist())
    return {"fit": fits, "read": reads, "chosen": chosen}


def theirs(n: int, width: int, seeds: int) -> dict[str, Any]:
    """Time Compress++ with the same kernel; it returns sqrt(n) rows."""
    from goodpoints.compress import compresspp_kt  # not everyone has it

    seconds, chosen = [], []
    for seed in range(seeds):
        points, _ = mixture(seed, n, width)
        parameter = np.array([2.0 * float(median_kernel(points).bandwidth) ** 2])  # type: ignore[arg-type]
        start = time.perf_counter()
        indices = compresspp_kt(points, b"gaussian", k_params=parameter, g=_OVERSAMPLING, num_bins=_BINS, seed=seed)
        seconds.append(time.perf_counter() - start)
        chosen.append(np.asarray(indices).tolist())
    return {"fit": seconds, "read": [0.0] * seeds, "chosen": chosen}


def _run(context: Context) -> Result:
    n, m, seeds = (4_096, 64, 2) if context.quick else (65_536, 256, 5)
    present = find_spec("goodpoints") is not None
    rows: list[Row] = []
    targets = []
    for width in (2, 10):
        methods = {
            "ours, one thread": in_child(ours, threads=1, n=n, width=width, m=m, seeds=seeds),
            "ours": in_child(ours, n=n, width=width, m=m, seeds=seeds),
        }
        if present:
            methods["Compress++"] = in_child(theirs, n=n, width=width, seeds=seeds)
        samples = [mixture(seed, n, width)[0] for seed in range(seeds)]
        truths = [Truth(points, median_kernel(points)) for points in samples]
        means = {}
        for name, taken in methods.items():
            mmds = [truth.mmd(truth.points[each]) for truth, each in zip(truths, taken["chosen"], strict=True)]
            means[name] = (float(np.mean(mmds)), float(np.mean(taken["fit"]) + np.mean(taken["read"])))
            rows.append(
                {
                    "method": f"{name}, d = {width}",
                    "fit s": float(np.mean(taken["fit"])),
                    "reading s": float(np.mean(taken["read"])),
                    "peak MB": taken["peak_mb"],
                    "true MMD": means[name][0],
                    "+-": float(np.std(mmds, ddof=1) / np.sqrt(seeds)),
                }
            )
        if present:
            mmd_ratio = means["ours"][0] / means["Compress++"][0]
            targets.append(Target(f"true MMD, ours / Compress++, d = {width}", mmd_ratio, "at most", 1.0))
            speed = means["Compress++"][1] / means["ours"][1]
            targets.append(Target(f"time, Compress++ / ours with reading, d = {width}", speed, "at least", 40))
    remarks = [f"N = {n:,}, M = {m}, mean of {seeds} mixtures of ten Gaussians, g = {_OVERSAMPLING}, {_BINS} bins"]
    if not present:
        remarks.append("goodpoints is not installed, so there is nothing to compare with: pip install 'supersample[bench]'")
    return Result(rows, targets, remarks)


BENCHMARK = Benchmark(
    "65,536 rows to 256: SuperSampler against goodpoints' Compress++ (g = 4)",
    [
        "Both have the same Gaussian kernel, its bandwidth the median distance; both are judged with it, exactly.",
        "Compress++ needs the whole sample, and gives sqrt(N) points; ours reads the rows once, and M is free.",
        "Compress++ runs on one core; ours is shown on one and on all, and the target is taken with all, reading included.",
    ],
    _run,
)
