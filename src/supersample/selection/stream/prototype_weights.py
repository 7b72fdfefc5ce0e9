"""Weights of the prototypes for averages: on the simplex, by the exact kernel, from what the stream holds."""

import numpy as np

from supersample._typing import Floats, Indices
from supersample.kernels import Kernel
from supersample.selection.pool import embedded, kernel_block
from supersample.selection.stream.calibration import Target

__all__ = ["prototype_weights"]

#: No prototype has less than this share of an equal weight: each of them is to count.
_LEAST = 0.1
#: Prototypes whose weights are solved together; of more, blocks are solved in turn.
_MOST_TOGETHER = 5000
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
    parts = [target, *(() if target.complete else target.halves())]
    pulls = np.stack([embedded(kernel, points, part.points, part.weights) for part in parts])
    blocks = 1 + (size - 1) // _MOST_TOGETHER
    found = np.full(size, 1.0 / size)
    for start in range(blocks):
        block = np.arange(start, size, blocks)
        found[block] = _solved(kernel, points, block, pulls, found)
    return np.asarray(found / found.sum())


def _solved(kernel: Kernel, points: Floats, block: Indices, pulls: Floats, found: Floats) -> Floats:
    """Return the weights of a block of points, the others' as they are found; its weights keep their sum."""
    mass = float(found[block].sum())
    gram = kernel_block(kernel, points[block], points[block])
    rest = np.setdiff1d(np.arange(points.shape[0]), block)
    targets = pulls[:, block]
    if rest.size:
        targets = targets - embedded(kernel, points[block], points[rest], found[rest])
    targets = targets / mass
    equal = np.full(block.size, 1.0 / block.size)
    best = _descended(gram, targets[0])
    if targets.shape[0] > 1:
        kept = np.mean([_kept(gram, equal, targets[fit], targets[judge]) for fit, judge in ((1, 2), (2, 1))])
        best = equal + kept * (best - equal)
    return np.asarray(mass * best)


def _kept(gram: Floats, equal: Floats, fit: Floats, judge: Floats) -> float:
    """Return how far to go from equal weights to those that fit one half of the sample, by the MMD to the other half."""
    way = _descended(gram, fit) - equal
    length = float(way @ gram @ way)
    return float(np.clip((judge - gram @ equal) @ way / length, 0.0, 1.0)) if length > 0 else 0.0


def _descended(gram: Floats, target: Floats) -> Floats:
    """Return weights with a low w^T K w - 2 w^T z, at least a tenth of equal ones, by accelerated projected gradient steps.

    On the simplex a row's mean may be taken off K and z without a change but of constants; that takes off its largest
    eigenvalue as well, so that the steps are longer (Beck and Teboulle 2009; restarts of O'Donoghue and Candes 2015).
    """
    size = target.size
    equal = np.full(size, 1.0 / size)
    # With w = least / M + (1 - least) v, v is on the simplex.
    means = gram.mean(axis=1)
    centred = gram - means[:, None] - means + means.mean()
    goal = (target - _LEAST * means) / (1.0 - _LEAST) - means
    longest = _SAFETY * _largest_eigenvalue(centred)
    if not longest > 0:
        return equal
    held, ahead, pace = equal, equal, 1.0
    start = _objective(centred, goal, equal)
    for step in range(int(min(_MOST_STEPS, max(1.0, _MOST_PRODUCTS / size**2)))):
        if step % _LOOK == 0:
            slope = centred @ held - goal
            left = 2.0 * float(held @ slope - slope.min())  # by convexity
            if left <= _ENOUGH * (start - _objective(centred, goal, held)):
                break
        moved = _on_simplex(ahead - (centred @ ahead - goal) / longest)
        if float((ahead - moved) @ (moved - held)) > 0:
            pace = 1.0  # it went too far
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * pace * pace))
        ahead = moved + (pace - 1.0) / following * (moved - held)
        held, pace = moved, following
    found = _LEAST * equal + (1.0 - _LEAST) * held
    return found if _objective(gram, target, found) < _objective(gram, target, equal) else equal


def _objective(gram: Floats, target: Floats, weights: Floats) -> float:
    return float(weights @ (gram @ weights - 2.0 * target))


def _largest_eigenvalue(gram: Floats) -> float:
    """Return the largest eigenvalue of a positive matrix, by power iteration from a fixed start."""
    vector = np.cos(np.arange(gram.shape[0]) + 1.0)
    size = 0.0
    for _ in range(_POWER_STEPS):
        vector = gram @ vector
        size = float(np.linalg.norm(vector))
        if not size > 0:
            return 0.0
        vector /= size
    return size


def _on_simplex(values: Floats) -> Floats:
    """Return the nearest weights that are not negative and sum to one."""
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1.0, values.size + 1.0)
    last = int(np.flatnonzero(falling > excess)[-1])
    return np.asarray(np.maximum(values - excess[last], 0.0))
