"""Annealed swaps over a pool of candidates whose kernel matrix has a low rank: out of the local minima of a descent."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from supersample._compiled import anneal as compiled
from supersample._random import Seed
from supersample._typing import Floats, Indices
from supersample.errors import InputError
from supersample.features.pivots import PivotedFactor
from supersample.kernels import Kernel

__all__ = ["LowRank", "anneal", "low_rank"]

Singles = npt.NDArray[np.float32]

#: Largest rank, for pools of up to so many rows and for larger ones; pivots drawn at a time.
_MOST_RANK, _LARGE, _MOST_RANK_OF_LARGE, _TOGETHER = 512, 10_000, 256, 64
#: The share of k(x, x) that may be left, and left times M; and the share that may be left by so many pivots, or it is hopeless.
_LEFT, _LEFT_TIMES_M = 1e-8, 1.0
_HALF_WAY, _HOPELESS = 64, 0.05
#: Proposals: for each point, and at least; rounds, each with another order of the pool.
_PROPOSALS, _LEAST_PROPOSALS, _ROUNDS = 1000, 800_000, 8
#: The temperature at first, in median squared lengths of proposed steps, and the share of it at which it ends.
_HOT, _COLD = 2.0, 5e-4
#: A proposal stands at most this far away in the order, mostly much nearer. This share of them stands anywhere: else points
#: could not move between groups that lie apart.
_REACH, _ANYWHERE = 64.0, 0.2
#: Random projections that the order of the pool is made of, and the bits of each.
_PROJECTIONS, _BITS = 3, 12
#: Proposals by which the length of a step is measured.
_TRIED = 2000


class LowRank(NamedTuple):
    """Features of a pool whose products are its kernel values, but for at most `left` of k(x, x) on average."""

    features: Singles
    left: float


def low_rank(kernel: Kernel, points: Floats, n_points: int, seed: Seed) -> LowRank | None:
    """Return features of few dimensions, by pivoted Cholesky; None if what they leave would matter for so many points.

    What they leave is as at random: left / M of MMD^2. O(P R^2) for P points and rank R.
    """
    most = _MOST_RANK if points.shape[0] <= _LARGE else _MOST_RANK_OF_LARGE
    try:
        factor, generator = PivotedFactor(kernel, points, most, _LEFT), seed.generator()
        while not factor.done:
            if len(factor.chosen) >= _HALF_WAY and factor.left_share > _HOPELESS:
                return None
            factor.add_some(_TOGETHER, generator)
    except InputError:  # a function that is not positive definite on these points
        return None
    if factor.left_share * n_points > _LEFT_TIMES_M:
        return None
    return LowRank(factor.features(), factor.left_share)


def anneal(pool: LowRank, mean: Floats, start: Indices, seed: Seed) -> Indices:
    """Return M different points of the pool with a small distance of their mean features to `mean`, from the points `start`.

    Metropolis steps: a random point is swapped for a near one of the pool, always if that lowers the distance, and else with
    a probability that falls with the temperature. Near ones are those near in an order of the pool along a space-filling
    curve of random projections, another one for each round; some proposals are any point. If the result is no better than the
    start, the start is returned.
    O(R) for each of 1,000 M proposals.
    """
    features, size, generator = pool.features, start.size, seed.generator()
    chosen, taken = start.copy(), np.zeros(features.shape[0], dtype=np.bool_)
    taken[start] = True
    before = pull = _pull(features, chosen, mean)
    steps = max(_LEAST_PROPOSALS, _PROPOSALS * size) // _ROUNDS
    hot = 0.0
    for each in range(_ROUNDS):
        order = _order(features, generator)
        places = np.empty_like(order)
        places[order] = np.arange(order.size)
        slots, moves = generator.random((2, steps), dtype=np.float32)
        chances = generator.standard_exponential(steps, dtype=np.float32)
        if each == 0:
            hot = _HOT * _step_length(features, chosen, order, places, slots[:_TRIED], moves[:_TRIED])
            if not hot > 0.0:
                return start
        limits = (hot * _COLD ** (place / _ROUNDS) for place in (each, each + 1))
        compiled.anneal(
            features, pull.astype(np.float32), chosen, taken, order, places, slots, moves, chances, _REACH, _ANYWHERE, *limits
        )
        pull = _pull(features, chosen, mean)
    return chosen if float(pull @ pull) < float(before @ before) else start


def _pull(features: Singles, chosen: Indices, mean: Floats) -> Floats:
    """Return sum_l phi(y_l) - M mean."""
    return np.asarray(features[chosen].sum(axis=0, dtype=np.float64) - chosen.size * mean)


def _step_length(features: Singles, chosen: Indices, order: Indices, places: Indices, slots: Singles, moves: Singles) -> float:
    """Return the median squared length of some proposed steps, of those that have one."""
    points = chosen[np.minimum((slots * chosen.size).astype(np.int64), chosen.size - 1)]
    there = [compiled.step_to(places[y], move, order.size, _REACH, _ANYWHERE) for y, move in zip(points, moves, strict=True)]
    squares = ((features[order[there]] - features[points]) ** 2).sum(axis=1)
    return float(np.median(squares[squares > 0])) if bool((squares > 0).any()) else 0.0


def _order(features: Singles, generator: np.random.Generator) -> Indices:
    """Return an order in which points near each other mostly are near: by a Z-order curve of ranks of random projections."""
    size = features.shape[0]
    projected = features @ generator.standard_normal((features.shape[1], _PROJECTIONS)).astype(np.float32)
    code = np.zeros(size, dtype=np.int64)
    for column in range(_PROJECTIONS):
        ranks = np.empty(size, dtype=np.int64)
        ranks[np.argsort(projected[:, column], kind="stable")] = (np.arange(size) << _BITS) // size
        for bit in range(_BITS):
            code |= ((ranks >> bit) & 1) << (bit * _PROJECTIONS + column)
    return np.argsort(code, kind="stable")
