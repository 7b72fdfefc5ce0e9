"""Slow, obvious twins of the stream: everything recomputed from scratch in float64, nothing kept between steps."""

import json
from dataclasses import fields, is_dataclass

import numpy as np

from supersample.features import FeatureMap
from supersample.kernels import Kernel


def gains(x, held, mean):
    """How much M^2 |nu - mu|^2 falls when x takes the place of each held point: M + 1 discrepancies from scratch."""
    held = np.asarray(held, dtype=np.float64)
    m = len(held)

    def height(points):
        difference = points.mean(axis=0) - mean
        return m * m * float(difference @ difference)

    now = height(held)
    after = []
    for slot in range(m):
        changed = held.copy()
        changed[slot] = x
        after.append(height(changed))
    return now - np.array(after)


def offer(rows, held, mean, threshold):
    """Algorithm 2 of Paige et al. 2016 with mu fixed: each row in turn takes the place that lowers MMD most, if by enough.

    Of places that are equally good (but for rounding) the first is taken. Returns [(row, slot)] and the points held at the end.
    """
    held = np.array(held, dtype=np.float64)
    swaps = []
    for row, x in enumerate(np.asarray(rows, dtype=np.float64)):
        gain = gains(x, held, mean)
        slot = int(np.flatnonzero(gain >= gain.max() - 1e-9)[0])
        if gain[slot] > threshold:
            held[slot] = x
            swaps.append((row, slot))
    return swaps, held


def regrets(rows, held, mean, swaps):
    """Follow someone else's swaps: for each row, the best gain there was and the gain that was taken (0 for none)."""
    held = np.array(held, dtype=np.float64)
    taken = dict(swaps)
    best, got = [], []
    for row, x in enumerate(np.asarray(rows, dtype=np.float64)):
        gain = gains(x, held, mean)
        best.append(gain.max())
        got.append(gain[taken[row]] if row in taken else 0.0)
        if row in taken:
            held[taken[row]] = x
    return np.array(best), np.array(got)


