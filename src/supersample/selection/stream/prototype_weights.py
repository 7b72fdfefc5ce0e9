"""Weights of the prototypes for averages: on the simplex, by the exact kernel, from what the stream holds."""

from dataclasses import dataclass

import numpy as np

from supersample._compiled import simplex
from supersample._typing import Floats, Reals
from supersample.kernels import Kernel
from supersample.selection.pool import embedded, kernel_block
from supersample.selection.stream.calibration import Target

__all__ = ["nearest_weights", "prototype_weights", "pulls_of"]

#: No prototype has less than this share of an equal weight: each of them is to count.
_LEAST = 0.1
#: Of more prototypes the weights are equal: those that could be solved in time are hardly nearer (docs/decisions/033).
_MOST = 2000
#: More prototypes than this have a Gram matrix in float32.
_MOST_EXACT = 1000
#: Steps of the solver: at most, and products of numbers that all of them may take.
_MOST_STEPS, _MOST_PRODUCTS = 1000, 5e8
#: They end early where what can still be gained is below this share of what was gained; looked at every so many steps.
_ENOUGH, _LOOK = 0.0001, 25
#: Steps of the power iteration for the largest eigenvalue, and the safety factor on what it gives.
_POWER_STEPS, _SAFETY = 30, 1.05


def prototype_weights(kernel: Kernel, points: Floats, target: Target) -> Floats:
    """Return weights, at least a tenth of 1/M and summing to one, with a smaller MMD to the target than equal ones.

    They minimise w^T K w - 2 w^T z, z_j = E k(target, x_j), nearly: accelerated gradient steps from equal weights, as many as a
    fixed number of operations allows. If the target is a sample of the data, weights that fit it closely may be worse for the
    data; so they are also solved on each half of it, judged on the other half, and moved back towards equal weights as far as
    that says (to equal ones, if nothing was gained there). O(M (B + M)), and the steps.
    """
    size = points.shape[0]
    if size > _MOST:
        return np.full(size, 1.0 / size)
    return nearest_weights(kernel_block(kernel, points, points), pulls_of(kernel, points, target))


def pulls_of(kernel: Kernel, points: Floats, target: Target) -> tuple[Floats, ...]:
    """Return E k(target, x) at each of the points; of a target that is a sample, also those of its two halves."""
    parts = [target, *(() if target.complete else target.halves())]
    return tuple(embedded(kernel, points, part.points, part.weights) for part in parts)


def nearest_weights(gram: Floats, pulls: tuple[Floats, ...]) -> Floats:
    """Return the weights, given the Gram matrix, which is overwritten, and the pulls of the target and of any halves."""
    equal = np.full(len(gram), 1.0 / len(gram))
    problem = _Problem.of(gram)
    best = _descended(problem, pulls[0])
    if len(pulls) > 1:
        kept = np.mean([_kept(problem, equal, pulls[fit], pulls[judge]) for fit, judge in ((1, 2), (2, 1))])
        best = equal + kept * (best - equal)
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


def _kept(problem: _Problem, equal: Floats, fit: Floats, judge: Floats) -> float:
    """Return how far to go from equal weights to those that fit one half of the sample, by the MMD to the other half."""
    way = _descended(problem, fit) - equal
    length = float(way @ problem.times(way))
    return float(np.clip((judge - problem.means) @ way / length, 0.0, 1.0)) if length > 0 else 0.0


def _descended(problem: _Problem, target: Floats) -> Floats:
    """Return weights with a low w^T K w - 2 w^T z, at least a tenth of equal ones, by accelerated projected gradient steps.

    Beck and Teboulle 2009; restarts of O'Donoghue and Candes 2015.
    """
    size = target.size
    equal = np.full(size, 1.0 / size)
    # With w = least / M + (1 - least) v, v is on the simplex.
    goal = (target - _LEAST * problem.means) / (1.0 - _LEAST) - problem.means
    if not problem.longest > 0:
        return equal
    held, steps = equal.copy(), int(min(_MOST_STEPS, max(1.0, _MOST_PRODUCTS / size**2)))
    simplex.descend(problem.centred, goal, problem.longest, steps, _LOOK, _ENOUGH, held)
    found = _LEAST * equal + (1.0 - _LEAST) * held
    goal = target - problem.means
    return found if problem.objective(goal, found) < problem.objective(goal, equal) else equal


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
