"""What Prometheus collects. Labels are names of streams and of sources, never values of data."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from supersample.live.verdict import status_of

if TYPE_CHECKING:
    from supersample.live.service import Service

__all__ = ["Metrics"]

#: Gauges and counters of a stream: their names, what they say, and the field of the status that they show.
_GAUGES = (
    ("evidence", "Evidence of a change of content, over the alarm threshold", "evidence"),
    ("volume_evidence", "Evidence of a change of volume, over the alarm threshold", "volume_evidence"),
    ("open_alarms", "Alarms that nobody has dealt with", "open_alarms"),
    ("waiting_rows", "Rows that wait to be taken in", "waiting_rows"),
    ("logged_batches", "Acknowledged batches that the saved history does not hold yet", "logged_batches"),
    ("last_received_seconds", "When a batch came last, in seconds since 1970", "last_received"),
)
_COUNTERS = (
    ("rows", "Rows taken in", "rows"),
    ("late_rows", "Rows that came after their block was closed", "late_rows"),
    ("ticks", "Blocks of time that were closed", "ticks"),
    ("alarms", "Alarms raised", "alarms"),
    ("batches_set_aside", "Batches that could not be used", "aside"),
)
#: Counters of deliveries: their names, what they say, and the field of the webhooks that they show.
_WEBHOOKS = (
    ("webhook_failures", "Attempts to deliver an alarm that failed", "failures"),
    ("webhook_given_up", "Deliveries of alarms that were given up", "given_up"),
    ("webhook_errors", "Errors of the service while it delivered alarms", "errors"),
)


class Metrics:
    """Reads the metrics at the moment when they are collected, and counts answers by status."""

    def __init__(self, service: "Service") -> None:
        self._service = service
        self._answers: dict[tuple[str, int], int] = {}

    def expect(self, endpoint: str, status: int) -> None:
        """Show how many answers there were, also while there are none."""
        self._answers.setdefault((endpoint, status), 0)

    def answered(self, endpoint: str, status: int) -> None:
        """Count an answer; endpoint: the name of one of the registry."""
        key = endpoint, status
        self._answers[key] = self._answers.get(key, 0) + 1

    def text(self) -> tuple[bytes, str]:
        """Return the metrics in the format of Prometheus, and its media type."""
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        return generate_latest(registry), CONTENT_TYPE_PLAIN_0_0_4

    def collect(self) -> Iterator[Any]:
        """Yield the metrics, as a registry of prometheus_client asks for them."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        found = [status_of(each) for each in self._service.streams.values()]
        for families, kind in ((_GAUGES, GaugeMetricFamily), (_COUNTERS, CounterMetricFamily)):
            for name, about, field in families:
                family = kind(f"supersample_{name}", about, labels=["stream"])
                for each in found:
                    if each[field] is not None:
                        family.add_metric([each["name"]], float(each[field]))
                yield family
        changed = GaugeMetricFamily("supersample_changed", "1 while an alarm stands, else 0", labels=["stream"])
        ready = GaugeMetricFamily("supersample_stream_up", "1 while rows are taken in, else 0", labels=["stream"])
        for each in found:
            changed.add_metric([each["name"]], float(each["verdict"] == "changed"))
            ready.add_metric([each["name"]], float(not each["trouble"]))
        answers = CounterMetricFamily("supersample_answers", "Answers by HTTP", labels=["endpoint", "status"])
        for (endpoint, status), count in sorted(self._answers.items()):
            answers.add_metric([endpoint, str(status)], float(count))
        sources = GaugeMetricFamily("supersample_source_up", "1 while a source answers, else 0", labels=["stream", "source"])
        for feed in self._service.feeds:
            sources.add_metric([feed.stream, feed.name], float(not feed.trouble))
        yield from (changed, ready, answers, sources)
        for metric, about, field in _WEBHOOKS:
            family = CounterMetricFamily(f"supersample_{metric}", about, labels=["stream"])
            for name, times in getattr(self._service.webhooks, field).items():
                family.add_metric([name], float(times))
            yield family
