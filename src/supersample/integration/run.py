"""The state of an integral in parts: points are asked for, their values told in any order, and all is kept in a file."""

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from supersample._threads import one_blas_thread
from supersample._typing import Floats, PointsLike, RandomState
from supersample._validation import check_count, check_points
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.integration.choice import next_points, round_end
from supersample.integration.integral import Integral, integral_of
from supersample.integration.posterior import most_likely
from supersample.integration.problem import Options, Problem, check_inside, new_problem
from supersample.integration.saved import File, Known, check_same

__all__ = ["Run"]


class Run:
    """Problem, file and state of an integral; the state is replaced in one assignment, after the file."""

    def __init__(self, problem: Problem, file: File, known: Known) -> None:
        """Start with what is known."""
        self.problem, self.file, self.known, self.note = problem, file, known, ""

    @classmethod
    def started(cls, measure: Any, options: Options, checkpoint: Any, random_state: RandomState) -> "Run":
        """Start with nothing known, or with what the checkpoint holds."""
        file = File.of(checkpoint)
        with file.alone() if file.read() is None else nullcontext():
            saved = file.read()
            problem = new_problem(measure, options, random_state, None if saved is None else saved.seed)
            if saved is None:
                run = cls(problem, file, Known.nothing(problem.measure.dimension))
                run.keep(
                    run.known
                )  # so that all who share the file have one seed, and a path that cannot be written is refused
                return run
        check_same(file.path, saved.asked, problem.asked)
        return cls(replace(problem, asked=saved.asked), file, saved.known)

    @classmethod
    def resumed(cls, earlier: Any, measure: Any, options: Options, checkpoint: Any) -> "Run":
        """Continue from a result; refuse arguments that contradict it, and a checkpoint that holds something already."""
        if not isinstance(earlier, Integral):
            raise InputTypeError(f"resume must be an Integral, as integrate returns, got {type(earlier).__name__}")
        _check_resumed(earlier.problem, measure, options)
        file = File.of(checkpoint)
        if file.path is not None and file.path.exists():
            raise InputError(
                f"checkpoint must name a file that does not exist yet if resume is given, got {str(file.path)!r}; leave "
                f"resume out to continue from the file"
            )
        run = cls(earlier.problem, file, Known(earlier.points, earlier.values, np.empty((0, earlier.points.shape[1]))))
        run.keep(run.known)
        return run

    def __len__(self) -> int:
        """Count the values known."""
        return int(self.known.values.size)

    @property
    def left_in_round(self) -> int:
        """How many points to ask for before kernels are fitted again; all of them if no fit can change the choice."""
        if not self.problem.depends_on_values:
            return int(self.problem.candidates.shape[0])
        return round_end(len(self))[1] - len(self)

    @one_blas_thread()
    def ask(self, n: int = 1) -> Floats:
        """Choose the next points for the kernel fitted to the values at the end of the last round."""
        count = check_count(n, "n")
        with self.file.alone():
            self.refresh()
            problem, known = self.problem, self.known
            last = round_end(len(self))[0] if problem.depends_on_values else 0
            prior = problem.first
            if last:
                prior = most_likely(problem, known.points[:last], known.values[:last])
            points, self.note = next_points(problem, known.taken, count, prior)
            self.keep(known._replace(pending=np.concatenate([known.pending, points])))
        return points.copy()

    def tell(self, points: PointsLike, values: npt.ArrayLike) -> None:
        """Add values, and drop their points from those that wait."""
        width = self.problem.measure.dimension
        given = np.atleast_2d(np.asarray(points)) if np.ndim(values) == 0 else points
        rows = np.ascontiguousarray(check_points(given, "points", width=width), dtype=np.float64)
        check_inside(self.problem.measure, rows, "points")
        numbers = _numbers(values, rows)
        with self.file.alone():
            self.refresh()
            self.keep(self.with_values(rows, numbers))

    def with_values(self, rows: Floats, numbers: Floats) -> Known:
        """Return what is known with these values."""
        known = self.known
        joined = np.concatenate([known.points, rows]), np.concatenate([known.values, numbers])
        if not self.problem.repeated:
            joined = _once(*joined)
        waiting = list(known.pending)
        for row in rows:
            place = next((each for each, other in enumerate(waiting) if np.array_equal(row, other)), None)
            if place is not None:
                waiting.pop(place)
        return Known(*joined, np.array(waiting).reshape(-1, rows.shape[1]))

    def result(self, known: Known | None = None) -> Integral:
        """Return the integral from all values so far, or from those known elsewhere."""
        held = self.known if known is None else known
        return integral_of(self.problem, held.points, held.values, self.note)

    def refresh(self) -> None:
        """Take what the file holds: another process may have told values since."""
        saved = self.file.read()
        if saved is not None:
            check_same(self.file.path, saved.asked, self.problem.asked)
            self.known = saved.known

    def keep(self, known: Known) -> None:
        """Write the file, then replace the state."""
        self.file.write(self.problem.asked, self.problem.seed, known)
        self.known = known


def _numbers(values: npt.ArrayLike, rows: Floats) -> Floats:
    try:
        numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"values must be real numbers, one for each point: {error}") from error
    if numbers.shape != (rows.shape[0],):
        raise MismatchError(f"values must hold one number for each of the {rows.shape[0]} points, got shape {numbers.shape}")
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        raise InputError(f"values must be finite, got {numbers[bad[0]]} at {rows[bad[0]].tolist()}; leave that point out")
    return numbers


def _once(points: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return each point once, as told again by a call that was repeated; refuse two different values at one point."""
    seen: dict[bytes, float] = {}
    fresh = []
    for place, (row, value) in enumerate(zip(points, values.tolist(), strict=True)):
        fresh += [place] if row.tobytes() not in seen else []
        before = seen.setdefault(row.tobytes(), value)
        if before != value:
            raise InputError(
                f"values without noise must be equal at equal points, got {before!r} and {value!r} at {row.tolist()}; pass "
                f"noise=, or leave one out"
            )
    return points[fresh], values[fresh]


def _check_resumed(problem: Problem, measure: Any, options: Options) -> None:
    """Refuse arguments that contradict the problem of an earlier result; those left out are the earlier ones."""
    options.check()
    again = new_problem(measure, options, None, problem.seed)
    if again.asked["measure"] != problem.asked["measure"]:
        raise MismatchError(
            f"measure must be the one that resume is an integral over, {type(problem.measure).__name__}, got another "
            f"{type(measure).__name__}; pass the same, or leave resume out"
        )
    given: dict[str, tuple[Any, ...]] = {
        "kernel": (options.kernel, options.bandwidth),
        "amplitude": (options.amplitude,),
        "noise": (options.noise,),
        "method": (options.method,),
        "candidates": (options.candidates,),
    }
    for name, parts in given.items():
        if any(each is not None for each in parts) and again.asked[name] != problem.asked[name]:
            raise MismatchError(
                f"{name} must be left out with resume, which continues with its own, {problem.asked[name]!r}, got "
                f"{again.asked[name]!r}; start a new integral for another"
            )
