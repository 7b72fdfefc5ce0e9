"""Algorithm 2 of Paige, Sejdinovic and Wood (2016) to the letter: row by row, with their tree or without.

The tree of section 3.2: a random unit vector at each inner node, drawn once; split at a uniform random quantile in [0.25, 0.75]
of the projected values there; about 2 log2 M points a leaf; the points of the leaf that phi* falls into are compared.
"Periodically" the splits are drawn again; the paper does not say when.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["PERIODS", "Period", "PrintedTree", "Step", "printed_points", "printed_stream"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class Period(NamedTuple):
    """When the splits are drawn again: after so many points were accepted, or so many rows seen; never if both are 0."""

    accepted: int
    rows: int


#: Periods that were tried, for M = 100.
PERIODS = {
    "never": Period(0, 0),
    "25 accepted": Period(25, 0),
    "100 accepted": Period(100, 0),
    "400 accepted": Period(400, 0),
    "100 rows": Period(0, 100),
    "1,000 rows": Period(0, 1_000),
}


class PrintedTree:
    """The tree over the held features; `leaf_of` gives the places that a search compares."""

    def __init__(self, held: Floats, seed: int, period: Period) -> None:
        m, width = held.shape
        self.held, self.period = held, period
        self.rng = np.random.default_rng([25, seed])
        self.depth = round(np.log2(m / (2.0 * np.log2(m))))
        directions = self.rng.standard_normal((2**self.depth - 1, width))
        self.directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
        self.splits = np.zeros(len(directions))
        self.rebalance()

    def rebalance(self) -> None:
        """Draw the splits again, and find the leaf of each point."""
        self.accepted = self.rows = 0
        projected = self.held @ self.directions.T
        node = np.zeros(len(self.held), dtype=np.int64)
        for inner in range(len(self.splits)):
            mine = node == inner
            self.splits[inner] = np.quantile(projected[mine, inner], self.rng.uniform(0.25, 0.75)) if mine.any() else 0.0
            node[mine] = 2 * inner + 1 + (projected[mine, inner] > self.splits[inner])
        self.leaves = node

    def leaf_of(self, target: Floats) -> Indices:
        """Return the places in the leaf of a feature vector."""
        right = self.directions @ target > self.splits
        node = 0
        for _ in range(self.depth):
            node = 2 * node + 1 + int(right[node])
        return np.flatnonzero(self.leaves == node)

    def put(self, place: int) -> None:
        """Find the leaf of a place whose features have changed."""
        right = self.directions @ self.held[place] > self.splits
        node = 0
        for _ in range(self.depth):
            node = 2 * node + 1 + int(right[node])
        self.leaves[place] = node
        self.accepted += 1

    def count_row(self) -> None:
        """Count a row, and draw the splits again if it is time."""
        self.rows += 1
        if 0 < self.period.accepted <= self.accepted or 0 < self.period.rows <= self.rows:
            self.rebalance()


class Step(NamedTuple):
    """One row: how many points were compared, where the row went, and where a full search would put it (-1: nowhere)."""

    compared: int
    place: int
    best: int


def printed_stream(features: Floats, m: int, tree: tuple[int, Period] | None, held: Indices) -> Iterator[Step]:
    """Run Algorithm 2 over rows of features, with a tree by seed and period or without; `held` has the rows in each place."""
    points = features[:m].copy()
    held[:] = np.arange(m)
    total, sums = features[:m].sum(axis=0), points.sum(axis=0)
    search = None if tree is None else PrintedTree(points, *tree)
    for n in range(m, len(features)):
        total = total + features[n]
        target = features[n] + sums - (m / (n + 1.0)) * total  # equation 23
        distances = np.einsum("ij,ij->i", points, points) - 2.0 * (points @ target)
        own = float(features[n] @ features[n] - 2.0 * (features[n] @ target))
        nearest = int(np.argmin(distances))
        best = nearest if distances[nearest] < own else -1
        places = None if search is None else search.leaf_of(target)
        if places is None:
            compared, place = m, best
        else:
            compared, place = places.size, -1
            if compared and (among := places[np.argmin(distances[places])]) >= 0 and distances[among] < own:
                place = int(among)
        if place >= 0:
            sums = sums + features[n] - points[place]
            points[place], held[place] = features[n], n
            if search is not None:
                search.put(place)
        if search is not None:
            search.count_row()
        yield Step(compared, place, best)


def printed_points(features: Floats, m: int, tree: tuple[int, Period] | None, places: Sequence[int]) -> list[Indices]:
    """Return the rows held after each of `places` rows."""
    held = np.empty(m, dtype=np.int64)
    found, wanted = [], iter(sorted(places))
    due = next(wanted)
    if due <= m:
        found.append(np.arange(m))
        due = next(wanted, -1)
    for n, _ in enumerate(printed_stream(features, m, tree, held), start=m + 1):
        if n == due:
            found.append(held.copy())
            due = next(wanted, -1)
    return found
