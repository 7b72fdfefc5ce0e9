"""The held points of a stream on a device, and how rows of a block take their places.

Replacing y_j by x lowers M^2 MMD^2 by 2 (h(y_j) - h(x)) - |phi(x) - phi(y_j)|^2 with h(y) = phi(y).e and
e = sum_l phi(y_l) - M mu. So the best place of each row of a block is a row maximum of G + (F e - |F|^2 / 2), G = f F^T one
product. The few rows that gain are looked at again in full precision, and swap in one by one on the host, with inner products
alone: after row a took place j, f e grows by S[:, a] - G[:, j], F e by G[a] - H[:, j], and column j of G becomes S[:, a], where
S = f f^T and H = F F^T. H of a few thousand points is fetched once and kept up to date on the host; of more, a column a swap.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supersample._typing import Floats, Indices, Reals
from supersample.device.arrays import Array, Home
from supersample.selection.stream.reservoir import LEAST_GAIN, Reservoir, Singles
from supersample.selection.stream.rows import Rows

__all__ = ["Held", "offer"]

#: Rows of a block that may swap in at a time, those with the largest gains; and how often a block is looked at again for more.
_MOST, _ROUNDS = 128, 4
#: Numbers of H that are kept on the host, at most. A copy of them for each batch, of 16 MB, takes milliseconds.
_MOST_PRODUCTS = 1 << 22


@dataclass(frozen=True)
class Held:
    """The held points and their features on the device; positions and weights here.

    products: H, once it was needed. It is part of the state, so that batches do not matter: the same products, computed
    another time with others beside them, may differ in the last digit.
    """

    size: int
    points: Array
    features: Array
    positions: Indices
    mantissas: Floats
    exponents: Indices
    histogram: Indices
    products: Singles | None = None

    @classmethod
    def of(cls, reservoir: Reservoir, home: Home, dtype: Any) -> "Held":
        """Bring a reservoir there."""
        rows = reservoir.rows
        features = home.array(reservoir.features.astype(np.float64), home.single)
        points = home.array(rows.points, dtype)
        return cls(reservoir.size, points, features, rows.positions, rows.mantissas, rows.exponents, reservoir.histogram)

    def copy(self, home: Home) -> "Held":
        """Return points that can be overwritten without changing these."""
        points, features = (home.xp.asarray(each, copy=True) for each in (self.points, self.features))
        positions, exponents, histogram = (each.copy() for each in (self.positions, self.exponents, self.histogram))
        products = None if self.products is None else self.products.copy()
        return Held(self.size, points, features, positions, self.mantissas.copy(), exponents, histogram, products)

    def on_host(self, home: Home) -> Reservoir:
        """Return the reservoir of the host."""
        rows = Rows(home.floats(self.points), self.positions.copy(), self.mantissas.copy(), self.exponents.copy())
        features: Singles = np.array(home.host(self.features), dtype=np.float32)
        basis: Singles = np.empty((0, features.shape[1]), dtype=np.float32)
        return Reservoir(self.size, rows, features, basis, histogram=self.histogram.copy())


def offer(held: Held, block: Any, features: Array, norms: Array, mean: Array, home: Home) -> Callable[[], Held]:
    """Start to offer the rows of a block in order; the function that is returned waits for the outcome."""
    free = held.size - held.positions.size
    if free:
        taken = min(free, block.positions.size)
        held = _filled(held, block.part(0, taken), features[:taken, :], home)
        if taken == block.positions.size:
            return lambda: held
        block, features, norms = block.part(taken, block.positions.size), features[taken:, :], norms[taken:]
    singles = home.xp.astype(features, home.single, copy=False)
    gains, threshold = _gains(held, singles, norms, mean, home)
    waiting = home.fetch(home.xp.concat([gains, threshold[None]]))

    def outcome() -> Held:
        after, found = held, waiting()
        after.histogram[min(after.size, after.histogram.size - 1)] += block.positions.size
        entered = np.zeros(block.positions.size, dtype=np.bool_)
        for _ in range(_ROUNDS):
            places = _best(np.where(entered, -np.inf, found[:-1]), float(found[-1]))
            if places.size == 0:
                break
            after, swapped = _swap(after, block, singles, places, mean, float(found[-1]), home)
            entered[swapped] = True  # a row is held once
            if places.size < _MOST or swapped.size == 0:
                break
            more, threshold = _gains(after, singles, norms, mean, home)
            found = home.fetch(home.xp.concat([more, threshold[None]]))()
        return after

    return outcome


def _filled(held: Held, block: Any, features: Array, home: Home) -> Held:
    """Put rows into free places."""
    xp, count = home.xp, block.positions.size
    mantissas, exponents = block.scaled(np.arange(count))
    return replace(
        held,
        points=xp.concat([held.points, xp.astype(block.points, held.points.dtype)]),
        features=xp.concat([held.features, xp.astype(features, home.single)]),
        positions=np.concatenate([held.positions, block.positions]),
        mantissas=np.concatenate([held.mantissas, mantissas]),
        exponents=np.concatenate([held.exponents, exponents]),
    )


def _pull(held: Held, mean: Array, home: Home) -> Array:
    """Return e = sum_l phi(y_l) - M mu; the sums in the wide type, since they nearly cancel."""
    xp = home.xp
    return xp.astype(xp.sum(held.features, axis=0, dtype=home.wide) - held.size * mean, home.single)


def _gains(held: Held, features: Array, own: Array, mean: Array, home: Home) -> tuple[Array, Array]:
    """Return the best gain of each row, from rough products, and the least gain that counts."""
    xp = home.xp
    pull = _pull(held, mean, home)
    norms = xp.sum(held.features * held.features, axis=1)
    heights = held.features @ pull - 0.5 * norms
    with home.rough_products():
        across = features @ held.features.T
    best = xp.max(across + heights[None, :], axis=1)
    gains = 2.0 * best - 2.0 * (features @ pull) - xp.astype(own, home.single)
    return gains, LEAST_GAIN * xp.mean(norms)


def _best(gains: Reals, least: float) -> Indices:
    """Return the places of the rows that gain, in order; of too many, those that gain most."""
    places = np.flatnonzero(gains > least)
    if places.size > _MOST:
        places = np.sort(places[np.argpartition(-gains[places], _MOST)[:_MOST]])
    return places


def _swap(
    held: Held, block: Any, features: Array, places: Indices, mean: Array, least: float, home: Home
) -> tuple[Held, Indices]:
    """Let rows take places one by one, with products in full precision; return the points then, and the rows that came in."""
    xp = home.xp
    pull = _pull(held, mean, home)
    some = xp.take(features, home.array(places), axis=0)
    parts = [some @ held.features.T, some @ some.T, some @ pull, held.features @ pull, xp.sum(held.features**2, axis=1)]
    if held.products is None and held.size**2 <= _MOST_PRODUCTS:
        parts.append(held.features @ held.features.T)
    fetched = _fetched(parts, home)
    across, among, mine, heights, norms = (each.astype(np.float64) for each in fetched[:5])
    held = replace(held, products=fetched[5]) if len(fetched) > 5 else held
    entered: list[int] = []
    taken: dict[int, int] = {}  # the row that holds each place that was taken
    own = np.diag(among).copy()
    for row in range(places.size):
        values = across[row] + heights - 0.5 * norms
        slot = int(np.argmax(values))
        if not 2.0 * float(values[slot]) - 2.0 * float(mine[row]) - float(own[row]) > least:
            continue
        column = _column(held, across, taken, slot, home)
        mine += among[:, row] - across[:, slot]
        heights += across[row] - column
        heights[slot] = mine[row]
        entered.append(row)
        across[:, slot], norms[slot], taken[slot] = among[:, row], own[row], row
    if not taken:
        return held, np.empty(0, dtype=np.int64)
    if held.products is not None:
        for slot, row in taken.items():
            held.products[slot, :] = held.products[:, slot] = across[row]
    slots, rows = np.array(list(taken)), places[np.array(list(taken.values()))]
    mantissas, exponents = block.scaled(rows)
    held.positions[slots], held.mantissas[slots], held.exponents[slots] = block.positions[rows], mantissas, exponents
    there, chosen = home.array(slots), home.array(rows)
    changed = replace(
        held,
        points=home.put_rows(held.points, there, xp.astype(xp.take(block.points, chosen, axis=0), held.points.dtype)),
        features=home.put_rows(held.features, there, xp.take(features, chosen, axis=0)),
    )
    return changed, places[np.array(entered)]


def _fetched(parts: list[Array], home: Home) -> list[Singles]:
    """Copy arrays of the device to the host, in one go: each copy waits until the device has done all that it was told."""
    whole = np.array(home.host(home.xp.concat([home.xp.reshape(each, (-1,)) for each in parts])), dtype=np.float32)
    shapes = [tuple(int(size) for size in each.shape) for each in parts]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    return [each.reshape(shape) for each, shape in zip(np.split(whole, ends[:-1]), shapes, strict=True)]


def _column(held: Held, across: Floats, taken: dict[int, int], slot: int, home: Home) -> Floats:
    """Return the products of the point at a place with all points held now."""
    if slot in taken:  # it came in this round, and its row of products is kept up to date
        return np.array(across[taken[slot]])
    before = home.floats(held.features @ held.features[slot, :]) if held.products is None else held.products[slot]
    column = before.astype(np.float64)
    for place, row in taken.items():
        column[place] = across[row, slot]
    return column
