"""Messages of Kafka topics. Partitions are assigned, never subscribed to, and offsets live in the state of the stream."""

import time
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from supersample._text import plural
from supersample.errors import InputError
from supersample.live.batch import Unread
from supersample.live.sources.kafka_settings import KafkaSettings, kafka_settings
from supersample.live.sources.messages import Message, Position, Reader, after
from supersample.live.sources.protocol import Context, SourceError, Step

__all__ = ["Kafka", "source"]

#: Messages that are asked for at a time, and seconds until those that have come are taken.
_MESSAGES, _SECONDS = 5_000, 0.1
#: Seconds for an answer of a broker, and between two looks at which partitions there are.
_PATIENCE, _LOOK = 5.0, 30.0
#: Errors of a group that has other members.
_MEMBERS = ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS", "FENCED_INSTANCE_ID", "STALE_MEMBER_EPOCH")


class Kafka:
    """Topics of Kafka, all partitions of each; the position is the offset that comes next in each partition.

    A partition that appears later is read from its beginning. Messages that were removed before they were read are set aside as
    one entry that says how many. An offset behind the end, that of a topic that was made again, is refused.
    """

    wants_end = False

    def __init__(self, settings: KafkaSettings, context: Context, look: float = _LOOK) -> None:
        self._settings, self._context, self._look = settings, context, look
        self._reader = Reader(context, settings.form, settings.header, settings.timestamp)
        self._closed = False
        #: Why nothing can come, as the library said it.
        self._away = ""
        self._client().close()  # settings that the library refuses are an error now, and not every minute

    def steps(self, position: Any) -> Iterator[Step]:
        """Yield the messages after a position; None where there are none."""
        from confluent_kafka import KafkaException

        self._away = ""
        client = self._client()
        try:
            yield from self._steps(client, dict(position or {}), first=position is None)
        except KafkaException as error:
            client.poll(0)  # what the library noted meanwhile says more than that there was no answer
            raise SourceError(f"Kafka: {self._away or _said(error.args[0])}") from error
        finally:
            client.close()

    def _client(self) -> Any:
        from confluent_kafka import Consumer, KafkaException

        try:
            return Consumer({**self._settings.client, "error_cb": self._failed})
        except KafkaException as error:
            raise InputError(f"the settings of Kafka must be those of librdkafka: {_said(error.args[0])}") from error

    def _failed(self, error: Any) -> None:
        """Note an error that is of no message: it is in the way if no broker is left, or none lets us in."""
        if error.fatal() or error.name() in ("_ALL_BROKERS_DOWN", "_AUTHENTICATION", "_SSL"):
            self._away = _said(error)

    def _steps(self, client: Any, position: Position, *, first: bool) -> Iterator[Step]:
        known: set[tuple[str, int]] = set()
        look_at = 0.0
        while not self._closed:
            if time.monotonic() >= look_at:
                position, lost = self._assigned(client, position, known, first=first)
                yield from lost
                if self._settings.group:
                    yield None  # after it, all that was given is durable
                    self._commit(client, position)
                first, look_at = False, time.monotonic() + self._look
            messages, trouble = self._messages(client, position)
            yield from self._reader.batches(messages, position)
            position = after(position, messages)
            if trouble or self._away:
                raise SourceError(f"Kafka: {trouble or self._away}")
            if not messages:
                yield None

    def _messages(self, client: Any, position: Position) -> tuple[list[Message], str]:
        """Return messages that have come and hold a value, and what went wrong with a partition; empty if nothing did."""
        found, trouble = [], ""
        for each in client.consume(_MESSAGES, _SECONDS):
            error, value = each.error(), each.value()
            if error is not None:
                if not (error.name() == "GROUP_AUTHORIZATION_FAILED" and not self._settings.group):
                    trouble = _said(error)
            elif value is not None and each.offset() >= position[each.topic()][str(each.partition())]:
                found.append(Message(each.topic(), each.partition(), each.offset(), value, max(each.timestamp()[1], 0)))
        return found, trouble

    def _assigned(
        self, client: Any, position: Position, known: set[tuple[str, int]], *, first: bool
    ) -> tuple[Position, list[Unread]]:
        """Begin to read partitions that are not read yet, and note them as known; return the position, and what is lost."""
        from confluent_kafka import TopicPartition

        new, lost = [], []
        position = _copy(position)  # batches on their way hold the one before
        for topic, number in self._partitions(client):
            if (topic, number) in known:
                continue
            low, high = client.get_watermark_offsets(TopicPartition(topic, number), timeout=_PATIENCE)
            at = position.setdefault(topic, {}).get(str(number))
            if at is None:
                at = high if first and self._settings.start == "end" else low
                position[topic][str(number)] = at
                if not first:
                    self._context.told(f"partition {number} of {topic!r} is new, and is read from its beginning")
            elif at > high:
                raise SourceError(
                    f"partition {number} of {topic!r} ends at offset {high:,}, and was read up to {at:,}: the topic was made "
                    f"again, or its brokers have lost messages; to read all that it holds, give the source another name"
                )
            elif at < low:
                lost.append((topic, number, at, low))
            new.append(TopicPartition(topic, number, max(at, low)))
        if new:
            client.incremental_assign(new)
            known.update((each.topic, each.partition) for each in new)
        steps = []
        for topic, number, start, end in lost:
            position = _copy(position)
            position[topic][str(number)] = end
            steps.append(self._lost(topic, number, start, end, position))
        return position, steps

    def _lost(self, topic: str, number: int, start: int, end: int, position: Position) -> Unread:
        reason = (
            f"{plural(end - start, 'message')} of partition {number} of {topic!r} (offsets {start:,} to {end - 1:,}) were "
            f"removed by Kafka before they were read, and are lost"
        )
        return Unread(f"lost {topic}:{number}:{start}-{end - 1}", reason, b"", self._context.name, position, plain=True)

    def _partitions(self, client: Any) -> list[tuple[str, int]]:
        found = []
        for topic in self._settings.topics:
            about = client.list_topics(topic, timeout=_PATIENCE).topics[topic]
            if about.error is not None:
                raise SourceError(f"Kafka: topic {topic!r}: {_said(about.error)}")
            found += [(topic, number) for number in sorted(about.partitions)]
        return found

    def _commit(self, client: Any, position: Position) -> None:
        """Write offsets to the group, for those who watch it; refuse a group that others read by."""
        from confluent_kafka import KafkaException, TopicPartition

        offsets = [
            TopicPartition(topic, int(number), at)
            for topic in self._settings.topics
            for number, at in position.get(topic, {}).items()
        ]
        try:
            client.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            if error.args[0].name() in _MEMBERS:
                raise SourceError(
                    f"the group {self._settings.group!r} has other consumers; this source takes all partitions itself and "
                    f"joins no group, so give it a group that nobody reads by, or none"
                ) from error
            raise

    def close(self) -> None:
        """Read no more."""
        self._closed = True


def _copy(position: Position) -> Position:
    return {topic: dict(each) for topic, each in position.items()}


def _said(error: Any) -> str:
    return " ".join(str(error.str()).split()).rstrip(".")


def source(options: Mapping[str, Any], context: Context) -> Kafka:
    """Return topics of Kafka as a source; `kafka_settings` says what the options are."""
    if find_spec("confluent_kafka") is None:
        raise InputError("a source of kind 'kafka' needs confluent-kafka; install it with: pip install 'supersample[kafka]'")
    return Kafka(kafka_settings(options), context)