def stream(features, size, weights, threshold, *, smallest=8, share=16):
    """The whole stream: the first M rows, then blocks of max(8, n / 16) rows offered with mu at the end of their block."""
    features = np.asarray(features, dtype=np.float64)
    held, positions = features[:0], np.empty(0, dtype=np.int64)
    start = 0
    while start < len(features):
        stop = min(len(features), start + max(smallest, start // share))
        mean = np.average(features[:stop], axis=0, weights=weights[:stop])
        free = min(size - len(held), stop - start)
        held = np.concatenate([held, features[start : start + free]])
        positions = np.concatenate([positions, np.arange(start, start + free)])
        if start + free < stop:
            swaps, held = offer(features[start + free : stop], held, mean, threshold)
            for row, slot in swaps:
                positions[slot] = start + free + row
        start = stop
    return positions


def discrepancy(gram, pull, chosen):
    """MMD^2 between a set of pool rows and a target with z = pull, but for the constant E."""
    chosen = np.asarray(chosen)
    return float(gram[np.ix_(chosen, chosen)].mean() - 2.0 * pull[chosen].mean())


def best_single_swap(gram, pull, chosen):
    """The most that replacing one chosen row by one that is not chosen can lower MMD^2: every pair tried."""
    now = discrepancy(gram, pull, chosen)
    others = np.setdiff1d(np.arange(len(pull)), chosen)
    best = -np.inf
    for slot in range(len(chosen)):
        for row in others:
            changed = np.array(chosen)
            changed[slot] = row
            best = max(best, now - discrepancy(gram, pull, changed))
    return best


def calibrated(features, shares, mean, ridge):
    """Weights c that minimise sum (c_i - s_i)^2 / s_i + |centred misfit of the mean|^2 / ridge, by one dense solve for c.

    The misfit sum_i c_i (phi_i - m) - (mean - m) is measured with features centred at the sample's own mean m.
    """
    rows = np.asarray(features, dtype=np.float64)
    centre = shares @ rows
    centred = rows - centre
    # Zero gradient: (c - s) / s + A A^T c / ridge = A (mean - m) / ridge.
    system = np.diag(1.0 / shares) + centred @ centred.T / ridge
    right = np.ones(len(shares)) + centred @ (mean - centre) / ridge
    return np.linalg.solve(system, right)


def bottom(times, positions, size):
    """The positions with the `size` smallest times in order of time, and the smallest time left out (None where none is)."""
    order = sorted(range(len(times)), key=lambda i: times[i])
    return [positions[i] for i in order[:size]], (times[order[size]] if len(order) > size else None)


def leaf(point, directions, splits):
    """Walk down a complete binary tree from the root: right where direction.point >= split."""
    node = 0
    while node < len(splits):
        right = float(np.asarray(directions[node], dtype=np.float64) @ np.asarray(point, dtype=np.float64)) >= splits[node]
        node = 2 * node + (2 if right else 1)
    return node - len(splits)


class Truth:
    """The exact-kernel MMD of any selection of one data set; the expensive mean over all pairs is taken once."""

    def __init__(self, data, kernel):
        self.data, self.kernel = data, kernel
        step, total = 2000, 0.0
        for i in range(0, len(data), step):
            total += kernel(data[i : i + step]).sum()
            if i + step < len(data):
                total += 2.0 * kernel(data[i : i + step], data[i + step :]).sum()
        self.energy = total / len(data) ** 2

    def mmd(self, points, weights=None):
        w = np.full(len(points), 1.0 / len(points)) if weights is None else weights
        square = self.energy - 2.0 * w @ self.kernel(points, self.data).mean(axis=1) + w @ self.kernel(points) @ w
        return float(np.sqrt(max(square, 0.0)))

    def random_mmd(self, size):
        """The root of E MMD^2 of `size` rows drawn with replacement: (k0 - E) / M."""
        return float(np.sqrt((self.kernel.k0 - self.energy) / size))


def mixture(n, rng, width=2, parts=8):
    """A Gaussian mixture with parts of different sizes, places and widths; returns rows and the part of each."""
    centres = rng.normal(scale=3.0, size=(parts, width))
    spread = rng.uniform(0.2, 1.0, size=(parts, width))
    part = rng.choice(parts, size=n, p=rng.dirichlet(np.full(parts, 3.0)))
    return centres[part] + spread[part] * rng.standard_normal((n, width)), part


def to_bytes(value):
    """The state as bytes: every array with its type and shape, every number, and the identity of maps and kernels."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str}{value.shape}".encode() + value.tobytes()
    if isinstance(value, FeatureMap | Kernel):
        return json.dumps(value.identity, sort_keys=True).encode()
    if is_dataclass(value):
        return b"".join(each.name.encode() + to_bytes(getattr(value, each.name)) for each in fields(value))
    if isinstance(value, tuple | list):
        return f"({len(value)}".encode() + b"".join(map(to_bytes, value)) + b")"
    return repr(value).encode() + b";"


def arrays(value):
    """Every array of a state, that of maps left out."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, FeatureMap | Kernel):
        return []
    if is_dataclass(value):
        value = [getattr(value, each.name) for each in fields(value)]
    return [array for each in value for array in arrays(each)] if isinstance(value, tuple | list) else []


def swap_descent(gram, pull, start, least):
    """Each slot in turn takes the row that lowers M^2 MMD^2 most, until M slots in a row gain no more than `least`."""
    chosen = [int(row) for row in start]
    m, quiet, slot = len(chosen), 0, 0
    while quiet < m:
        now = discrepancy(gram, pull, chosen)
        gain = np.full(len(pull), -np.inf)
        for row in set(range(len(pull))) - set(chosen):
            gain[row] = m * m * (now - discrepancy(gram, pull, [*chosen[:slot], row, *chosen[slot + 1 :]]))
        row = int(np.flatnonzero(gain >= gain.max() - 1e-9)[0])
        quiet = quiet + 1
        if gain[row] > least:
            chosen[slot], quiet = row, 0
        slot = (slot + 1) % m
    return chosen


def exchange_round(gram, pull, start, order, block, least):
    """One round of exchange by blocks: rows that gain before their block are offered again one by one, all from scratch."""
    chosen, size = list(start), len(start)

    def gains(row):
        now = size * size * discrepancy(gram, pull, chosen)
        return np.array(
            [now - size * size * discrepancy(gram, pull, [*chosen[:j], row, *chosen[j + 1 :]]) for j in range(size)]
        )

    for first in range(0, len(order), block):
        likely = [row for row in order[first : first + block] if gains(row).max() > least]
        for row in likely:
            each = gains(row)
            if each.max() > least:
                chosen[int(np.argmax(each))] = int(row)
    return chosen
