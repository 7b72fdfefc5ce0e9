"""Kafka brokers inside this process: librdkafka's mock cluster, which keeps about five megabytes of a partition.

The Python client has no functions for it, so its library is asked directly.
"""

import ctypes
from pathlib import Path

import confluent_kafka

__all__ = ["Cluster"]


def _library():
    folder = Path(confluent_kafka.__file__).parent
    for place in (folder.parent / "confluent_kafka.libs", folder / ".dylibs", folder):
        for path in sorted(place.glob("*rdkafka*")):
            if "++" not in path.name and path.is_file():
                return ctypes.CDLL(str(path))
    return ctypes.CDLL("librdkafka.so.1")


class Cluster:
    """Brokers, their topics, and a producer; `close` ends them."""

    def __init__(self, brokers=1):
        self._functions = library = _library()
        for name in ("conf_new", "new", "mock_cluster_new", "mock_cluster_bootstraps"):
            getattr(library, f"rd_kafka_{name}").restype = ctypes.c_void_p
        error = ctypes.create_string_buffer(512)
        conf = ctypes.c_void_p(library.rd_kafka_conf_new())
        self._handle = ctypes.c_void_p(library.rd_kafka_new(0, conf, error, 512))
        self._cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(self._handle, brokers))
        address = ctypes.cast(library.rd_kafka_mock_cluster_bootstraps(self._cluster), ctypes.c_char_p)
        self.servers = address.value.decode()
        self.brokers = brokers
        #: For each topic and partition, the offset after the last message that has a value, if this one wrote all of them.
        self.ends, self.written = {}, {}
        self.producer = confluent_kafka.Producer({"bootstrap.servers": self.servers, "linger.ms": 2})

    def _asked(self, name, *arguments):
        code = getattr(self._functions, f"rd_kafka_mock_{name}")(self._cluster, *arguments)
        assert code == 0, f"{name}: error {code}"

    def has(self, name):
        """Return whether this version of the library has a function of its mock cluster."""
        return hasattr(self._functions, f"rd_kafka_mock_{name}")

    def create(self, topic, partitions=1):
        """Make a topic."""
        self._asked("topic_create", topic.encode(), ctypes.c_int(partitions), ctypes.c_int(1))

    def delete(self, topic):
        """Remove a topic with all that it holds."""
        self._asked("topic_delete", topic.encode())

    def forget(self, topic, partition, before):
        """Remove messages, as retention does."""
        self._asked("partition_delete_records", topic.encode(), ctypes.c_int32(partition), ctypes.c_int64(before))

    def set_down(self):
        """Let no broker answer, and drop their connections."""
        for number in range(self.brokers):
            self._asked("broker_set_down", ctypes.c_int32(number + 1))

    def set_up(self):
        """Let the brokers answer again."""
        for number in range(self.brokers):
            self._asked("broker_set_up", ctypes.c_int32(number + 1))

    def produce(self, topic, values, partition=0, **more):
        """Write messages, and wait until they are there."""
        end = self.written.get((topic, partition), 0)
        for number, value in enumerate(values, end + 1):
            self.producer.produce(topic, value, partition=partition, **more)
            self.written[topic, partition] = number
            if value is not None:
                self.ends[topic, partition] = number
        assert self.producer.flush(30) == 0

    def close(self):
        """End the brokers."""
        self.producer.flush(5)
        del self.producer
        self._functions.rd_kafka_mock_cluster_destroy(self._cluster)
        self._functions.rd_kafka_destroy(self._handle)
