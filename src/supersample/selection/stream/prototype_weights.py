"""Weights of the prototypes for averages: on the simplex, by the exact kernel, from what the stream holds."""

import math
from dataclasses import dataclass

import numpy as np

from supersample._compiled import simplex
from supersample._threads import cut, map_blocks
from supersample._typing import Floats, Reals
from supersample.kernels import Kernel
from supersample.selection.pool import embedded, kernel_block
from supersample.selection.stream.calibration import Target

__all__ = ["most_solvable", "nearest_weights", "prototype_weights", "pulls_of"]

#: No prototype has less than this share of an equal weight: each of them is to count.
_LEAST = 0.1
#: More prototypes than this are solved in blocks, one after the other, so that no Gram matrix is larger; and so many times.
_MOST_AT_ONCE, _SWEEPS = 2000, 2
#: Products of coordinates that the kernel values of a sweep may take, counting each value as so many more: points that would
#: take more have equal weights.
_MOST_FOR_VALUES, _OVERHEAD = 2.5e10, 50
#: More prototypes than this have a Gram matrix in float32.
_MOST_EXACT = 1000
#: Rows of kernel values between a block and all prototypes that are there at a time.
_ROWS = 384
#: Steps of the solver: at most, and products of numbers that all of them may take, for all blocks of a sweep.
_MOST_STEPS, _MOST_PRODUCTS = 1000, 5e8
#: They end early where what can still be gained is below this share of what was gained; looked at every so many steps.
_ENOUGH, _LOOK = 0.0001, 25
#: Steps of the power iteration for the largest eigenvalue, and the safety factor on what it gives.
_POWER_STEPS, _SAFETY = 30, 1.05


