"""Algorithm 2 of the paper on geometric rates, with its parts one after the other, and how its lines are named."""

from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt

import supersample as ss
from supersample.engines.herding import Distributed

__all__ = ["METHODS", "choose", "in_order", "lines_of"]

Points = npt.NDArray[np.floating[Any]]
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
