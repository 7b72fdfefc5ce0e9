"""Algorithm 2 of the paper on geometric rates, with its parts one after the other; each part alone; the longest way."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt

import supersample as ss
from supersample.engines.herding import Distributed

__all__ = ["METHODS", "Wait", "choose", "in_order", "lines_of", "longest_way"]

Points = npt.NDArray[np.floating[Any]]
Indices = npt.NDArray[np.int64]
Method = Callable[..., Any]

METHODS: dict[str, Method] = {"WKH": ss.wkh, "SBQ": ss.sbq}


def lines_of(name: str, parts: int) -> tuple[str, str, str]:
    """Name a method's lines: on a single machine, distributed, and one part alone, the paper's "s-WKH-1"."""
    return name, f"{parts}-{name}", f"{parts}-{name}-1"


def in_order(single: float, distributed: float, alone: float) -> bool:
    """Whether distribution costs something, and less than to leave the other parts out."""
    return single <= distributed <= alone


def choose(name: str, parts: int, pool: Points, m: int, *, partition: int, **options: Any) -> Distributed:
    """Choose m by Algorithm 2; the partition is random, and another one for each number."""
    blocks = da.from_array(pool, chunks=(-(-len(pool) // parts), pool.shape[1]))
    with dask.config.set(scheduler="sync"):
        found: Distributed = METHODS[name](blocks, m, random_state=partition, **options)
    return found


class Wait(NamedTuple):
    """Seconds of the single run; of the longest part and the last run; of the target's own energy, which every run takes."""

    single: float
    longest: float
    energy: float


def longest_way(name: str, parts: int, pool: Points, m: int, **options: Any) -> Wait:
    """Time what one waits for where parts are side by side; dealing rows out and sending what was chosen are not in it."""
    single, _ = _timed(METHODS[name], pool, m, **options)
    found = [_timed(METHODS[name], pool[rows], m, **options) for rows in _shares(len(pool), parts)]
    last, _ = _timed(METHODS[name], np.concatenate([each.points for _, each in found]), m, **options)
    energy, _ = _timed(options["target"].energy, options["kernel"])
    return Wait(single, max(seconds for seconds, _ in found) + last, energy)


def _timed(work: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work(*arguments, **options)
    return time.perf_counter() - start, found


def _shares(count: int, parts: int) -> list[Indices]:
    """Deal rows out at random to parts of one size but for a row, as the engines do."""
    return [np.sort(each) for each in np.array_split(np.random.default_rng(0).permutation(count), parts)]
