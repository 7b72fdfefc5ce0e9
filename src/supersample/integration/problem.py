"""An integral's problem: measure, priors and candidates; and the check that a later call is about the same problem."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from supersample._random import Seed, as_seed
from supersample._typing import Floats, PointsLike, RandomState
from supersample._validation import check_points, choose
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.integration.marginal import Prior
from supersample.integration.rough import matern
from supersample.kernels import Gaussian, Kernel, KernelLike, Matern, Stationary, as_kernel
from supersample.kernels.bandwidth import Bandwidth
from supersample.measures import Empirical, Measure
from supersample.selection.batch.bandwidth import resolved, rows_of
from supersample.selection.batch.candidates import drawn_where_open

__all__ = ["METHODS", "Noise", "Options", "Problem", "SelectionMethod", "check_inside", "new_problem"]

SelectionMethod = Literal["wkh", "sbq", "herd"]
METHODS = ("wkh", "sbq", "herd")
#: The standard deviation of the noise in the values, or "fit".
Noise = float | Literal["fit"]

_CANDIDATES = 10_000
#: Smoothness of the Matern kernels that are averaged beside the Gaussian one, from smooth to rough.
_SMOOTHNESS = (2.5, 1.5, 0.5)
#: Widths of the kernels that are averaged, in medians of the distance between two draws of the measure.
_WIDTHS = tuple(2.0**power for power in range(-4, 4))
#: Ratios of the variance of unknown noise to the square of the amplitude.
_RATIOS = tuple(10.0**power for power in range(-8, 2))
#: The same where `noise` was not given: coarser, since there are 32 kernels for each.
_POSSIBLE = _RATIOS[::2]
#: Probability of no noise where `noise` was not given.
_QUIET = 0.5
#: Amplitudes beside known noise, in standard deviations of the values.
_AMPLITUDES = tuple(2.0**power for power in range(-5, 4))
#: Noise assumed before there are values, as a share of the amplitude.
_UNKNOWN = 0.1
#: Amplitudes and noises lie between 1 / _LARGEST and _LARGEST, so that the square of their ratio fits into float64.
_LARGEST = 1e75
#: Arrays of up to so many numbers are shown in messages.
_SHORT = 6


@dataclass(frozen=True)
class Options:
    """The arguments that set the problem; None where left out."""

    kernel: KernelLike | None = None
    bandwidth: Bandwidth | None = None
    candidates: PointsLike | None = None
    amplitude: float | None = None
    noise: Noise | None = None
    method: SelectionMethod | None = None

    def check(self) -> None:
        """Refuse values that no problem has."""
        if self.amplitude is not None:
            _positive(self.amplitude, "amplitude")
        if isinstance(self.noise, str):
            choose(self.noise, "noise", ("fit",))
        elif self.noise is not None:
            _positive(self.noise, "noise", or_zero=True)
        if self.method is not None:
            choose(self.method, "method", METHODS)

    def fixed(self) -> Kernel | None:
        """Return the kernel if it and its bandwidth were given."""
        if self.bandwidth is None and (self.kernel is None or isinstance(self.kernel, str)):
            named = None if self.kernel is None else as_kernel(self.kernel)
            return None if named is None or isinstance(named, Stationary) else named
        return as_kernel("gaussian" if self.kernel is None else self.kernel, self.bandwidth or "median")


@dataclass(frozen=True)
class Problem:
    """An integral to be computed.

    measure: what the user gave; target: the same, or draws if it has no closed form for the kernel; choosing: what points are
    chosen by, the target or fewer of its points. kernels: those averaged, each family in all widths, or one. noise: None if it
    is to be inferred. repeated: whether f may be called at a point again, since there is noise for sure. asked: what the user
    asked for, as plain values that can be compared and stored.
    """

    measure: Measure
    target: Measure
    choosing: Measure
    candidates: Floats
    kernels: tuple[Kernel, ...]
    amplitude: float | None
    noise: float | None
    repeated: bool
    method: str
    seed: Seed
    note: str
    asked: Mapping[str, Any]

    @property
    def depends_on_values(self) -> bool:
        """Whether where to call f next depends on its values so far."""
        return len(self.kernels) > 1 or (self.repeated and (self.noise is None or self.amplitude is None))

    @property
    def first(self) -> Prior:
        """The prior that points are chosen by before there are values: the roughest kernel of medium width."""
        kernel = self.kernels[0] if len(self.kernels) == 1 else self.kernels[-len(_WIDTHS) + _WIDTHS.index(1.0)]
        if not self.repeated:
            ratio = 0.0
        elif self.noise is None or self.amplitude is None:
            ratio = _UNKNOWN**2
        else:
            ratio = (self.noise / self.amplitude) ** 2
        return Prior(kernel, ratio, self.amplitude)

    def rough(self, kernel: Kernel) -> Kernel:
        """Return the roughest kernel of the same width, the kernel itself if it was given."""
        if len(self.kernels) == 1:
            return kernel
        return self.kernels[-len(_WIDTHS) + self.kernels.index(kernel) % len(_WIDTHS)]

    def priors(self, values: Floats, unit: float) -> list[Prior]:
        """Return all priors for values in this unit."""
        amplitude = None if self.amplitude is None else self.amplitude / unit
        if self.noise is None and self.repeated:
            return [Prior(kernel, ratio, amplitude) for kernel in self.kernels for ratio in _RATIOS]
        if self.noise is None:
            noises = [(0.0, _QUIET), *((ratio, (1.0 - _QUIET) / len(_POSSIBLE)) for ratio in _POSSIBLE)]
            return [Prior(kernel, ratio, amplitude, odds) for kernel in self.kernels for ratio, odds in noises]
        if self.noise == 0.0:
            return [Prior(kernel, 0.0, amplitude) for kernel in self.kernels]
        noise = self.noise / unit
        # Beside known noise the amplitude does not integrate out in closed form, so it is averaged over a grid.
        size = max(float(values.std()), noise)
        sizes = [size * each for each in _AMPLITUDES] if amplitude is None else [amplitude]
        return [Prior(kernel, (noise / each) ** 2, each) for kernel in self.kernels for each in sizes]


def new_problem(measure: Measure, options: Options, random_state: RandomState, seed: Seed | None = None) -> Problem:
    """Check the arguments and set candidates, kernels and target. seed: that of an earlier run which this one continues."""
    if not isinstance(measure, Measure):
        raise InputTypeError(
            f"measure must be one of ss.measures, got {type(measure).__name__}; wrap data as ss.measures.Empirical(points)"
        )
    options.check()
    repeats = random_state is not None and not isinstance(random_state, np.random.Generator)
    own = as_seed(random_state) if seed is None or repeats else seed
    pool, choosing = _pool(measure, options, own)
    kernels, alike = _kernels(measure, options, pool)
    for kernel in kernels:
        kernel.check_width(measure.dimension)
    kernels[0].check_on(pool)
    target, drawn = drawn_where_open(measure, kernels[0], own)
    noise = None if options.noise is None or options.noise == "fit" else float(options.noise)
    return Problem(
        measure, target, target if choosing is measure else choosing, pool, kernels,
        None if options.amplitude is None else float(options.amplitude), noise, options.noise not in (None, 0.0),
        options.method or "wkh", own,
        " ".join(filter(None, [alike, drawn])), _asked(measure, options, own if repeats else None),
    )  # fmt: skip


def check_inside(measure: Measure, points: Floats, name: str) -> None:
    """Refuse points at which the function does not count, since the measure has no mass near them."""
    out = np.flatnonzero(~measure.contains(points))
    if out.size:
        raise InputError(
            f"{name} must lie inside the measure, where the function counts, got {points[out[0]].tolist()} in row {out[0]} of "
            f"{name}, outside of {type(measure).__name__}; leave it out, or integrate over a measure that contains it"
        )


def _pool(measure: Measure, options: Options, seed: Seed) -> tuple[Floats, Measure]:
    """Return the candidates, and the measure that they are chosen by."""
    choosing = measure
    averaged = options.fixed() is None and isinstance(measure, Empirical) and measure.features is None
    if averaged and isinstance(measure, Empirical) and measure.weights.size > _CANDIDATES:
        choosing = measure.sampled(_CANDIDATES, seed.child("choosing").sequence())
    if options.candidates is not None:
        pool = np.array(check_points(options.candidates, "candidates", width=measure.dimension), dtype=np.float64)
        check_inside(measure, pool, "candidates")
    elif isinstance(choosing, Empirical):
        pool = choosing.points
    else:
        pool = measure.sample(_CANDIDATES, seed.child("candidates").sequence())
    return pool, choosing


def _kernels(measure: Measure, options: Options, pool: Floats) -> tuple[tuple[Kernel, ...], str]:
    """Return the kernels to average over, from smooth to rough and from narrow to wide, or the one that was given."""
    given = options.fixed()
    if isinstance(measure, Empirical) and measure.features is not None:
        own = measure.features.kernel
        if given is not None and given.identity != own.identity:
            raise MismatchError(
                f"features of Empirical stand for kernel {own!r}, but kernel is {given!r}; pass the same kernel to both"
            )
        return (own,), ""
    if given is not None:
        kernel, alike = resolved(given, pool, None if given.is_resolved else rows_of(measure))
        return (kernel,), alike
    rows = rows_of(measure)
    spread = (pool if rows is None else rows).std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    middle, alike = resolved(Gaussian(), pool / spread, None if rows is None else rows / spread)
    assert isinstance(middle, Gaussian)
    assert isinstance(middle.bandwidth, float)
    widths = [[float(f"{width:.4g}") for width in each * middle.bandwidth * spread] for each in _WIDTHS]
    plain = [tuple(width) if len(width) > 1 else width[0] for width in widths]
    if options.kernel is not None:
        named = as_kernel(options.kernel)
        assert isinstance(named, Stationary)
        if isinstance(named, Matern):
            return tuple(matern(measure, named.nu, width) for width in plain), alike
        return tuple(named.with_bandwidth(width) for width in plain), alike
    smooth = [Gaussian(width) for width in plain]
    return (*smooth, *(matern(measure, nu, width) for nu in _SMOOTHNESS for width in plain)), alike


def _asked(measure: Measure, options: Options, seed: Seed | None) -> dict[str, Any]:
    """Return what must be equal for two problems to be the same, as plain values. None stands for what was left out."""
    fixed = options.fixed()
    named = options.kernel if isinstance(options.kernel, str) else None
    return {
        "measure": {"type": type(measure).__name__, **_parameters(measure)},
        "kernel": named if fixed is None else repr(fixed),
        "amplitude": None if options.amplitude is None else float(options.amplitude),
        "noise": options.noise if options.noise is None or isinstance(options.noise, str) else float(options.noise),
        "method": options.method or "wkh",
        "candidates": None if options.candidates is None else _array(np.asarray(options.candidates, dtype=np.float64)),
        "random_state": None if seed is None else json.dumps([seed.entropy, *seed.path]),
    }


def _parameters(measure: Measure) -> dict[str, str]:
    """Return the parameters of a measure in words."""
    return {
        name: _array(value) if isinstance(value, np.ndarray) else repr(getattr(value, "identity", value))
        for name, value in sorted(vars(measure).items())
    }


def _array(array: Floats) -> str:
    """Return a short array as its numbers, a long one as its shape and a digest of its numbers."""
    if array.size <= _SHORT:
        return repr(array.tolist())
    digest = hashlib.sha256(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
    return f"{' x '.join(map(str, array.shape))} numbers, digest {digest}"


def _positive(value: Any, name: str, *, or_zero: bool = False) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        wanted = "a number or 'fit'" if or_zero else "a number"
        raise InputTypeError(f"{name} must be {wanted}, got {type(value).__name__} {value!r}")
    if not ((or_zero and value == 0) or 1.0 / _LARGEST <= value <= _LARGEST):
        least = "0 or more" if or_zero else "positive"
        raise InputError(f"{name} must be {least}, of a size between {1 / _LARGEST:g} and {_LARGEST:g}, got {value!r}; scale f")
