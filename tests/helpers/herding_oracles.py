"""Slow, obvious twins of herding and quadrature: every candidate tried, every value from the full Gram matrix."""

import itertools

import numpy as np


def mmd2(gram, z, energy, chosen, weights):
    """|mu - sum_j w_j phi(x_j)|^2 = E - 2 w.z + w^T K w (Huszar and Duvenaud 2012, eq. 5)."""
    chosen = np.asarray(chosen)
    return float(energy - 2.0 * weights @ z[chosen] + weights @ gram[np.ix_(chosen, chosen)] @ weights)


def uniform_mmd2(gram, z, energy, chosen):
    return mmd2(gram, z, energy, chosen, np.full(len(chosen), 1.0 / len(chosen)))


def best_weights(gram, z, chosen):
    """K^-1 z by least squares, which copes with any K."""
    chosen = np.asarray(chosen)
    return np.linalg.lstsq(gram[np.ix_(chosen, chosen)], z[chosen], rcond=1e-13)[0]


def variance(gram, z, energy, chosen):
    """E - z^T K^-1 z (Huszar and Duvenaud 2012, eq. 22)."""
    if len(chosen) == 0:
        return float(energy)
    return float(energy - best_weights(gram, z, chosen) @ z[np.asarray(chosen)])


def slope(gram, z, chosen):
    """<mu - sum_i w_i phi(x_i), phi(x)> for every x, with the best weights."""
    if len(chosen) == 0:
        return z
    return z - gram[:, np.asarray(chosen)] @ best_weights(gram, z, chosen)


def sharpest(values, lowest=True):
    """All places whose value is the least (or largest) but for rounding."""
    values = np.asarray(values)
    top = values.min() if lowest else values.max()
    return set(np.flatnonzero(np.abs(values - top) <= 1e-11 * max(1.0, abs(top))).tolist())


def exhaustive(gram, z, energy, size):
    """The least variance that any set of `size` candidates reaches."""
    return min(variance(gram, z, energy, list(chosen)) for chosen in itertools.combinations(range(len(z)), size))


def exchanged(gram, z, energy, chosen):
    """Replace each point in turn by the candidate that is best beside the others, until none is better."""
    chosen = list(chosen)
    while True:
        before = list(chosen)
        for place in range(len(chosen)):
            others = chosen[:place] + chosen[place + 1 :]
            now = variance(gram, z, energy, chosen)
            found = [np.inf if x in others else variance(gram, z, energy, [*others, x]) for x in range(len(z))]
            if min(found) < now - 1e-6 * now:
                chosen[place] = int(np.argmin(found))
        if chosen == before:
            return chosen


def simplex_by_steps(gram, z, steps=200_000):
    """Minimise w^T K w - 2 z^T w on the simplex by exponentiated gradient: slow, and nothing but the definition."""
    w = np.full(len(z), 1.0 / len(z))
    rate = 0.5 / np.abs(gram).max()
    for _ in range(steps):
        w = w * np.exp(-rate * (gram @ w - z))
        w /= w.sum()
    return w


def integral_1d(function, low, high, count=200_001):
    """Simpson's rule."""
    x = np.linspace(low, high, count)
    y = function(x)
    return float((x[1] - x[0]) / 3.0 * (y[0] + y[-1] + 4.0 * y[1:-1:2].sum() + 2.0 * y[2:-1:2].sum()))


def frank_wolfe(gram, z, steps, variant, *, replace=True):
    """Every step of Frank-Wolfe on full weight vectors over the pool; returns the weights after each.

    Of held points with equal slopes, as a line search leaves them, the one that was first chosen counts as the worst.
    """
    diagonal, found, tried, order = np.diag(gram), [], [], []
    w = np.zeros(len(z))
    scale = diagonal.max()
    for step in range(steps):
        slopes = z - gram @ w - (0.5 * diagonal if step == 0 else 0.0)
        allowed = np.array([replace or j not in tried for j in range(len(z))])
        top = slopes[allowed].max(initial=-np.inf)
        towards = int(np.flatnonzero(allowed & (slopes >= top - 1e-12 * scale))[0]) if allowed.any() else None
        if step == 0:
            w[towards] = 1.0
        else:
            held = np.array([j for j in order if w[j] > 0])
            worst = int(held[np.flatnonzero(slopes[held] <= slopes[held].min() + 1e-12 * scale)[0]])
            mean = w @ slopes
            ahead, behind = top - mean, mean - slopes[worst]
            promise = {"away": max(ahead, behind), "pairwise": ahead + behind}.get(variant, ahead)
            if (ahead if replace else promise) <= 1e-14 * scale:
                break
            unit = np.eye(len(z))
            if variant == "pairwise":
                direction, longest = unit[towards] - unit[worst], w[worst]
            elif variant == "away" and behind > ahead:
                direction, longest = w - unit[worst], w[worst] / (1.0 - w[worst])
                towards = None
            else:
                direction, longest = unit[towards] - w, 1.0
            best = direction @ slopes / (direction @ gram @ direction)
            w = w + min(max(best, 0.0), longest) * direction
            w[w < 1e-15] = 0.0
        if towards is not None:
            tried.append(towards)
            order += [towards] * (towards not in order)
        found.append(w.copy())
    return found
