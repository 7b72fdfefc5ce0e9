"""From the stream of the host to that of a device and back: which of the two takes in rows, and which is read."""

from dataclasses import replace

import numpy as np

from supersample._typing import Floats
from supersample.device.arrays import Array, Home
from supersample.device.checks import refuse
from supersample.embedding import decay
from supersample.embedding.moments import ScaledWeights
from supersample.selection.stream import lifecycle
from supersample.selection.stream.on_device import StreamOnDevice, as_stream, of_stream, refuse_options, update
from supersample.selection.stream.plan import WARM_UP
from supersample.selection.stream.rows_on_device import RowsOnDevice
from supersample.selection.stream.state import Stream

__all__ = ["has_weight", "on_host", "take_in"]


def take_in(
    state: Stream | StreamOnDevice, points: Array, weights: ScaledWeights | None, times: Floats | None, home: Home
) -> Stream | StreamOnDevice:
    """Return the stream after more rows that lie on a device; weights: None if all are one.

    Until bandwidth and maps are fixed, rows wait on the host; then the stream goes there.
    """
    n_rows, start = int(points.shape[0]), 0
    base = state if isinstance(state, Stream) else state.base
    if base.decay is not None:
        given = weights or ScaledWeights(np.full(n_rows, 0.5), np.ones(n_rows, dtype=np.int64))
        clock, weights = decay.weigh(base.decay, given, state.n_seen, times)
        base = replace(base, decay=clock)
        state = base if isinstance(state, Stream) else replace(state, base=base)
    rows = RowsOnDevice(points, np.arange(n_rows, dtype=np.int64), weights)
    if isinstance(state, Stream):
        refuse_options(state.settings, home)
        if state.aim is not None:
            refuse(home, "target of SuperSampler", "leave it out, or pass NumPy arrays")
        while state.plan is None and start < n_rows:
            stop = min(n_rows, start + WARM_UP - len(state.pending))
            state = lifecycle.arrived(state, rows.part(start, stop).of_host(np.arange(stop - start), home).shifted(-start))
            start = stop
        if state.plan is None:
            return state
        state = of_stream(state, home, points.dtype)
    rest = rows.part(start, n_rows)
    rest = replace(rest, positions=rest.positions - start)
    if rest.weights is not None:
        some = np.flatnonzero(rest.weights.mantissas > 0)
        if some.size < rest.positions.size:
            kept = home.xp.take(rest.points, home.array(some), axis=0)
            rest = RowsOnDevice(kept, rest.positions[some], rest.scaled(some))
    reach = float(home.xp.max(home.xp.abs(points)))
    return update(state, rest, n_rows - start, reach)


def on_host(state: Stream | StreamOnDevice) -> Stream:
    """Return the stream as that of the host."""
    return state if isinstance(state, Stream) else as_stream(state)


def has_weight(state: Stream | StreamOnDevice) -> bool:
    """Return whether any row of positive weight was seen."""
    return True if isinstance(state, StreamOnDevice) else lifecycle.has_weight(state)
