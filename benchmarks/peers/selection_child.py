"""One method of selection, in a process of its own."""

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.peers.children import reason, timed
from benchmarks.peers.selection_methods import METHODS
from benchmarks.peers.selection_protocol import Floats, Task

__all__ = ["selected"]


def selected(place: int, files: list[str], m: int, bandwidth: float) -> dict[str, Any]:
    """Choose M rows of each draw with the method at this place of the list; importing and reading are off the clock.

    A result is {"rows" or "points": which, "weights": {weighting: numbers or None}}.
    """
    try:
        choose = METHODS[place].make()
    except Exception as error:
        return {"error": f"cannot be imported: {reason(error)}"}

    def load(draw: int) -> Floats:
        rows: Floats = np.load(files[draw])
        return rows

    try:
        taken = timed(METHODS[place].package, load, lambda rows, draw: choose(rows, Task(m, bandwidth, draw)), len(files))
    except Exception as error:
        return {"error": f"fails: {reason(error)}"}
    return {**taken, "results": [_plain(*each) for each in taken["results"]]}


def _plain(picked: npt.ArrayLike, weightings: dict[str, npt.ArrayLike | None]) -> dict[str, Any]:
    array = np.asarray(picked)
    kind = "rows" if array.ndim == 1 else "points"
    weights = {name: None if each is None else np.asarray(each).tolist() for name, each in weightings.items()}
    return {kind: array.tolist(), "weights": weights}
