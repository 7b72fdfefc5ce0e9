"""A random projection tree over the reservoir's features (SSR section 3.2; Dasgupta and Sinha 2015)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from supersample._compiled import tree as compiled
from supersample._compiled.swaps import dot
from supersample._random import Seed
from supersample._typing import Floats, Indices

__all__ = ["Tree", "build", "rebuild"]

Singles = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Tree:
    """Nodes of a complete binary tree, with the leaf of each point cached and the points of each leaf as a list.

    directions: one random unit vector for each inner node; quantiles: where in the projected points it splits; splits: the
    values there when the tree was last balanced; swaps: how many points have changed place since then.
    """

    directions: Singles
    quantiles: Floats
    splits: Singles
    leaves: Indices
    first: Indices
    following: Indices
    swaps: int


def build(features: Singles, seed: Seed) -> Tree:
    """Return a tree with about 2 log2 M points a leaf, each split at a uniform random quantile in [0.25, 0.75]."""
    m, width = features.shape
    depth = max(0, round(np.log2(m / (2.0 * np.log2(max(m, 2))))))
    inner = 2**depth - 1
    generator = seed.child("tree").generator()
    directions = generator.standard_normal((inner, width))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    quantiles = generator.uniform(0.25, 0.75, inner)
    return rebuild(
        Tree(
            directions.astype(np.float32),
            quantiles,
            np.zeros(inner, dtype=np.float32),
            np.zeros(m, dtype=np.int64),
            np.zeros(inner + 1, dtype=np.int64),
            np.zeros(m, dtype=np.int64),
            0,
        ),
        features,
    )


def rebuild(tree: Tree, features: Singles) -> Tree:
    """Return the tree with its splits at the same quantiles of the points held now.

    O(M D log M), done after every M swaps: O(D log M) for each swap.
    """
    inner = tree.quantiles.size
    splits = np.zeros(inner, dtype=np.float32)
    leaves = np.full(features.shape[0], -1, dtype=np.int64)
    members: dict[int, Indices] = {0: np.arange(features.shape[0])}
    for node in range(inner):
        mine = members.pop(node)
        # The same order of summation as the search uses, so that a point is found in the leaf where it was put.
        values = np.array([dot(tree.directions[node], features[slot]) for slot in mine], dtype=np.float32)
        splits[node] = np.quantile(values, tree.quantiles[node]) if mine.size else 0.0
        right = values >= splits[node]
        members[2 * node + 1], members[2 * node + 2] = mine[~right], mine[right]
    first = np.full(inner + 1, -1, dtype=np.int64)
    following = np.full(features.shape[0], -1, dtype=np.int64)
    for node, mine in members.items():
        for slot in mine:
            compiled.move(int(slot), node - inner, leaves, first, following)
    return Tree(tree.directions, tree.quantiles, splits, leaves, first, following, 0)
