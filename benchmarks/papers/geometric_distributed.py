"""Algorithm 2 of the paper on geometric rates, with its parts one after the other, and one part alone."""

from collections.abc import Callable
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt

import supersample as ss

__all__ = ["FIGURE_1", "FIGURE_2", "STYLE"]

Method = Callable[..., ss.Selection]

#: Lines of the distributed methods; the number is that of parts, and "-1" the choice of the first of them alone.
STYLE: dict[str, dict[str, Any]] = {
    "5-WKH": {"color": "#56B4E9", "linestyle": "--", "marker": "<"},
    "10-WKH": {"color": "#56B4E9", "linestyle": ":", "marker": ">"},
    "5-SBQ": {"color": "#D55E00", "linestyle": "--", "marker": "d"},
    "10-SBQ": {"color": "#D55E00", "linestyle": ":", "marker": "p"},
    "5-WKH-1": {"color": "#000000", "linestyle": "--", "marker": "1"},
    "5-SBQ-1": {"color": "#000000", "linestyle": ":", "marker": "2"},
}


def _distributed(method: Method, parts: int, pool: npt.NDArray[Any], m: int, **options: Any) -> ss.Selection:
    """Choose m by Algorithm 2; smaller numbers of points are read off the same run, as the single methods' are."""
    blocks = da.from_array(pool, chunks=(-(-len(pool) // parts), pool.shape[1]))
    with dask.config.set(scheduler="sync"):
        return method(blocks, m, random_state=0, **options)


def _one_part(method: Method, parts: int, pool: npt.NDArray[Any], m: int, **options: Any) -> ss.Selection:
    """Choose m from one part of a random partition, against the same target."""
    rows = np.sort(np.random.default_rng(0).permutation(len(pool))[: len(pool) // parts])
    found = method(pool[rows], min(m, len(rows)), **options)
    return ss.Selection(rows[found.indices], found.points, found.weights, found.mmd, found.note)


FIGURE_2: dict[str, Method] = {
    "5-WKH": partial(_distributed, ss.wkh, 5),
    "5-SBQ": partial(_distributed, ss.sbq, 5),
    "5-WKH-1": partial(_one_part, ss.wkh, 5),
    "5-SBQ-1": partial(_one_part, ss.sbq, 5),
}
FIGURE_1: dict[str, Method] = {
    **FIGURE_2,
    "10-WKH": partial(_distributed, ss.wkh, 10),
    "10-SBQ": partial(_distributed, ss.sbq, 10),
}
