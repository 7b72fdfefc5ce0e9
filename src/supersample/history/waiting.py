"""A history before its first rows have fixed how columns become points."""

from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from supersample.errors import InputError
from supersample.history import timeline
from supersample.history.rules import Rules
from supersample.history.timeline import Timeline
from supersample.records.encoding.options import require_column
from supersample.records.encoding.values import is_numeric
from supersample.records.sources.base import Source
from supersample.records.sources.conforming import conformed
from supersample.records.sources.nested import flattened, spread_empty
from supersample.selection.stream.plan import WARM_UP
from supersample.summary import state as states
from supersample.summary.state import Request, WarmUp
from supersample.summary.summarizing import first_state

__all__ = ["Waiting", "check_time"]


@dataclass(frozen=True)
class Waiting:
    """A history until its first rows have fixed how columns become points: the rows wait.

    empty: the state of a summary with encoding and features, if they are known.
    """

    rules: Rules
    request: Request
    empty: WarmUp | None = None
    schema: pa.Schema | None = None
    batches: tuple[pa.RecordBatch, ...] = ()

    @property
    def n_seen(self) -> int:
        """Rows that wait."""
        return sum(each.num_rows for each in self.batches)

    def opened(self, given: Source) -> "Timeline | Waiting":
        """Return the history before the rows of its first source."""
        if self.schema is not None:
            return self
        schema = self.request.options.kept(given.schema) if self.empty is None else self.empty.schema
        check_time(self.rules, schema)
        empty = first_state(given, self.request) if self.empty is None else self.empty
        if empty.maps is None:
            return replace(self, schema=schema)
        return timeline.init(self.rules, empty.request, schema, empty.maps)

    def updated(self, batch: pa.RecordBatch) -> "Timeline | Waiting":
        """Return the history after more rows."""
        assert self.schema is not None
        rest = self.request.options.rest(batch)
        state = self if self.empty is not None else self._with_types_of(rest)
        after = replace(state, batches=(*state.batches, conformed(rest, state.schema)))
        return after if after.n_seen < WARM_UP else after.settled

    def _with_types_of(self, batch: pa.RecordBatch) -> "Waiting":
        """Return the history with the types of a batch for columns that have held nothing but missing values."""
        assert self.schema is not None
        if not any(pa.types.is_null(each) for each in self.schema.types):
            return self
        given = flattened(batch, self.schema).schema
        types = {each.name: each.type for each in given}
        found = pa.schema(
            [
                each.with_type(types.get(each.name, each.type)) if pa.types.is_null(each.type) else each
                for each in spread_empty(self.schema, given)
            ]
        )
        check_time(self.rules, found)
        return replace(self, schema=found, batches=tuple(conformed(each, found) for each in self.batches))

    @cached_property
    def settled(self) -> Timeline:
        """Return the history with encoding and features fixed by the rows that wait."""
        rows = pa.Table.from_batches(self.batches)
        empty = states.learned_from(self.request, [rows.slice(0, WARM_UP)], "the first rows")
        assert empty.maps is not None
        state = timeline.init(self.rules, self.request, rows.schema, empty.maps)
        for batch in self.batches:
            state = timeline.update(state, batch)
        return state


def check_time(rules: Rules, schema: pa.Schema) -> None:
    """Refuse a column of times that the rows do not have, or that does not fit the spans."""
    if rules.time is None:
        return
    require_column(schema, rules.time, "time")
    kind = schema.field(rules.time).type
    if is_numeric(kind) == rules.clock:
        wanted = "a number" if is_numeric(kind) else "a duration such as '1h'"
        raise InputError(f"every must be {wanted} where time names a column of type {kind}, got that of {rules.time!r}")
