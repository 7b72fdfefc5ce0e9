"""A random projection tree over the reservoir's features (Paige et al. 2016, section 3.2; Dasgupta and Sinha 2015)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from supersample._checks import FURTHEST, MOST, require, within
from supersample._compiled import tree as compiled
from supersample._random import Seed
from supersample._stored import INDICES, INTEGER, SINGLES, stored
from supersample._typing import Floats, Indices

__all__ = ["Tree", "build"]

Singles = npt.NDArray[np.float32]


@stored(
    "Tree",
    {
        "directions": SINGLES, "splits": SINGLES, "leaves": INDICES, "first": INDICES, "following": INDICES, "swaps": INTEGER,
        "builds": INTEGER,
    },
)  # fmt: skip
@dataclass(frozen=True)
class Tree:
    """Nodes of a complete binary tree, with the leaf of each point cached and the points of each leaf as a list.

    directions: one random unit vector for each inner node; splits: the threshold on the projection; swaps: the number of points
    replaced since the tree was built; builds: the number of trees built so far.
    """

    directions: Singles
    splits: Singles
    leaves: Indices
    first: Indices
    following: Indices
    swaps: int
    builds: int

    def check(self, n_points: int, n_features: int) -> None:
        """Refuse a tree whose lists leave their bounds or have no end: compiled loops do not check."""
        inner = self.splits.size
        shapes = (self.directions.shape, self.splits.shape, self.first.shape, self.leaves.shape, self.following.shape)
        expected = ((inner, n_features), (inner,), (inner + 1,), (n_points,), (n_points,))
        require(shapes == expected and inner & (inner + 1) == 0 and n_points > 0, "the tree is incomplete")
        require(all(within(each, FURTHEST**3) for each in (self.directions, self.splits)), "the tree is impossible")
        require(0 <= self.swaps < MOST and 0 <= self.builds < MOST, "the tree is impossible")
        require(bool(((self.leaves >= 0) & (self.leaves <= inner)).all()), "the tree is impossible")
        heads, tails = np.flatnonzero(self.first != -1), np.flatnonzero(self.following != -1)
        leading, followed = self.first[heads], self.following[tails]
        after = np.concatenate([leading, followed])
        require(np.array_equal(np.sort(after), np.arange(n_points)), "the leaves of the tree do not hold each point once")
        whose = np.concatenate([heads, self.leaves[tails]])
        require(np.array_equal(self.leaves[after], whose), "the leaves of the tree are mixed up")
        end = np.append(self.following, -1)  # index -1 reads the appended last entry, so -1 leads to -1
        for _ in range(n_points.bit_length()):
            end = end[end]
        require(bool((end == -1).all()), "the leaves of the tree have no end")


def build(features: Singles, seed: Seed, builds: int = 0) -> Tree:
    """Return a tree with about 2 log2 M points a leaf, each node split at a uniform random quantile in [0.25, 0.75].

    Rebuilt after every M swaps with new directions, so that an unlucky draw does not last: O(M D log M) each time, or
    O(D log M) for each swap. `builds` counts the trees of a stream and seeds their draws.
    """
    m, width = features.shape
    depth = max(0, round(np.log2(m / (2.0 * np.log2(max(m, 2))))))
    inner = 2**depth - 1
    generator = seed.child("tree").child(builds).generator()
    directions = generator.standard_normal((inner, width))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    quantiles = generator.uniform(0.25, 0.75, inner)
    return _split(features, directions.astype(np.float32), quantiles, builds + 1)


def _split(features: Singles, directions: Singles, quantiles: Floats, builds: int) -> Tree:
    inner = quantiles.size
    splits = np.zeros(inner, dtype=np.float32)
    members: dict[int, Indices] = {0: np.arange(features.shape[0])}
    for node in range(inner):
        mine = members.pop(node)
        values = np.empty(mine.size, dtype=np.float32)
        compiled.project(directions[node], features, mine, values)  # as in the search, so that a point is found in its leaf
        splits[node] = np.quantile(values, quantiles[node]) if mine.size else 0.0
        right = values >= splits[node]
        members[2 * node + 1], members[2 * node + 2] = mine[~right], mine[right]
    leaves = np.full(features.shape[0], -1, dtype=np.int64)
    first = np.full(inner + 1, -1, dtype=np.int64)
    following = np.full(features.shape[0], -1, dtype=np.int64)
    for node, mine in members.items():
        for slot in mine:
            compiled.move(int(slot), node - inner, leaves, first, following)
    return Tree(directions, splits, leaves, first, following, 0, builds)
