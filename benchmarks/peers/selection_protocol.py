"""What a method of selection is to this benchmark: imports first, then a function of rows and task."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["EQUAL", "Chooser", "Chosen", "Floats", "Task"]

Floats = npt.NDArray[np.float64]

#: The name of the weighting in which all points count the same.
EQUAL = "equal"


class Task(NamedTuple):
    """How many rows to choose, with a Gaussian kernel of which bandwidth, from which seed."""

    m: int
    bandwidth: float
    seed: int


class Chosen(NamedTuple):
    """Rows of the data by index, or points, with one or more weightings by name; None stands for equal weights."""

    picked: npt.ArrayLike
    weightings: Mapping[str, npt.ArrayLike | None]


#: A method's function imports what it needs and returns one of these; the clock starts after that.
Chooser = Callable[[Floats, Task], Chosen]
