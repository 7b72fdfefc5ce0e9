"""How much evidence is too much for chance: limits on the scan statistic for a given run length.

The scan looks at K(t) boundaries after tick t. If each of N = sum K(t), t up to twice the run length, has a probability of at
most 1 / (2 N) to pass its limit, an alarm before twice the run length has a probability of at most 1/2, so that the mean run
length is at least as asked for.
"""

from typing import NamedTuple

import numpy as np

from supersample._random import Seed
from supersample._typing import Floats
from supersample.discrepancy import weighted_chi2
from supersample.discrepancy.variance_factor import variance_factor

__all__ = [
    "LEVELS", "NO_LIMITS", "Spread", "asymptotic_limits", "chance", "dependence_factor", "dimensions_of", "exact_limits",
]  # fmt: skip

#: Limits are for H = 1, 2, 4, ..., 2^(LEVELS - 1) rows.
LEVELS = 32
#: Before there are limits.
NO_LIMITS: Floats = np.empty((0, LEVELS))
#: Dependence is known once so many blocks are so many times as long as it reaches: as `discrepancy.variance_factor` has it.
_ENOUGH, _LONG = 16.0, 8.0
#: Walks of resampled rows, and their longest length, by which limits for few rows are widened.
_WALKS, _STEPS = 4_000, 64
#: Upper tails at which walks and their limit are compared; the ratio is continued from these to the one asked for.
_TAILS = 0.05, 0.005


class _Level(NamedTuple):
    """Blocks of one length: rows of a block, how many there are, and the variance of their sums over that of as many rows."""

    length: int
    blocks: float
    ratio: float


class _Measured(NamedTuple):
    """All lengths, and how many independent numbers a sum is worth."""

    levels: tuple[_Level, ...]
    dimensions: float


class Spread(NamedTuple):
    """What is known of the sums of ticks, for blocks of 1, 2, 4, ... ticks.

    squares: sums of |U|^2 over the blocks of each length, U the sum of recursive residuals; blocks: how many there are;
    rows_a_tick: the mean number of rows of a tick.
    """

    squares: Floats
    blocks: Floats
    rows_a_tick: float


def chance(ticks: float, most: int) -> float:
    """Return 1 / (2 N) for a run length in ticks, with at most `most` segments of each length."""
    twice = max(2.0 * ticks, 2.0)
    boundaries = most * (np.log2(max(twice / most, 1.0)) + 2.0)
    return float(1.0 / (2.0 * twice * boundaries))


def exact_limits(probability: float, groups: int) -> Floats:
    """Return limits on T^2 that independent rows with |phi| <= 1 pass with at most this probability, whatever their law.

    One row for each group of features, each of length 1 at most.

    T = sqrt(n m / (n + m)) |mean - mean'| has E T <= (E T^2)^1/2 <= 1, and changes by at most 2 sqrt(h) / n or 2 sqrt(h) / m
    with one row, h = n m / (n + m), whose squares sum to 4: by McDiarmid's inequality P(T >= 1 + s) <= exp(-s^2 / 2).
    """
    return np.full((groups, LEVELS), (1.0 + np.sqrt(2.0 * np.log(1.0 / probability))) ** 2)


def dimensions_of(rows: Floats) -> float:
    """Return (tr C)^2 / tr C^2 for the covariance C of centred rows: how many independent numbers a row is worth."""
    squares, products = np.einsum("ij,ij->i", rows, rows), rows @ rows.T
    return max(1.0, float(squares.sum() ** 2 / max(float((products * products).sum()), np.finfo(np.float64).tiny)))


def dependence_factor(spread: Spread, variance: float, dimensions: float) -> tuple[float, bool]:
    """Return how many times more sums of rows vary than those of independent rows, and whether ticks enough tell it.

    variance: that of one row, tr C; dimensions: (tr C)^2 / tr C^2.
    """
    counts = spread.blocks
    some = np.flatnonzero(counts > 0)
    if not variance > 0 or some.size == 0:
        return 1.0, False
    lengths = np.exp2(some) * max(spread.rows_a_tick, 1.0)
    ratios = spread.squares[some] / (counts[some] * np.exp2(some) * variance)
    one = _Level(1, float(counts[0]) * spread.rows_a_tick, 1.0)
    levels = [_Level(max(2, round(each)), *rest) for each, *rest in zip(lengths, counts[some], ratios, strict=True)]
    factor = variance_factor(_Measured((one, *levels), dimensions), 1)
    known = any(each.blocks >= _ENOUGH and each.length >= _LONG * factor for each in levels)
    return factor, known


def asymptotic_limits(rows: Floats, variance: float, factor: float, probability: float, seed: Seed) -> Floats:
    """Return limits on T^2 that it passes with about this probability.

    T^2 tends to sum e_l chi^2_1, e the eigenvalues of the covariance of a row's features (Zhao and Meng 2015, section 5),
    multiplied by `factor` where rows depend on each other. For few rows with a skew law it is larger: by as much as for as many
    rows drawn from a sample.

    rows: centred features of a sample. variance: that of one row over all rows.
    """
    covariance = rows.T @ rows / max(len(rows) - 1, 1)
    values = np.maximum(np.linalg.eigvalsh(covariance), 0.0)
    total = float(values.sum())
    if not total > 0:  # rows do not vary: any difference is one
        return np.full(LEVELS, np.finfo(np.float64).tiny)
    values *= max(variance, total * 1e-3) / total
    limit = weighted_chi2.quantile(1.0 - probability, values) * factor
    return np.asarray(limit * _widened(rows, probability, seed))


def _widened(rows: Floats, probability: float, seed: Seed) -> Floats:
    """Return how many times larger a limit must be for sums of 1, 2, 4, ... rows than for many, by resampling the rows."""
    values = np.maximum(np.linalg.eigvalsh(rows.T @ rows / len(rows)), 0.0)
    usual = np.array([weighted_chi2.quantile(1.0 - tail, values) for tail in _TAILS])
    reach = (np.log(_TAILS[1]) - np.log(probability)) / (np.log(_TAILS[0]) - np.log(_TAILS[1]))
    out = np.ones(LEVELS)
    rng = seed.generator()
    sums = np.zeros((_WALKS, rows.shape[1]))
    for step in range(1, _STEPS + 1):
        sums += rows[rng.integers(0, len(rows), _WALKS)]
        if step & (step - 1) == 0:
            squares = np.einsum("ij,ij->i", sums, sums) / step
            near, far = np.quantile(squares, 1.0 - np.array(_TAILS)) / usual
            out[step.bit_length() - 1] = max(1.0, far, far + max(reach, 0.0) * (far - near))
    return out
