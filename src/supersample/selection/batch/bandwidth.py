"""The "median" bandwidth of a batch method, resolved from its rows."""

from typing import Any

import numpy as np

from supersample._typing import Points
from supersample.device.arrays import home_of
from supersample.errors import InputError
from supersample.kernels import Kernel
from supersample.measures import Empirical, Measure
from supersample.measures.mean_only import MeanOnly

__all__ = ["ALIKE", "resolved", "rows_of"]

#: The median distance of many rows is that of 1,000 of them, always the same ones: with a random seed the kernel, and so every
#: result, would differ from call to call, and a continued selection would differ from a single run.
_SEED = 0
_DRAWS = 1000
ALIKE = "All rows are equal, so any bandwidth does as well as any other: it is 1."


def resolved(kernel: Kernel, *sources: Any) -> tuple[Kernel, str]:
    """Return the kernel with "median" bandwidths, and a note where all rows are equal.

    They are taken from the first source whose rows are not all equal; if there is none, from the distances between sources.
    """
    if kernel.is_resolved:
        return kernel, ""
    for rows in sources:
        if rows is None or _are_equal(rows):
            continue
        try:
            return kernel.resolve(rows, random_state=_SEED), ""
        except InputError:  # all rows of the sample are equal, though not all rows
            return kernel.resolve(np.unique(_on_host(rows), axis=0), random_state=_SEED), ""
    different = np.unique(np.stack([_on_host(rows[:1, :])[0] for rows in sources if rows is not None]), axis=0)
    if len(different) > 1:
        return kernel.resolve(different, random_state=_SEED), ""
    return kernel.resolved_by(1.0), ALIKE


def _are_equal(rows: Any) -> bool:
    home = home_of(rows=rows)
    return bool((rows == rows[0]).all()) if home is None else bool(home.xp.all(rows == rows[:1, :]))


def _on_host(rows: Any) -> Points:
    home = home_of(rows=rows)
    return np.asarray(rows) if home is None else home.floats(rows)


def rows_of(measure: Measure) -> Any:
    """Return rows that show the scale of a measure: its points, or draws."""
    if isinstance(measure, Empirical):
        return measure.scale_rows
    return None if isinstance(measure, MeanOnly) else measure.sample(_DRAWS, _SEED)
