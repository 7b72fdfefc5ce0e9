"""Messages of a log become batches; one that cannot be used is found by halves and set aside, and the others go on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from supersample.live.batch import Batch, Unread
from supersample.live.decoding import DecodingError
from supersample.live.sources.protocol import Context

__all__ = ["Message", "Position", "Reader", "after"]

#: For each topic and partition, both as text, the offset of the message that comes next.
Position = dict[str, dict[str, int]]


class Message(NamedTuple):
    """A message that has a value. written: when, in milliseconds since 1970."""

    topic: str
    partition: int
    offset: int
    value: bytes
    written: int


def after(position: Position, messages: Sequence[Message]) -> Position:
    """Return the position after messages, which stand in the order of their offsets."""
    found = dict(position)
    for topic in {each.topic for each in messages}:
        found[topic] = dict(found.get(topic, {}))
    for each in messages:
        found[each.topic][str(each.partition)] = each.offset + 1
    return found


@dataclass(frozen=True)
class Reader:
    """How values of messages are read.

    form: a format of `decoding.formats`. header: what stands before the lines of CSV. written: the column that gets the time
    at which a message was written; empty for none. largest: bytes of values that are read together.
    """

    context: Context
    form: str
    header: bytes = b""
    written: str = ""
    largest: int = 8 << 20

    def batches(self, messages: Sequence[Message], position: Position) -> Iterator[Batch | Unread]:
        """Yield the rows of messages, in their order, each batch with the position after it."""
        for some in self._together(messages):
            yield from self._read(some, position)
            position = after(position, some)

    def _together(self, messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
        """Yield what is decoded together: lines of text up to a size; a table stands alone."""
        if self.form not in ("ndjson", "csv"):
            yield from ([each] for each in messages)
            return
        start = size = 0
        for place, each in enumerate(messages):
            if place > start and size + len(each.value) > self.largest:
                yield messages[start:place]
                start, size = place, 0
            size += len(each.value) + 1
        if start < len(messages):
            yield messages[start:]

    def _read(self, messages: Sequence[Message], position: Position) -> Iterator[Batch | Unread]:
        name, next_position = self.context.name, after(position, messages)
        try:
            table = self._table(messages)
        except DecodingError as error:
            if len(messages) > 1:
                yield from self._halves(messages, position)
                return
            reason = f"{_place(messages[0])}: {error}"
            yield Unread(_id(messages), reason, messages[0].value, name, next_position, plain=error.plain)
            return

        def parts() -> Iterator[Batch | Unread]:
            return self._halves(messages, position)

        filled, smaller = self.form in ("ndjson", "csv"), parts if len(messages) > 1 else None
        yield Batch(_id(messages), table, name, next_position, filled=filled, parts=smaller)

    def _halves(self, messages: Sequence[Message], position: Position) -> Iterator[Batch | Unread]:
        middle = len(messages) // 2
        yield from self._read(messages[:middle], position)
        yield from self._read(messages[middle:], after(position, messages[:middle]))

    def _table(self, messages: Sequence[Message]) -> pa.Table:
        """Return the rows of messages; refuse them if they may have run into each other."""
        text = self.form in ("ndjson", "csv")
        known = self.context.schema() if text else None
        if known is not None and self.written in known.names:
            known = known.remove(known.get_field_index(self.written))
        body = self.header + b"\n".join(each.value for each in messages) + b"\n" * text
        table = self.context.decoders.decode(body, self.form, "", known)
        if len(messages) == 1:
            counts = [table.num_rows]
        elif table.num_rows == len(messages):
            counts = [1] * len(messages)
        else:
            counts = [each.value.strip().count(b"\n") + 1 for each in messages]
            if sum(counts) != table.num_rows:
                raise DecodingError("a value is no whole row")
        return self._with_times(table, messages, counts) if self.written else table

    def _with_times(self, table: pa.Table, messages: Sequence[Message], counts: Sequence[int]) -> pa.Table:
        if self.written in table.column_names:
            raise DecodingError(
                f"it has a column {self.written!r} of its own; let timestamp name another column for the time of a message"
            )
        times = [each.written for each, count in zip(messages, counts, strict=True) for _ in range(count)]
        return table.append_column(self.written, pa.array(times, pa.timestamp("ms", "UTC")))


def _id(messages: Sequence[Message]) -> str:
    """Return topic, partition, first and last offset of messages; the same messages have the same one."""
    spans: dict[tuple[str, int], list[Any]] = {}
    for each in messages:
        spans.setdefault((each.topic, each.partition), [each.offset, 0])[1] = each.offset
    return ",".join(f"{topic}:{number}:{first}-{last}" for (topic, number), (first, last) in sorted(spans.items()))


def _place(message: Message) -> str:
    return f"message {message.offset} of partition {message.partition} of {message.topic!r}"
