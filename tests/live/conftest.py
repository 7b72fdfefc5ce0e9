"""Streams in a folder, and a service that runs in this process."""

import pytest
from click.testing import CliRunner

from live_rows import close
from live_services import client_of, running, send, settings_of
from supersample.cli.group import group
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


@pytest.fixture(scope="session")
def watched(tmp_path_factory):
    """A service with a stream that changed in the middle, and one that has no rows; nobody adds rows to them."""
    history = {"time": "when", "every": "10s", "random_state": 0, "prototypes": 5, "criticisms": 2}
    streams = [StreamSettings("rides", history, title="<b>Rides</b>"), StreamSettings("empty", history)]
    with running(settings_of(tmp_path_factory.mktemp("watched"), *streams)) as service:
        with client_of(service) as client:
            for number in range(50):
                assert send(client, number, shift=2.0 * (number >= 36)).status_code == 200
        yield service


@pytest.fixture
def client(watched):
    """A client of that service."""
    with client_of(watched) as found:
        yield found


@pytest.fixture
def run():
    """Run a command in this process, and check its status."""

    def call(*arguments, status=0):
        done = CliRunner().invoke(group, [str(each) for each in arguments])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == status, done.output
        return done

    return call