def most_solvable(width: int) -> int:
    """Return how many points of so many coordinates have weights of their own; more than these have equal weights.

    20,412 in ten coordinates, 5,528 in 768.
    """
    return max(_MOST_AT_ONCE, math.isqrt(int(_MOST_FOR_VALUES) // (width + _OVERHEAD)))


def prototype_weights(kernel: Kernel, points: Floats, target: Target) -> Floats:
    """Return weights, at least a tenth of 1/M and summing to one, with an MMD to the target no larger than that of equal ones.

    They minimise w^T K w - 2 w^T z, z_j = E k(target, x_j), nearly: accelerated gradient steps from equal weights, as many as a
    fixed number of operations allows. Of more than 2,000 points, blocks are solved one after the other, each with the weights
    of the others as they are, and its own sum as it is: every block lowers the objective, and memory is that of one. If the
    target is a sample of the data, weights that fit it closely may be worse for the data; so they are also solved on each half
    of it, judged on the other half, and moved back towards equal weights as far as that says (to equal ones, if nothing was
    gained there). O(M (B + M)), and the steps. More points than `most_solvable` have equal weights, since their kernel values
    would take too long; and so have points for which the steps find nothing lower than equal weights.
    """
    size = points.shape[0]
    if size <= _MOST_AT_ONCE:
        return nearest_weights(kernel_block(kernel, points, points), pulls_of(kernel, points, target))
    if size > most_solvable(points.shape[1]):
        return np.full(size, 1.0 / size)
    goals = pulls_of(kernel, points, target)
    found = _solved_by_blocks(kernel, points, goals)
    ways = np.vstack([np.full(size, 1.0 / size), found[1:] - 1.0 / size])
    sums = [_pull(kernel, points[part], points, ways) for part in cut(size, _MOST_AT_ONCE)]
    return _moved_back(goals, found, np.concatenate(sums, axis=1))


def pulls_of(kernel: Kernel, points: Floats, target: Target) -> Floats:
    """Return E k(target, x) at each of the points; of a target that is a sample, also those of its two halves."""
    parts = [target, *(() if target.complete else target.halves())]
    return np.stack([embedded(kernel, points, part.points, part.weights) for part in parts])


def nearest_weights(gram: Floats, goals: Floats) -> Floats:
    """Return the weights, given the Gram matrix, which is overwritten, and the pulls of the target and of any halves."""
    problem = _Problem.of(gram)
    equal, steps = np.full(len(gram), 1.0 / len(gram)), _steps(len(gram), len(gram))
    found = np.stack([_descended(problem, goal, equal, steps) for goal in goals])
    # K times equal weights is the row means; the sums of a way are zero, so that centring does not change its length.
    return _moved_back(goals, found, np.stack([problem.means, *(problem.times(way - equal) for way in found[1:])]))


def _steps(size: int, block: int) -> int:
    """Return how many steps are taken for each block."""
    return int(min(_MOST_STEPS, max(1.0, _MOST_PRODUCTS / size / block)))


def _solved_by_blocks(kernel: Kernel, points: Floats, goals: Floats) -> Floats:
    """Return weights with a low w^T K w - 2 w^T z for each goal z, block by block."""
    size = points.shape[0]
    count = -(-size // _MOST_AT_ONCE)
    found = np.full(goals.shape, 1.0 / size)
    for _ in range(_SWEEPS):
        for start in range(count):
            block = slice(start, None, count)  # every so many: each block is spread over all of the data
            own = found[:, block]
            mass = own.shape[1] / size
            others = found.copy()
            others[:, block] = 0.0
            problem = _Problem.of(kernel_block(kernel, points[block], points[block]))
            rest = (goals[:, block] - _pull(kernel, points[block], points, others)) / mass
            for place, goal in enumerate(rest):
                own[place] = mass * _descended(problem, goal, own[place] / mass, _steps(size, own.shape[1]))
    return found


def _pull(kernel: Kernel, some: Floats, points: Floats, weights: Floats) -> Floats:
    """Return sum_i weights_i k(x, x_i) at some points x, for each row of weights; memory is that of some rows of values."""
    rows_of = kernel.against(some)
    parts = map_blocks(lambda rows: weights[:, rows] @ rows_of(points[rows]), cut(points.shape[0], _ROWS))
    return np.asarray(sum(parts[1:], parts[0]))


def _moved_back(goals: Floats, found: Floats, sums: Floats) -> Floats:
    """Return the first weights, moved towards equal ones as far as the fits to the halves of a sample say, by the other half.

    goals: of the sample and of any halves, and `found` the weights for each. sums: the products of K, or of K less its row
    means, with equal weights and with the ways from these to the fits of the halves.
    """
    size = found.shape[1]
    equal, kept = np.full(size, 1.0 / size), []
    for fit, through, judge in zip(found[1:], sums[1:], goals[:0:-1], strict=True):
        way = fit - equal
        length = float(way @ through)
        kept.append(float(np.clip((judge - sums[0]) @ way / length, 0.0, 1.0)) if length > 0 else 0.0)
    best = equal + (np.mean(kept) if kept else 1.0) * (found[0] - equal)
    return np.asarray(best / best.sum())


@dataclass(frozen=True)
class _Problem:
    """The Gram matrix of the points less its row means, the means, and a bound on its largest eigenvalue.

    On the simplex a row's mean may be taken off K and z without a change but of constants; that takes off its largest
    eigenvalue as well, so that steps are longer, and leaves small numbers, for which float32 suffices.
    """

    centred: Reals
    means: Floats
    longest: float

    @classmethod
    def of(cls, gram: Floats) -> "_Problem":
        means = gram.mean(axis=1)
        gram -= means[:, None]
        gram -= means - means.mean()
        centred = gram if means.size <= _MOST_EXACT else gram.astype(np.float32)
        return cls(centred, means, _SAFETY * _largest_eigenvalue(centred))

    def times(self, weights: Floats) -> Floats:
        """Return the product of the matrix with weights."""
        out = np.empty(weights.size)
        simplex.product(self.centred, weights, out)
        return out

    def objective(self, goal: Floats, weights: Floats) -> float:
        """Return w^T K w - 2 w^T z up to constants, goal = z less the row means."""
        return float(weights @ (self.times(weights) - 2.0 * goal))


def _descended(problem: _Problem, target: Floats, start: Floats, steps: int) -> Floats:
    """Return weights with a low w^T K w - 2 w^T z, at least a tenth of equal ones, by accelerated projected gradient steps.

    They are those at the start where nothing lower was found.

    Beck and Teboulle 2009; restarts of O'Donoghue and Candes 2015.
    """
    size = target.size
    equal = np.full(size, 1.0 / size)
    # With w = least / M + (1 - least) v, v is on the simplex.
    goal = (target - _LEAST * problem.means) / (1.0 - _LEAST) - problem.means
    if not problem.longest > 0:
        return start
    held = equal + (start - equal) / (1.0 - _LEAST)
    simplex.descend(problem.centred, goal, problem.longest, steps, _LOOK, _ENOUGH, held)
    found = _LEAST * equal + (1.0 - _LEAST) * held
    goal = target - problem.means
    return found if problem.objective(goal, found) < problem.objective(goal, start) else start


def _largest_eigenvalue(matrix: Reals) -> float:
    """Return the largest eigenvalue of a positive matrix, by power iteration from a fixed start."""
    vector = np.cos(np.arange(matrix.shape[0]) + 1.0).astype(matrix.dtype)
    size = 0.0
    for _ in range(_POWER_STEPS):
        vector = matrix @ vector
        size = float(np.linalg.norm(vector))
        if not size > 0:
            return 0.0
        vector /= size
    return size
