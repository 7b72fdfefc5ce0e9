"""Streams in a folder, and a service that runs in this process."""

import pytest

from live_rows import close
from supersample.live.settings import Limits, StreamSettings
from supersample.live.stream import Stream


@pytest.fixture
def opened(tmp_path):
    """Open a stream in a folder; all are closed at the end of the test."""
    streams = []

    def open_one(name="rides", limits=None, sources=(), save_seconds=5.0, folder=None, **history):
        settings = StreamSettings(name, {"time": "when", "every": "10s", **history}, sources, save_seconds=save_seconds)
        stream = Stream(settings, (folder or tmp_path) / name, limits or Limits())
        streams.append(stream)
        return stream

    yield open_one
    for each in streams:
        close(each)
