"""The reservoir: M points and their features, changed in place during an update (Paige et al. 2016, Algorithm 2)."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from supersample._checks import MOST, require, within
from supersample._compiled import swaps
from supersample._compiled import tree as compiled_tree
from supersample._random import Seed
from supersample._stored import INDICES, INTEGER, SINGLES, instance_of, optional, stored
from supersample._typing import Floats, Indices
from supersample.embedding.moments import squared_norms
from supersample.features.base import require_features
from supersample.kernels import Kernel
from supersample.selection.stream.projection_tree import Tree, build
from supersample.selection.stream.rows import Rows

__all__ = ["LEAST_GAIN", "Dropped", "Offered", "Reservoir", "Singles", "shadows_of"]

Singles = npt.NDArray[np.float32]

#: Possible numbers of coordinates of the projections that bound feature distances from below; the smallest that holds the share
#: _ENOUGH of the variance is used.
_SHADOWS = (4, 8, 12, 16)
_ENOUGH = 0.88
#: A swap must lower M^2 MMD^2 by at least this share of k(x, x): less is rounding in float32.
LEAST_GAIN = 1e-6
#: Length of the histogram; rows compared with more points are counted in its last entry.
_HISTOGRAM = 1024


class Dropped(NamedTuple):
    """Points that an offer dropped, and their features."""

    rows: Rows
    features: Singles


class Offered(NamedTuple):
    """The result of an offer: the rows taken, in order, mu - nu after it, and the points dropped, if they were asked for."""

    taken: Indices
    witness: Singles
    dropped: Dropped | None


@stored(
    "Reservoir",
    {
        "size": INTEGER, "rows": instance_of(Rows), "features": SINGLES, "basis": SINGLES, "basis_at": INTEGER,
        "tree": optional(instance_of(Tree)), "histogram": INDICES,
    },
)  # fmt: skip
@dataclass
class Reservoir:
    """At most `size` points of the stream with their features.

    basis: directions in which the held points vary most; projections on them bound distances (exact search).
    basis_at: rows seen when the basis was last computed; it is recomputed when their number has doubled.
    histogram: rows by the number of points they were compared with.
    """

    size: int
    rows: Rows
    features: Singles
    basis: Singles
    basis_at: int = 0
    tree: Tree | None = None
    histogram: Indices = field(default_factory=lambda: np.zeros(_HISTOGRAM, dtype=np.int64))

    @classmethod
    def empty(cls, size: int, width: int, n_features: int) -> "Reservoir":
        """Return an empty reservoir."""
        none = np.empty((0, n_features), dtype=np.float32)
        return cls(size, Rows.none(width), none, np.empty((0, n_features), dtype=np.float32))

    def copy(self) -> "Reservoir":
        """Return a reservoir that can be changed without changing this one."""
        copied = replace(self, rows=self.rows.copy(), features=self.features.copy(), histogram=self.histogram.copy())
        if self.tree is not None:
            lists = {name: getattr(self.tree, name).copy() for name in ("leaves", "first", "following")}
            copied.tree = replace(self.tree, **lists)
        return copied

    def fill(self, rows: Rows, features: Singles) -> int:
        """Put the first rows into free places; return their number."""
        taken = min(self.size - len(self.rows), len(rows))
        if taken:
            self.rows = Rows.joined(self.rows, rows.take(slice(0, taken)))
            self.features = np.concatenate([self.features, features[:taken]])
        return taken

    def offer(
        self,
        rows: Rows,
        features: Singles,
        row_norms: Singles,
        mean: Floats,
        n_used: int,
        *,
        use_tree: bool,
        seed: Seed,
        keep_dropped: bool = False,
    ) -> Offered:
        """Offer rows in order, with the stream's mean features held at `mean`."""
        pull = (self.features.sum(axis=0, dtype=np.float64) - self.size * mean).astype(np.float32)
        before = self.features.copy() if keep_dropped else None
        norms = squared_norms(self.features).astype(np.float32)
        threshold = LEAST_GAIN * float(norms.mean())
        swapped_row = np.empty(len(rows), dtype=np.int64)
        swapped_slot = np.empty(len(rows), dtype=np.int64)
        if use_tree:
            held = self._balanced_tree(seed)
            count = compiled_tree.offer(
                features, row_norms, self.features, norms, pull, threshold, held.directions, held.splits, held.leaves,
                held.first, held.following, swapped_row, swapped_slot, self.histogram,
            )  # fmt: skip
            self.tree = replace(held, swaps=held.swaps + count)
        else:
            self._renew_basis(n_used)
            heights = self.features @ pull
            shadows = np.ascontiguousarray(shadows_of(self.features, norms, self.basis).T)
            row_shadows = shadows_of(features, row_norms, self.basis)
            count = swaps.offer(
                features, row_norms, row_shadows, self.features, norms, heights, shadows, pull, threshold,
                swapped_row, swapped_slot, self.histogram,
            )  # fmt: skip
        taken, slots = swapped_row[:count], swapped_slot[:count]
        dropped = None if before is None else self._dropped(rows, features, before, taken, slots)
        self.rows.put(slots, rows, taken)
        return Offered(taken, (-pull / self.size).astype(np.float32), dropped)

    def _dropped(self, rows: Rows, features: Singles, before: Singles, taken: Indices, slots: Indices) -> Dropped:
        """Return the points of the slots taken; a row that took a place and lost it again within the block was dropped, too."""
        places, passing = np.unique(slots), _not_last(taken, slots)
        both = Rows.joined(self.rows.take(places), rows.take(passing))
        return Dropped(both, np.concatenate([before[places], features[passing]]))

    def _balanced_tree(self, seed: Seed) -> Tree:
        if self.tree is None:
            return build(self.features, seed)
        return build(self.features, seed, self.tree.builds) if self.tree.swaps >= self.size else self.tree

    def _renew_basis(self, n_used: int) -> None:
        if self.basis.shape[0] == 0 or n_used >= 2 * self.basis_at:
            centred = self.features - self.features.mean(axis=0)
            self.basis = _leading_directions(centred.astype(np.float64)).astype(np.float32)
            self.basis_at = n_used

    def check(self, n_features: int, kernel: Kernel | None) -> None:
        """Refuse a reservoir that cannot be continued."""
        require(len(self.rows) <= self.size and 0 <= self.basis_at < MOST, "the reservoir is impossible")
        require_features(self.features, (len(self.rows), n_features), kernel, "the reservoir")
        require(self.basis.ndim == 2 and self.basis.shape[1] == n_features, "the reservoir has a basis of other features")
        require(within(self.basis, 1.0 + 1e-3), "the reservoir has an impossible basis")
        require(self.histogram.ndim == 1 and self.histogram.size > 0, "the histogram is impossible")
        require(bool(((self.histogram >= 0) & (self.histogram < MOST >> 12)).all()), "the histogram is impossible")
        if self.tree is not None:
            self.tree.check(len(self.rows), n_features)


