"""`supersample watch` as a process: it starts, says where it is, takes rows, and ends cleanly."""

import itertools
import json
import os
import queue
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from live_rows import rows
from live_services import TOKENS, body_of, send
from supersample import History

COMMAND = [sys.executable, "-m", "supersample", "watch"]


class Watching:
    """The command, and the lines of JSON that it has written."""

    def __init__(self, *arguments, stdin=None, environment=None):
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, arguments), "--port", "0", "--json"], stdin=stdin, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env={**os.environ, **(environment or {})},
        )  # fmt: skip

    def event(self, kind):
        """Return the next event of a kind."""
        for line in self.process.stdout:
            found = json.loads(line)
            if found["event"] == kind:
                return found
        raise AssertionError(self.process.stderr.read().decode())

    def end(self, number):
        self.process.send_signal(number)
        return self.process.wait(60)


@pytest.fixture
def watching():
    started = []

    def start(*arguments, **more):
        started.append(Watching(*arguments, **more))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait()
        for pipe in (each.process.stdin, each.process.stdout, each.process.stderr):
            if pipe is not None:
                pipe.close()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_saves_and_ends_when_it_is_told_to(watching, tmp_path, number, status):
    watch = watching("--name", "rides", "--time", "when", "--every", "10s", "-o", tmp_path / "live")
    started = watch.event("started")
    assert started["streams"] == ["rides"]
    with httpx.Client(base_url=started["url"], timeout=60.0, trust_env=False) as client:
        assert client.get("/ready").json() == {"status": "ready"}
        assert send(client, 0).json()["rows"] == 500
        assert watch.end(number) == status
    assert watch.event("stopped")["rows"] == {"rides": 500}
    assert History.load(tmp_path / "live" / "rides" / "history").n_seen == 500
    assert watch.process.stderr.read() == b""


def sent_until_it_is_gone(client, numbers, acknowledged):
    """Send batches, and note each that is acknowledged, until the service is gone."""
    for number in numbers:
        try:
            answer = send(client, number, n=20)
        except httpx.TransportError:
            return
        assert answer.status_code == 200
        acknowledged.put(number)


def test_killed_under_posts_it_has_every_acknowledged_batch_once(watching, tmp_path):
    """Two senders at a time; whatever was acknowledged is known, and what was not is sent again."""
    known, following = set(), 0
    for kill in (True, False):
        watch = watching("--name", "rides", "--time", "when", "--every", "10s", "-o", tmp_path / "live")
        url = watch.event("started")["url"]
        with httpx.Client(base_url=url, timeout=60.0, trust_env=False) as client:
            counted, left_over = divmod(client.get("/streams/rides").json()["rows"], 20)
            assert left_over == 0
            assert len(known) <= counted <= following
            repeated = {number for number in range(following) if send(client, number, n=20).json()["repeated"]}
            assert known <= repeated
            assert len(repeated) == counted
            assert client.get("/streams/rides").json()["rows"] == 20 * following
            known = set(range(following))
            if kill:
                acknowledged = queue.SimpleQueue()
                with ThreadPoolExecutor(2) as pool:
                    senders = [
                        pool.submit(sent_until_it_is_gone, client, itertools.count(following + each, 2), acknowledged)
                        for each in range(2)
                    ]
                    known |= {acknowledged.get(timeout=60) for _ in range(6)}
                    watch.process.kill()
                    for each in senders:
                        each.result()
                while not acknowledged.empty():
                    known.add(acknowledged.get())
                watch.process.wait(60)
                following = max(known) + 3  # each sender may have been at the one after its last


def test_standard_input_is_watched_to_its_end(watching, tmp_path):
    watch = watching(
        "-", "--time", "when", "--every", "10s", "-o", tmp_path / "live", "--fail-on-change", stdin=subprocess.PIPE
    )
    watch.event("started")
    for number in range(50):
        watch.process.stdin.write(body_of(rows(number, shift=2.0 * (number >= 36)), "ndjson")[1])
    watch.process.stdin.close()
    alarm = watch.event("alarm")
    assert (alarm["stream"], alarm["number"]) == ("stream", 1)
    assert "x mean" in alarm["what"]
    assert watch.event("stopped")["rows"] == {"stream": 25_000}
    assert watch.process.wait(60) == 1


def test_a_configuration_with_several_streams_and_tokens(watching, tmp_path):
    (tmp_path / "incoming").mkdir()
    (tmp_path / "live.toml").write_text(
        """
        folder = "state"
        [streams.rides]
        time = "when"
        every = "10s"
        [streams.files]
        time = "when"
        every = "10s"
        drop = ["y"]
        [[streams.files.sources]]
        kind = "folder"
        path = "incoming"
        settle = 0.0
        """
    )
    names = {f"SUPERSAMPLE_{right.upper()}_TOKEN": token for right, token in TOKENS.items()}
    watch = watching("--config", tmp_path / "live.toml", environment=names)
    url = watch.event("started")["url"]
    (tmp_path / "incoming" / "_a").write_bytes(body_of(rows(0), "parquet")[1])
    (tmp_path / "incoming" / "_a").rename(tmp_path / "incoming" / "a.parquet")
    with httpx.Client(base_url=url, timeout=60.0, trust_env=False) as client:
        assert client.get("/streams").status_code == 401
        client.headers["Authorization"] = f"Bearer {TOKENS['send']}"
        assert send(client, 0).json()["rows"] == 500
        client.headers["Authorization"] = f"Bearer {TOKENS['read']}"
        assert send(client, 1).status_code == 403
        while client.get("/streams/files").json()["rows"] < 500:
            pass
    assert watch.end(signal.SIGTERM) == 0
    assert (tmp_path / "state" / "files" / "stream.sqlite").exists()
    assert not any(token.encode() in watch.process.stderr.read() for token in TOKENS.values())


def test_a_port_in_use_is_said(watching, tmp_path):
    first = watching("--every", "10", "-o", tmp_path / "a")
    port = first.event("started")["url"].rsplit(":", 1)[1]
    done = subprocess.run(
        [*COMMAND, "--every", "10", "-o", tmp_path / "b", "--port", port], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "choose another port" in done.stderr
    done = subprocess.run(
        [*COMMAND, "--every", "10", "-o", tmp_path / "a", "--port", "0"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "in use by another run" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Missing option '--every'"),
        (["--every", "1h", "--host", "0.0.0.0"], "it needs tokens"),
        (["--every", "1h", "--name", "A/B"], "must be named by"),
        (["--config", "nowhere.toml"], "must name a readable file"),
        (["--every", "1x"], "every must be"),
        (["--every", "1h", "--time", "when", "--certificate", "nowhere.pem"], "certificate and key"),
    ],
)
def test_what_cannot_be_started_is_said_in_one_line(run, tmp_path, monkeypatch, arguments, told):
    monkeypatch.chdir(tmp_path)
    done = run("watch", *arguments, status=2)
    assert told in done.stderr
    assert "Traceback" not in done.stderr
