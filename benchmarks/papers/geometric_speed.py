"""Geometric rates for kernel-based sampling, section 6.1: how much faster Algorithm 2 is, with real workers.

Each worker is a process of one thread. Rows lie on the workers before the clock starts, as they would on a cluster. Dealing
them out to random parts, sending the choices, and the last run are timed. The single run is on one worker, too.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
from distributed import Client, LocalCluster, wait

import supersample as ss
from benchmarks.papers.figures import write_numbers
from benchmarks.papers.herding_data import KERNEL, mixture

__all__ = ["run"]

Floats = npt.NDArray[np.float64]

_PARTS, _POINTS, _REPEATS = 5, 100, 5
_CORES = (1, 2)
_ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def run(out: Path, data: Path, quick: bool) -> None:
    """Time SBQ on one worker and Algorithm 2 over five parts on one and two workers, and its critical path."""
    measure = mixture(data)
    numbers: dict[str, Any] = {}
    for size in (2_000, 4_000) if quick else (10_000, 100_000):
        pool = measure.sample(size, np.random.SeedSequence([1, 0]))
        repeats = 1 if quick else _REPEATS
        distributed = {cores: _on_workers(pool, measure, cores, repeats) for cores in _CORES}
        single, mmd = distributed[1][1], distributed[2][2]
        longest = _critical_path(pool, measure, repeats)
        numbers[str(size)] = {
            "single": single,
            "critical_path": longest,
            **{f"{cores}_workers": distributed[cores][0] for cores in _CORES},
            "mmd": mmd,
        }
        listed = ", ".join(
            f"{cores} worker{'s' * (cores > 1)} {taken:.3f} s, speed-up {single / taken:.2f}"
            for cores, (taken, _, _) in distributed.items()
        )
        print(
            f"speed        {size:,} candidates, {_POINTS} points of SBQ: alone {single:.3f} s; five parts on {listed}; longest "
            f"part and last run {longest:.3f} s, speed-up {single / longest:.2f}; MMD {mmd[0]:.4f} and {mmd[1]:.4f}"
        )
    write_numbers(out / "speed", numbers)


def _choose(pool: Any, measure: ss.measures.Measure) -> Any:
    return ss.sbq(pool, _POINTS, target=measure, kernel=KERNEL, random_state=0)


def _on_workers(
    pool: Floats, measure: ss.measures.Measure, cores: int, repeats: int
) -> tuple[float, float, tuple[float, float]]:
    """Return the median seconds of Algorithm 2 and of a single run on one worker, and the MMDs of both."""
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": _ENVIRONMENT}),
        LocalCluster(n_workers=cores, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        blocks = da.from_array(pool, chunks=(-(-len(pool) // _PARTS), pool.shape[1])).persist()
        wait(blocks)
        held = client.scatter(pool)
        client.submit(_choose, held, measure, pure=False).result()  # compiles
        alone = [_timed(lambda: client.submit(_choose, held, measure, pure=False).result()) for _ in range(repeats)]
        _choose(blocks, measure)
        found = [_timed(lambda: _choose(blocks, measure)) for _ in range(repeats)]
        ends = (float(alone[0][1].mmd[-1]), float(found[0][1].mmd[-1]))
        return float(np.median([each for each, _ in found])), float(np.median([each for each, _ in alone])), ends


def _critical_path(pool: Floats, measure: ss.measures.Measure, repeats: int) -> float:
    """Return the median seconds of the longest part and the last run, one after the other in a process of one thread."""
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": _ENVIRONMENT}),
        LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        held = client.scatter(pool)
        client.submit(_longest, held, measure, pure=False).result()
        return float(np.median([client.submit(_longest, held, measure, pure=False).result() for _ in range(repeats)]))


def _longest(pool: Floats, measure: ss.measures.Measure) -> float:
    parts = np.array_split(np.random.default_rng(0).permutation(len(pool)), _PARTS)
    found = [_timed(partial(_choose, pool[rows], measure)) for rows in parts]
    last, _ = _timed(lambda: _choose(np.concatenate([each.points for _, each in found]), measure))
    return max(each for each, _ in found) + last


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found
