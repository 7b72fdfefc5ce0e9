"""The public object of an integral in parts: ask for points, tell their values."""

import os

import numpy.typing as npt

from supersample._text import plural
from supersample._typing import Floats, PointsLike, RandomState
from supersample.integration.integral import Integral
from supersample.integration.problem import Noise, Options, SelectionMethod
from supersample.integration.run import Run
from supersample.kernels import KernelLike
from supersample.kernels.bandwidth import Bandwidth
from supersample.measures import Measure

__all__ = ["Integration"]


class Integration:
    """An integral whose function is called elsewhere: `ask` for points, `tell` their values, read the `result`.

    Use it if calls run side by side, on other machines, or over days. Several points may be asked for at once, and values told
    in any order, a few at a time. The points of one `ask` are chosen together; after more values, kernels are fitted again.

    checkpoint: a file that holds all points and values; it is replaced in one step at each `ask` and `tell`. If it exists, the
    run resumes from it; a file of another measure, kernel or seed is refused, but whether the function is the same is not
    checked. Runs in other processes may share the file: every method reads it first, and `ask` and `tell` are refused while
    another one writes.

    The other arguments are those of `integrate`. O(N n^2) for n points from N candidates.

    >>> import supersample as ss
    >>> run = Integration(ss.measures.Uniform(0.0, 1.0), random_state=0)
    >>> points = run.ask(8)
    >>> run.tell(points[::-1], [x**3 for x in points[::-1, 0]])
    >>> round(run.result().mean, 2), len(run)
    (0.25, 8)
    """

    def __init__(
        self,
        measure: Measure,
        *,
        kernel: KernelLike | None = None,
        bandwidth: Bandwidth | None = None,
        candidates: PointsLike | None = None,
        amplitude: float | None = None,
        noise: Noise | None = None,
        method: SelectionMethod | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: RandomState = None,
    ) -> None:
        """Check the arguments and resume from the checkpoint, if there is one."""
        options = Options(kernel, bandwidth, candidates, amplitude, noise, method)
        self._run = Run.started(measure, options, checkpoint, random_state)

    def __len__(self) -> int:
        """Count the values known, also those that another process has told the checkpoint. Reads the file."""
        self._run.refresh()
        return len(self._run)

    def __repr__(self) -> str:
        """Return the measure, and how many points have a value or wait for one, when the checkpoint was last read."""
        known = self._run.known
        points = f"{plural(len(known.taken), 'point')}, {known.values.size} told, {len(known.pending)} pending"
        return f"<Integration over {self._run.problem.measure!r}: {points}>"

    def __str__(self) -> str:
        """Return the same, and the result from all values so far, if there are any. O(n^3) for each kernel."""
        result = self.result() if len(self) else "no values yet"
        return f"{self!r}\n{result}"

    @property
    def pending(self) -> Floats:
        """The points that were asked for, here or by another process with the same checkpoint, and have no value yet."""
        self._run.refresh()
        return self._run.known.pending.copy()

    def ask(self, n: int = 1) -> Floats:
        """Return the next n points to call f at, as rows; fewer if no other candidate can add anything.

        They follow the points known and those that wait for values, and are chosen for the kernel fitted to the values so far;
        it is fitted again when there is a quarter more of them. The points wait (`pending`) until they are told.
        """
        return self._run.ask(n)

    def tell(self, points: PointsLike, values: npt.ArrayLike) -> None:
        """Add values of f at points (rows, or one point and its value), in any order; other points than those asked for too.

        Points must be the exact numbers that `ask` returned to count as told, and points outside a bounded measure are refused:
        the function does not count there. Without noise=, a point has one value.
        """
        self._run.tell(points, values)

    def result(self) -> Integral:
        """Return the integral from all values so far. O(n^3) for each kernel."""
        self._run.refresh()
        return self._run.result()
