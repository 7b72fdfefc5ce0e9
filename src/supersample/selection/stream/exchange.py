"""Swap descent with the exact kernel for many points: the candidates are scored block by block."""

import numpy as np

from supersample._compiled import exchange as compiled
from supersample._threads import cut, map_blocks
from supersample._typing import Floats, Indices
from supersample.kernels.singles import SingleGram, Singles

__all__ = ["exchange"]

#: Candidates that are scored at a time, and by one core.
_BLOCK, _PART = 384, 192
#: Rounds at most: the first over all candidates, later ones over the half that came nearest to a gain; they end where fewer
#: than this share of the points was swapped.
_ROUNDS, _ENOUGH = 6, 0.02
#: Gains below this share of k(x, x) are rounding errors of sums of float32 values.
_LEAST_GAIN = 1e-6


def exchange(gram: SingleGram, pull: Floats, start: Indices) -> Indices:
    """Return M different points of the pool with a small MMD to a target, starting from the points `start`.

    pull: z(x) = E k(x, target) for each point of the pool. Replacing y_j by x lowers M^2 MMD^2 by
        2 s(y_j) - k(y_j, y_j) - 2 s(x) - k(x, x) + 2 k(x, y_j) + 2 M (z(x) - z(y_j)),   s(x) = sum_l k(x, y_l).
    One product of a block of candidates with the held points gives all their gains. Those that gain then take their places one
    by one; each swap corrects sums and gains by one row of kernel values, O(M). O(M d) for each candidate of a round, O(M)
    memory beside the blocks and the pool.
    """
    descent = _Descent(gram, pull, start)
    gains = np.full(pull.size, np.inf)  # infinite: not scored yet
    for each in range(_ROUNDS):
        likely = np.flatnonzero(~descent.taken)
        if each > 0:
            likely = likely[gains[likely] >= np.median(gains[likely])]
        swaps = 0
        for part in cut(likely.size, _BLOCK):
            swaps += descent.offer(likely[part], gains)
        if swaps < _ENOUGH * start.size:
            break
    return descent.chosen


class _Descent:
    """The held points as places of the pool, s(y_j), and what each adds to a gain if it leaves; changed in place."""

    def __init__(self, gram: SingleGram, pull: Floats, start: Indices) -> None:
        self.gram, self.pull = gram, pull
        self.chosen, self.held = start.copy(), gram.against(start)
        self.taken = np.zeros(pull.size, dtype=np.bool_)
        self.taken[start] = True
        self.least = _LEAST_GAIN * float(gram.diagonal.mean())
        self.values: Singles = np.empty((_BLOCK, start.size), dtype=np.float32)
        self.sums, nothing = np.empty(start.size), np.zeros(start.size)
        for part in cut(start.size, _BLOCK):
            self._score(self.chosen[part], nothing, self.sums[part])

    def offer(self, rows: Indices, gains: Floats) -> int:
        """Offer a block of candidates; write their best gains, as they were before it, and return the number of swaps."""
        gram, size, sums = self.gram, self.chosen.size, np.empty(rows.size)
        own = 2.0 * (self.sums - size * self.pull[self.chosen]) - gram.diagonal[self.chosen]
        best, slots = self._score(rows, own, sums)
        base = 2.0 * size * self.pull[rows] - gram.diagonal[rows]
        gains[rows] = best + base - 2.0 * sums
        some = np.flatnonzero(gains[rows] > self.least)
        return self._swap(rows[some], self.values[some], sums[some], base[some], slots[some], own) if some.size else 0

    def _score(self, rows: Indices, own: Floats, sums: Floats) -> tuple[Floats, Indices]:
        """Write kernel values with the held points and their sums; return the best slot of each row, and its score."""
        best, slots = np.empty(rows.size), np.empty(rows.size, dtype=np.int64)

        def work(part: slice) -> None:
            values = self.values[part]
            self.held.fill(rows[part], values)
            compiled.best_slots(values, own, sums[part], best[part], slots[part])

        map_blocks(work, cut(rows.size, _PART))
        return best, slots

    def _swap(self, rows: Indices, across: Singles, sums: Floats, base: Floats, slots: Indices, own: Floats) -> int:
        """Let rows that gain take their places one by one."""
        gram, size = self.gram, self.chosen.size
        among = np.empty((rows.size, rows.size), dtype=np.float32)
        gram.against(rows).fill(rows, among)
        likely = np.unique(slots)
        leaving = np.empty((likely.size, size), dtype=np.float32)
        self.held.fill(self.chosen[likely], leaving)
        ready = np.full(size, -1, dtype=np.int64)
        ready[likely] = np.arange(likely.size)
        swapped = np.full(rows.size, -1, dtype=np.int64)
        row = 0
        while True:
            before, row = (
                row,
                compiled.swap_in(
                    row, across, among, base, gram.diagonal[rows], sums, ready, leaving, self.sums, own, self.pull[rows],
                    self.least, swapped,
                ),
            )  # fmt: skip
            for each in range(before, row):  # in order: a slot that was taken twice has the later row
                if swapped[each] >= 0:
                    self._put(int(swapped[each]), int(rows[each]))
            if row == rows.size:
                return int(np.count_nonzero(swapped >= 0))
            slot = compiled.best_slot(across[row], own)
            fresh = np.empty((1, size), dtype=np.float32)
            self.held.fill(self.chosen[slot : slot + 1], fresh)
            leaving, ready[slot] = np.concatenate([leaving, fresh]), leaving.shape[0]

    def _put(self, slot: int, row: int) -> None:
        self.taken[self.chosen[slot]] = False
        self.taken[row] = True
        self.chosen[slot] = row
        self.held.put(slot, row)