def _not_last(taken: Indices, slots: Indices) -> Indices:
    """Return the rows that took a slot which another row took after them."""
    last = dict(zip(slots.tolist(), taken.tolist(), strict=True))
    return np.array(sorted(set(taken.tolist()) - set(last.values())), dtype=np.int64)


def shadows_of(features: Singles, norms: Singles, basis: Singles) -> Singles:
    """Project on the rows of the basis, and append the length of the remainder: distances can only shrink."""
    count = basis.shape[0]
    shadows = np.empty((features.shape[0], count + 1), dtype=np.float32)
    # Blocks are fixed by stream position, so the order of summation in BLAS does not depend on how rows arrived.
    shadows[:, :count] = features @ basis.T
    swaps.leave_over(norms, shadows)
    return shadows


def _leading_directions(rows: Floats) -> Floats:
    """Return orthonormal directions in which the rows vary much, by two steps of subspace iteration.

    Any orthonormal directions give a valid bound. Better directions prune more; more directions cost more. The iteration starts
    from evenly spaced rows, so no random numbers are needed.
    """
    most = min(_SHADOWS[-1], *rows.shape)
    basis = rows[np.linspace(0, rows.shape[0] - 1, most).astype(np.int64)].T
    for _ in range(2):
        basis = np.linalg.qr(rows.T @ (rows @ np.linalg.qr(basis)[0]))[0]
    seen = rows @ basis
    values, turn = np.linalg.eigh(seen.T @ seen)
    held = np.cumsum(values[::-1]) / max(float(np.einsum("ij,ij->", rows, rows)), np.finfo(np.float64).tiny)
    count = next((each for each in _SHADOWS if each < most and held[each - 1] >= _ENOUGH), most)
    return np.ascontiguousarray((basis @ turn[:, ::-1][:, :count]).T)
