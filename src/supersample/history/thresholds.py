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
    "LEVELS", "NO_LIMITS", "Dependence", "Spread", "asymptotic_limits", "chance", "dependence_of", "exact_limits",
]  # fmt: skip

#: Limits are for H = 1, 2, 4, ..., 2^(LEVELS - 1) rows.
LEVELS = 32
#: Before there are limits.
NO_LIMITS: Floats = np.empty((0, LEVELS))
#: Dependence is known once so many blocks are so many times as long as it reaches: as `discrepancy.variance_factor` has it.
_ENOUGH, _LONG = 16.0, 8.0
#: Sums of resampled rows, and how often their number of rows is doubled, by which limits for few rows are widened.
_WALKS, _DOUBLINGS = 8_000, 7
#: The least limit on T^2: where rows do not vary, any difference is one beyond rounding.
_LEAST_LIMIT = 1e-9
#: A variance that is rounding.
_FLAT = 1e-18
#: What a sum is at least where it divides.
_LEAST = float(np.finfo(np.float64).tiny)
#: To which the quantiles are known that these are compared with.
_NEAR = 1e-3
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

    squares: sums of U^2 over the blocks of each length, of each feature, U the sum of recursive residuals; blocks: how many
    there are; rows_a_tick: the mean number of rows of a tick.
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


class Dependence(NamedTuple):
    """By how much more sums of rows vary than those of independent rows: each feature, and all together.

    variances: those of one row's features. known: whether there are blocks enough, and long enough, to tell.
    """

    variances: Floats
    factors: Floats
    factor: float
    known: bool


def dependence_of(spread: Spread, rows: Floats, variance: float) -> Dependence:
    """Return the factors of features that stand in pairs, a cosine and a sine of one frequency.

    Low frequencies depend on rows before them for longer than high ones, so each has a factor of its own, where it is clear;
    else it is that of its sums, up to the one of all features together.

    rows: centred features of a sample; variance: that of one row, over all rows.
    """
    own = np.square(rows).mean(axis=0)
    own *= variance / max(float(own.sum()), _LEAST)
    if not variance > _FLAT:
        return Dependence(own, np.ones(own.size), 1.0, known=bool(spread.blocks[0] >= 2 * _ENOUGH))
    whole = _measured(spread, spread.squares.sum(axis=1), max(float(own.sum()), _LEAST), _dimensions(rows))
    factor = variance_factor(whole, 1)
    known = any(each.blocks >= _ENOUGH and each.length >= _LONG * factor for each in whole.levels[1:])
    size = 2 if own.size % 2 == 0 else 1
    pairs = [
        _measured(spread, spread.squares[:, place : place + size].sum(axis=1), float(own[place : place + size].sum()), size)
        for place in range(0, own.size, size)
    ]
    factors = np.array([_own_factor(each, whole, factor, len(pairs)) for each in pairs])
    return Dependence(own, np.repeat(factors, size), factor, known)


def _measured(spread: Spread, squares: Floats, variance: float, dimensions: float) -> _Measured:
    """Return the sums of some features as blocks of rows, with one row before them all."""
    some = np.flatnonzero(spread.blocks > 0)
    lengths = np.maximum(2.0, np.round(np.exp2(some) * max(spread.rows_a_tick, 1.0)))
    ratios = squares[some] / (spread.blocks[some] * np.exp2(some) * max(variance, _LEAST))
    one = _Level(1, float(spread.blocks[0]) * spread.rows_a_tick, 1.0)
    levels = zip(lengths.astype(int).tolist(), spread.blocks[some].tolist(), ratios.tolist(), strict=True)
    return _Measured((one, *(_Level(*each) for each in levels)), dimensions)


def _own_factor(measured: _Measured, whole: _Measured, factor: float, n_tests: int) -> float:
    """Return the factor of one frequency."""
    clear = variance_factor(measured, n_tests)
    if factor == 1.0:
        return clear
    # At the shortest blocks that are long enough for all features together, where chance does not decide yet.
    place = next((k for k, each in enumerate(whole.levels) if each.length >= _LONG * factor), len(whole.levels) - 1)
    return max(clear, min(factor, measured.levels[place].ratio), 1.0)


def _dimensions(rows: Floats) -> float:
    """Return (tr C)^2 / tr C^2 for the covariance C of centred rows: how many independent numbers a row is worth."""
    squares, products = np.einsum("ij,ij->i", rows, rows), rows @ rows.T
    return max(1.0, float(squares.sum() ** 2 / max(float((products * products).sum()), _LEAST)))


def asymptotic_limits(rows: Floats, dependence: Dependence, probability: float, seed: Seed) -> Floats:
    """Return limits on T^2 that it passes with about this probability.

    T^2 tends to sum e_l chi^2_1, e the eigenvalues of the covariance of a row's features (Zhao and Meng 2015, section 5). Where
    rows depend on those before them, each feature is stretched by the root of its factor first. For few rows with a skew law
    T^2 is larger: by as much as for as many rows drawn from a sample.

    rows: centred features of a sample.
    """
    rows = rows * np.sqrt(dependence.factors)
    values = np.maximum(np.linalg.eigvalsh(rows.T @ rows / len(rows)), 0.0)
    total = float(values.sum())
    if not total > _FLAT:  # rows do not vary: any difference is one
        return np.full(LEVELS, _LEAST_LIMIT)
    whole = float(dependence.variances @ dependence.factors)
    limit = weighted_chi2.quantile(1.0 - probability, values, precision=_NEAR) * max(whole / total, 1e-3)
    return np.maximum(limit * _widened(rows, values, probability, seed), _LEAST_LIMIT)


def _widened(rows: Floats, values: Floats, probability: float, seed: Seed) -> Floats:
    """Return how many times larger a limit must be for sums of 1, 2, 4, ... rows than for many, by resampling the rows.

    values: the eigenvalues of the covariance of the rows.
    """
    usual = np.array([weighted_chi2.quantile(1.0 - tail, values, precision=_NEAR) for tail in _TAILS])
    reach = (np.log(_TAILS[1]) - np.log(probability)) / (np.log(_TAILS[0]) - np.log(_TAILS[1]))
    out = np.ones(LEVELS)
    rng = seed.generator()
    sums = rows[rng.integers(0, len(rows), _WALKS)]
    for level in range(_DOUBLINGS):
        squares = np.einsum("ij,ij->i", sums, sums) / 2.0**level
        near, far = np.quantile(squares, 1.0 - np.array(_TAILS)) / usual
        out[level] = max(1.0, far, far + max(reach, 0.0) * (far - near))
        sums = sums + sums[rng.permutation(_WALKS)]  # twice as many rows
    return out
