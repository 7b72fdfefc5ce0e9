"""What must hold in a state from a file before it is gone on with: request, encoding, history and outcome.

Each check refuses by a ValueError, which `stored.restore` turns into the one error that names the file. A forged state would
otherwise load and fail later, in some matrix routine that knows nothing of files. The limits are far beyond all that can come
about, so that no rounding of another machine is refused. The stream itself is checked in `sound_stream.py`.
"""

from dataclasses import replace

import numpy as np

from supersample._stored import check_fields
from supersample._typing import Floats
from supersample.records.encoding import Encoding, check_columns
from supersample.records.sources.schema import plain_schema
from supersample.selection.stream.plan import WARM_UP, Settings
from supersample.summary.outcome import Outcome, Reading
from supersample.summary.row_store import Kept
from supersample.summary.state import Request, State
from supersample.summary.stream_checks import FURTHEST, MOST, MOST_FEATURES, require, require_plan, require_stream

__all__ = ["require_encoding", "require_kept", "require_outcome", "require_request", "require_state"]

#: Shares sum to one but for rounding.
_ROUNDING = 1e-6


def require_request(request: Request, kept: Kept) -> None:
    """Refuse what could not have been asked for of such rows."""
    schema = kept.table.schema
    require(plain_schema(schema, "the table").equals(schema), "the table has columns of types that are not read")
    _require_settings(request.settings)
    check_columns(schema, request.columns, request.weight)


def require_kept(kept: Kept) -> None:
    """Refuse rows that do not stand in the order of a stream."""
    positions = kept.positions
    require(positions.dtype == np.int64 and positions.shape == (kept.table.num_rows,), "rows and positions differ in number")
    require(bool((np.diff(positions) > 0).all()), "positions are out of order")
    require(positions.size == 0 or 0 <= positions[0] <= positions[-1] < MOST, "rows stand where no stream reaches")


def require_encoding(encoding: Encoding, state: State) -> None:
    """Refuse an encoding that is not one of the table's columns, or whose numbers are not."""
    schema = state.schema
    for each in (encoding, *encoding.blocks, *encoding.notes):
        check_fields(each)
    encoding.check(schema)
    require(encoding.weight_column == state.request.weight, "encoding and request differ in the column of weights")
    require([note.name for note in encoding.notes] == schema.names, "the notes are not those of the table's columns")
    used = {block.name: (block.called, block.width, block.weight) for block in encoding.blocks}
    for note in encoding.notes:
        left = ("weight" if note.name == encoding.weight_column else "left out", 0, 0.0)
        told = (note.kind, note.width, note.weight)
        require(told == used.get(note.name, left), "notes and encoding differ in a column")


def require_state(state: State, points: Floats) -> None:
    """Refuse a state whose parts do not fit together; `points` are those of its kept rows."""
    kept, encoding, held = state.kept, state.encoding, state.stream
    _require_history(state)
    if encoding is None:
        require(state.plan is None and held is None, "there are features without an encoding")
        waiting = kept.positions
        require(waiting.size < WARM_UP and np.array_equal(waiting, np.arange(waiting.size)), "rows that wait are missing")
        return
    for plan in (state.plan, None if held is None else held.plan):
        if plan is not None:
            require_plan(plan, encoding.reach())
    if held is None:
        require(kept.positions.size == 0, "rows wait for an encoding that is there")
        return
    require(bool((np.abs(points) <= encoding.reach() * (1.0 + _ROUNDING)).all()), "points lie beyond what their encoding gives")
    asked = state.request.settings
    _require_settings(held.settings)
    require(replace(held.settings, seed=asked.seed, stream=asked.stream) == asked, "stream and request differ in settings")
    require(held.width == encoding.width, "encoding and stream differ in width")
    require_stream(held, kept.positions)


def require_outcome(outcome: Outcome, state: State) -> None:
    """Refuse an outcome that is not one of a settled state."""
    kept, held = state.kept, state.stream
    assert held is not None
    assert held.plan is not None
    groups = (
        (outcome.prototypes, (outcome.shares, outcome.quadrature)),
        (outcome.criticisms, (outcome.witness, outcome.nearest, outcome.criticism_shares)),
        (outcome.background, (outcome.background_shares,)),
    )
    for positions, values in groups:
        require(bool(np.isin(positions, kept.positions).all()), "the outcome names rows that the file does not hold")
        require(positions.ndim == 1 and all(each.shape == positions.shape for each in values), "the outcome is incomplete")
        require(np.unique(positions).size == positions.size, "the outcome names a row twice")
        require(all(bool(np.isfinite(each).all()) for each in values), "the outcome has numbers that are not finite")
    require(bool((np.diff(outcome.prototypes) > 0).all()), "the prototypes are out of order")
    require(0 < outcome.prototypes.size <= held.settings.n_prototypes, "the outcome has an impossible number of prototypes")
    require(outcome.criticisms.size <= held.settings.n_criticisms, "the outcome has more criticisms than were asked for")
    inside = (outcome.nearest >= 0) & (outcome.nearest < outcome.prototypes.size)
    require(bool(inside.all()), "the outcome names prototypes that there are not")
    for shares in (outcome.shares, outcome.background_shares):
        require(bool((shares >= 0).all()) and abs(float(shares.sum()) - 1.0) <= _ROUNDING, "shares do not sum to one")
    parts = outcome.criticism_shares
    require(bool(((parts >= 0) & (parts <= 1.0 + _ROUNDING)).all()), "the criticisms have impossible shares")
    size = float(np.abs(outcome.quadrature).sum())
    require(size <= FURTHEST and abs(float(outcome.quadrature.sum()) - 1.0) <= _ROUNDING * size, "weights do not sum to one")
    k0 = held.plan.kernel.k0
    require(bool((np.abs(outcome.witness) <= FURTHEST * k0).all()), "the witness is larger than its kernel")
    _require_reading(Reading(held.n_seen, outcome.mmd, outcome.error, outcome.random_mmd), float(np.sqrt(k0)))
    require(0 <= outcome.energy <= 1.0 + 1e-3, "the energy is no share")


def _require_settings(settings: Settings) -> None:
    sizes = (settings.n_prototypes - 1, settings.n_criticisms, settings.stream)
    require(all(0 <= each < MOST for each in sizes), "the settings are impossible")
    require(min(settings.seed.entropy, *settings.seed.path, 0) >= 0, "the seed is impossible")
    n_features = settings.n_features
    require(n_features is None or 1 <= n_features <= MOST_FEATURES, "the number of features is impossible")


def _require_history(state: State) -> None:
    rows = [each.rows for each in state.history]
    require(rows == sorted(set(rows)) and all(0 < each <= state.n_seen for each in rows), "the history is impossible")
    for each in state.history:
        _require_reading(each, np.inf)


def _require_reading(reading: Reading, k0_root: float) -> None:
    numbers = [reading.mmd, reading.random_mmd]
    numbers += [] if np.isnan(reading.error) else [reading.error]  # some features tell no error
    require(all(np.isfinite(each) and 0 <= each <= FURTHEST * k0_root for each in numbers), "an MMD is impossible")
