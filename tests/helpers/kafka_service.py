"""A process that runs the service over topics of Kafka, in small batches, and tells how many rows it has."""

import threading
from pathlib import Path

import supersample.live.service  # loaded once, before processes are made of this one
from supersample.live.decoding import DecodingError
from supersample.live.decoding.formats import Bounds, decoded
from supersample.live.settings import Limits, ServiceSettings, SourceSettings, StreamSettings
from supersample.live.sources import kafka

__all__ = ["Here", "run", "settings"]

HISTORY = {"time": "when", "every": "10s", "random_state": 0}


class Here:
    """Decodes in this process, which saves the start of another one."""

    def __init__(self, limits=None):
        pass

    def decode(self, body, form, encoding="", known=None):
        """Return the rows of a body."""
        try:
            return decoded(bytes(body), form, encoding, known, Bounds(1 << 28, 100, 1_000_000))
        except Exception as error:
            raise DecodingError(str(error)) from error

    def close(self):
        """Do nothing: nothing is open."""


def settings(folder, servers, topics, save_seconds=5.0, **options):
    """Return those of a service with one stream, fed from Kafka."""
    source = SourceSettings("log", "kafka", {"servers": servers, "topics": topics, **options})
    stream = StreamSettings("rides", HISTORY, (source,), save_seconds=save_seconds)
    return ServiceSettings(Path(folder), (stream,), limits=Limits(decoders=1))


def run(folder, servers, topics, save_seconds, told, *, apart=False):
    """Run until a message comes; tell the number of rows whenever it has grown. apart: whether to decode in processes."""
    kafka._MESSAGES = 40
    if not apart:
        supersample.live.service.Decoders = Here
    service = supersample.live.service.Service(settings(folder, servers, topics, save_seconds))
    stopping = threading.Event()

    def tell():
        last = -1
        while not stopping.wait(0.002):
            now = service.streams["rides"].history.n_seen
            if now != last:
                told.send(now)
                last = now

    service.start()
    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    told.recv()
    stopping.set()
    teller.join()
    service.stop()
    told.close()
