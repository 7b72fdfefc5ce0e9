"""The result of a two-sample test."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from supersample._notebook import notebook_html
from supersample.errors import InputError, InputTypeError
from supersample.kernels import Kernel

__all__ = ["QUANTILES", "TestResult"]

#: Levels at which the null distribution is reported.
QUANTILES = (0.5, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class TestResult:
    """The result of a two-sample test: the distance between the samples, and its p-value.

    statistic: MMD^2 by the test's method, or the ensemble of circular discrepancies; for a family of kernels, the largest.
    pvalue: the probability of a statistic at least as large if both samples came from one population; never 0.
    null_quantiles: statistic values that the null distribution stays below with the given probability.
    kernel: the kernel used, bandwidth included; for a family, the one with the largest statistic.
    distance, norm: the statistic's name, and for "mallows" and "sine" the order of the norm over frequencies.

    >>> import numpy as np
    >>> import supersample as ss
    >>> x = np.random.default_rng(0).normal(size=(200, 1))
    >>> found = ss.two_sample_test(x, x + 1.0, n_resamples=99, random_state=0)
    >>> found.pvalue, found.rejects(level=0.05), found.n_x
    (0.01, True, 200)
    """

    __test__: ClassVar[bool] = False  # not a test case, despite its name

    statistic: float
    pvalue: float
    null: str
    method: str
    estimator: str
    kernel: Kernel
    n_x: int
    n_y: int
    n_resamples: int | None = None
    n_features: int | None = None
    null_quantiles: Mapping[float, float] = field(default_factory=dict)
    family_statistics: tuple[tuple[Kernel, float], ...] = ()
    distance: str = "mmd"
    norm: float | None = None

    def rejects(self, level: float = 0.05) -> bool:
        """Return whether the samples differ at this level, the probability of rejecting samples that do not differ."""
        if np.ndim(level) or np.asarray(level).dtype.kind not in "iuf":
            raise InputTypeError(f"level must be a number, got {type(level).__name__}; 5% is 0.05")
        if not 0 <= level <= 1:
            raise InputError(f"level must lie between 0 and 1, got {level!r}; 5% is 0.05")
        return bool(self.pvalue <= level)

    def __str__(self) -> str:
        """Return the result in words."""
        verdict = "differ" if self.rejects() else "show no difference"
        how = f"{self.method}, {self.n_features} features" if self.n_features else self.method
        null = f"{self.null}, {self.n_resamples} resamples" if self.n_resamples else self.null
        measure = "MMD" if self.norm is None else f"circular ensemble, {self.distance} distance"
        unit = f"{self.estimator} MMD^2" if self.norm is None else f"norm {self.norm:g} over frequencies"
        lines = [
            f"Two-sample test ({measure}, {how}): the samples {verdict} at the 5% level",
            f"  statistic  {self.statistic:.6g}  ({unit})",
            f"  p-value    {self.pvalue:.4g}  (null: {null})",
            f"  sizes      {self.n_x:,} and {self.n_y:,}",
            f"  kernel     {self.kernel!r}"
            + (f", of a family of {len(self.family_statistics)}" * bool(self.family_statistics)),
        ]
        if self.null_quantiles:
            shown = ", ".join(f"{level:.0%}: {value:.4g}" for level, value in self.null_quantiles.items())
            lines.append(f"  null       {shown}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the verdict and the numbers behind it."""
        return notebook_html(self)
