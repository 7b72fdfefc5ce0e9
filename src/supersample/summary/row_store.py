"""The original rows of the points that a stream holds: all their columns, bit for bit."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from supersample._checks import MOST, require
from supersample._typing import Floats, Indices
from supersample.selection.stream.lifecycle import Stream
from supersample.selection.stream.rows import Rows

__all__ = ["RowStore", "held_points", "held_positions"]


@dataclass(frozen=True)
class RowStore:
    """Rows of a table with their positions in the stream, in the order of the stream."""

    positions: Indices
    table: pa.Table

    @classmethod
    def none(cls, schema: pa.Schema) -> "RowStore":
        """Return a store without rows."""
        return cls(np.empty(0, dtype=np.int64), pa.Table.from_batches([], schema))

    def joined(self, first: int, rows: pa.RecordBatch) -> "RowStore":
        """Return these rows and those of a batch that begins at position `first`."""
        positions = np.concatenate([self.positions, np.arange(first, first + rows.num_rows)])
        return RowStore(positions, pa.concat_tables([self.table, pa.Table.from_batches([rows])]))

    def after(self, first: int, rows: pa.RecordBatch, wanted: Indices) -> "RowStore":
        """Return the rows at the positions `wanted` (sorted), from these and from a batch that begins at `first`."""
        old = np.flatnonzero(np.isin(self.positions, wanted, assume_unique=True))
        new = wanted[np.searchsorted(wanted, first) :]
        table = pa.concat_tables([self.table.take(pa.array(old)), pa.Table.from_batches([rows.take(pa.array(new - first))])])
        return RowStore(np.concatenate([self.positions[old], new]), table)

    def merged(self, other: "RowStore", shift: int, wanted: Indices) -> "RowStore":
        """Return the rows at the positions `wanted` from both, those of `other` counted from `shift` on."""
        positions = np.concatenate([self.positions, other.positions + shift])
        chosen = np.flatnonzero(np.isin(positions, wanted))
        return RowStore(positions[chosen], pa.concat_tables([self.table, other.table]).take(pa.array(chosen)))

    def at(self, positions: Indices) -> pa.Table:
        """Return the rows at some positions, in that order."""
        return self.table.take(pa.array(np.searchsorted(self.positions, positions)))

    def compact(self) -> "RowStore":
        """Return the same rows in one chunk, with a layout that does not depend on the batches they came in."""
        whole = self.table.combine_chunks()
        return RowStore(self.positions, whole.take(pa.array(np.arange(whole.num_rows))).combine_chunks())

    def check(self) -> None:
        """Refuse rows whose positions are not those of a stream in its order."""
        positions = self.positions
        fits = positions.dtype == np.int64 and positions.shape == (self.table.num_rows,)
        require(fits, "rows and positions differ in number")
        require(bool((np.diff(positions) > 0).all()), "positions are out of order")
        require(positions.size == 0 or 0 <= positions[0] <= positions[-1] < MOST, "rows stand where no stream reaches")


def held_positions(state: Stream) -> Indices:
    """Return the positions of all rows that a stream holds, in order."""
    return np.unique(np.concatenate([each.positions for each in _held(state)]))


def held_points(state: Stream, positions: Indices) -> Floats:
    """Return the points of rows that a stream holds, given by their positions."""
    held, places = np.unique(np.concatenate([each.positions for each in _held(state)]), return_index=True)
    return np.concatenate([each.points for each in _held(state)])[places[np.searchsorted(held, positions)]]


def _held(state: Stream) -> list[Rows]:
    parts = [state.pending, state.reservoir.rows, state.criticisms.rows, state.rare.rows, state.background.kept.rows]
    near = () if state.near is None else (state.near.sample.kept, *state.near.sample.waiting)
    return parts + [each.rows for each in (*state.background.waiting, *near)]
