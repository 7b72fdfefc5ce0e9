"""The original rows of the points that a stream holds: all their columns, bit for bit."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from supersample._typing import Indices
from supersample.selection.stream.lifecycle import Stream

__all__ = ["Kept", "held_positions"]


@dataclass(frozen=True)
class Kept:
    """Rows of a table with their positions in the stream, in the order of the stream."""

    positions: Indices
    table: pa.Table

    @classmethod
    def none(cls, schema: pa.Schema) -> "Kept":
        """Return no rows."""
        return cls(np.empty(0, dtype=np.int64), pa.Table.from_batches([], schema))

    def joined(self, first: int, rows: pa.RecordBatch) -> "Kept":
        """Return these rows and those of a batch that begins at position `first`."""
        positions = np.concatenate([self.positions, np.arange(first, first + rows.num_rows)])
        return Kept(positions, pa.concat_tables([self.table, pa.Table.from_batches([rows])]))

    def after(self, first: int, rows: pa.RecordBatch, wanted: Indices) -> "Kept":
        """Return the rows at the positions `wanted` (sorted), from these and from a batch that begins at `first`."""
        old = np.flatnonzero(np.isin(self.positions, wanted, assume_unique=True))
        new = wanted[np.searchsorted(wanted, first) :]
        table = pa.concat_tables([self.table.take(pa.array(old)), pa.Table.from_batches([rows.take(pa.array(new - first))])])
        return Kept(np.concatenate([self.positions[old], new]), table)

    def merged(self, other: "Kept", shift: int, wanted: Indices) -> "Kept":
        """Return the rows at the positions `wanted` from both, those of `other` counted from `shift` on."""
        positions = np.concatenate([self.positions, other.positions + shift])
        chosen = np.flatnonzero(np.isin(positions, wanted))
        return Kept(positions[chosen], pa.concat_tables([self.table, other.table]).take(pa.array(chosen)))

    def at(self, positions: Indices) -> pa.Table:
        """Return the rows at some positions, in that order."""
        return self.table.take(pa.array(np.searchsorted(self.positions, positions)))

    def compact(self) -> "Kept":
        """Return the same rows in one piece, laid out in one way whatever batches they came in."""
        whole = self.table.combine_chunks()
        return Kept(self.positions, whole.take(pa.array(np.arange(whole.num_rows))).combine_chunks())


def held_positions(state: Stream) -> Indices:
    """Return the positions of all rows that a stream holds, in order."""
    parts = [state.pending, state.reservoir.rows, state.criticisms.rows, state.background.kept.rows]
    parts += [each.rows for each in state.background.waiting]
    return np.unique(np.concatenate([each.positions for each in parts]))
