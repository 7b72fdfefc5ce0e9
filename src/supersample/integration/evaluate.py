"""Calls of a user's function where `ask` says; each value is kept before the next call."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from supersample._typing import Floats, PointsLike, RandomState
from supersample._validation import check_count, check_flag
from supersample.errors import FunctionError, InputError, InputTypeError
from supersample.integration.integral import Integral
from supersample.integration.problem import Noise, Options, SelectionMethod
from supersample.integration.run import Run
from supersample.integration.saved import Known
from supersample.kernels import KernelLike
from supersample.kernels.bandwidth import Bandwidth
from supersample.measures import Measure

__all__ = ["integrate"]


def integrate(
    f: Callable[[Any], Any],
    measure: Measure,
    n: int,
    *,
    kernel: KernelLike | None = None,
    bandwidth: Bandwidth | None = None,
    candidates: PointsLike | None = None,
    vectorized: bool = False,
    amplitude: float | None = None,
    noise: Noise | None = None,
    method: SelectionMethod | None = None,
    resume: Integral | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    random_state: RandomState = None,
) -> Integral:
    """Return the average of f over a measure from n calls of f, with a standard deviation (Bayesian quadrature).

    Measures have mass 1: the integral dx over a box is the average over `Uniform`, times the volume of the box.

    The prior is f = m + a g with g ~ GP(0, k). Mean m and amplitude a are integrated out (m flat, a flat in log a): for one
    kernel the integral is Student t with n - 1 degrees of freedom, mean m + z^T K^-1 (y - m) and scale
    a^2 [E - z^T K^-1 z + (1 - z^T K^-1 1)^2 / 1^T K^-1 1], where m = 1^T K^-1 y / 1^T K^-1 1 and
    a^2 = (y - m)^T K^-1 (y - m) / (n - 1). Huszar and Duvenaud 2012 (eq. 16 and 22) have m = 0 and a given. Means and variances
    are averaged over Gaussian, Matern and Laplacian kernels of eight widths, without noise and with five sizes of it, each
    weighted by its evidence p(y | k): noise in the values shows, and widens sd. If a value is farther from what the other
    values predict than the prior allows, `Integral.trusted` is False, and sd is widened.

    f: takes one point (a one-dimensional array) and returns a number; with vectorized=True, takes several points as rows.

    kernel, bandwidth: a name fixes the kernel's family and its widths are averaged; a kernel object, or a bandwidth, fixes both
    ("median": the median distance).

    candidates: points at which f may be called; by default 10,000 draws of the measure, or the points of an empirical one (at
    most 10,000 of them if kernels are averaged).

    amplitude: a, if it is known. noise: the standard deviation of the noise in the values of f; 0 if there surely is none,
    "fit" if there surely is some. If it is left out, either is as likely before there are values, and no point is called twice.
    With noise, f is called again at a point where that lowers the variance most.

    method: how points are selected; the weights are always those of Bayesian quadrature. "sbq" lowers the variance most with
    each point; with smooth kernels it does so by pairs of near points with huge opposite weights, which give large errors for a
    function that is less smooth. "wkh", the default, avoids such pairs, at almost no cost in variance. Kernels are fitted again
    after each quarter more of calls, and new points are chosen for the fitted kernel.

    checkpoint: a file that is written after each call. If it exists, the run resumes from it, and calls f at new points only;
    a file of another measure, kernel or seed is refused, but whether f is the same function is not checked. If a call fails, or
    its value cannot be saved, `FunctionError` says so; all that is known is in its `integral`.

    resume: an earlier result. f is called at n - len(resume) more points only, so that the points are those of a single run
    with n calls. All other arguments are those of the earlier result.

    For an empirical measure with `features`, the kernel is theirs, points are selected by the features, and the integral is
    over the measure's points. For more than 20,000 points the standard deviation is an estimate, and the note says so.

    O(N n^2) for N candidates, O(n^3) for each kernel, and n calls of f. To call f elsewhere, see `Integration`.

    >>> import supersample as ss
    >>> found = integrate(lambda x: x[0] ** 2, ss.measures.Uniform(-1.0, 1.0), 12, random_state=0)
    >>> round(found.mean, 4), found.sd < 1e-3
    (0.3333, True)
    """
    if not callable(f):
        raise InputTypeError(f"f must be a function of a point, got {type(f).__name__}")
    count, by_rows = check_count(n, "n"), check_flag(vectorized, "vectorized")
    options = Options(kernel, bandwidth, candidates, amplitude, noise, method)
    if resume is None:
        run = Run.started(measure, options, checkpoint, random_state)
    else:
        run = Run.resumed(resume, measure, options, checkpoint)
        if count < len(run):
            raise InputError(f"n counts the points of resume too: it must be at least {len(run)}, got {count}")
    places = run.problem.candidates.shape[0]
    if count > places and not run.problem.repeated:
        raise InputError(
            f"n must not be more than the {places} candidates, got {count}: a value without noise is known after one call; ask "
            f"for fewer, or pass more candidates"
        )
    with run.file.alone():
        run.refresh()
        while len(run) < count:
            points = run.known.pending[: count - len(run)]
            if points.shape[0] == 0:
                with _losing_nothing(run, run.known, count):
                    points = run.ask(min(count - len(run), run.left_in_round))
            if points.shape[0] == 0:
                break
            _call(run, f, points, count, by_rows=by_rows)
    return run.result()


def _call(run: Run, f: Callable[[Any], Any], points: Floats, count: int, *, by_rows: bool) -> None:
    """Call f at points and tell the values: one by one, or all at once."""
    for part in [points] if by_rows else [points[place, None] for place in range(points.shape[0])]:
        try:
            values = _all_at_once(f, part) if by_rows else _one(f, part)
        except Exception as error:
            raise _failed(run, part, count, error) from error
        except BaseException as error:  # an interrupt: it stays what it is, with a note
            error.add_note(_kept(run))
            raise
        with _losing_nothing(run, run.with_values(part, values), count):
            run.tell(part, values)


@contextmanager
def _losing_nothing(run: Run, known: Known, count: int) -> Iterator[None]:
    """Put what is known into the error if the file cannot be written; if it is the first call that is asked for, nothing is."""
    try:
        yield
    except Exception as error:
        calls = known.values.size
        if calls == 0:
            raise
        kept = (
            f"integrate stopped after {calls} of {count} calls; all {calls} values, with those that are not in the checkpoint, "
            f"are in resume=error.integral: call integrate with it, and with another checkpoint or none."
        )
        raise FunctionError(f"{error}. {kept}", run.result(known)) from error
    except BaseException as error:
        error.add_note(_values(known))
        raise


def _failed(run: Run, points: Floats, count: int, error: Exception) -> FunctionError:
    where = str(points[0].tolist()) if points.shape[0] == 1 else f"{points.shape[0]} points"
    message = f"f failed after {len(run)} of {count} calls, at {where}: {type(error).__name__}: {error}."
    if len(run) == 0:
        return FunctionError(f"{message} No value was known before.")
    kept = _kept(run) if run.file.path is not None else f"The {len(run)} values before are in resume=error.integral."
    return FunctionError(f"{message} {kept}", run.result())


def _kept(run: Run) -> str:
    """Say where the values known so far are."""
    if run.file.path is not None:
        return (
            f"The {len(run)} values before are in {str(run.file.path)!r}: call integrate with the same arguments to continue."
        )
    return _values(run.known)


def _values(known: Known) -> str:
    """Write out what is known, for an interrupt."""
    return (
        f"integrate was stopped after {known.values.size} calls; to continue, tell ss.Integration these points "
        f"{known.points.tolist()}, values {known.values.tolist()}"
    )


def _one(f: Callable[[Any], Any], points: Floats) -> Floats:
    """Return f at one point; f gets a copy, so that it cannot change the point."""
    value = f(points[0].copy())
    try:
        number = np.array([float(value)])
    except (TypeError, ValueError) as error:
        raise InputTypeError(
            f"f is called with one point, an array of shape {points[0].shape}, and must return one number; set vectorized=True "
            f"if f takes all points as rows ({error})"
        ) from error
    return _finite(number, points)


def _all_at_once(f: Callable[[Any], Any], points: Floats) -> Floats:
    values = np.asarray(f(points.copy()))
    if values.dtype.kind not in "biufO":
        raise InputTypeError(f"f must return real numbers, got dtype {values.dtype}")
    if values.shape != (points.shape[0],):
        raise InputError(
            f"f must return {points.shape[0]} numbers for {points.shape[0]} rows, got shape {values.shape}; set "
            f"vectorized=False if it takes one point"
        )
    try:
        return _finite(values.astype(np.float64), points)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"f must return real numbers, got dtype object: {error}") from error


def _finite(values: Floats, points: Floats) -> Floats:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(f"f must return finite numbers, got {values[bad[0]]} at {points[bad[0]].tolist()}")
    return values
