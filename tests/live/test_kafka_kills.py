"""Killed at any moment, a service over Kafka has counted every message once."""

import json
import multiprocessing
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress

import numpy as np
import pytest

pytest.importorskip("confluent_kafka")

from kafka_cluster import Cluster
from kafka_service import HISTORY, run
from live_rows import close
from supersample.live.settings import Limits, StreamSettings
from supersample.live.stream import Stream

PARTITIONS = 3
#: Between two messages, in microseconds.
STEP = 50_000
START = np.datetime64("2026-03-02T00:00:00", "us")


def produce(cluster, start, end):
    for number in range(start, end):
        when = str(START + np.timedelta64(number * STEP, "us"))
        cluster.producer.produce("rides", b'{"when": "%s", "x": %d.5}' % (when.encode(), number), partition=number % PARTITIONS)
    assert cluster.producer.flush(30) == 0


def started(folder, cluster, save_seconds, apart):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["kafka_service", "supersample.summary.comparing"])
    told, theirs = context.Pipe()
    arguments = (str(folder), cluster.servers, ["rides"], save_seconds, theirs)
    process = context.Process(target=run, args=arguments, kwargs={"apart": apart})
    process.start()
    theirs.close()
    return process, told


def seen(told, wanted, seconds=120.0):
    """Return the number of rows that a process has told, once it is what is wanted, or the process has ended."""
    found, end = 0, time.monotonic() + seconds
    with suppress(EOFError, ConnectionResetError):
        while found < wanted and time.monotonic() < end:
            if told.poll(0.5):
                found = told.recv()
    return found


def rows_of(url):
    with urllib.request.urlopen(url + "/streams/rides", timeout=30) as answer:
        return json.load(answer)["rows"]


def test_the_command_reads_a_topic(tmp_path):
    cluster = Cluster()
    try:
        cluster.create("rides", PARTITIONS)
        produce(cluster, 0, 900)
        command = [
            sys.executable, "-m", "supersample", "watch", "--kafka", f"{cluster.servers}/rides", "--name", "rides", "--time",
            "when", "--every", "10s", "--seed", "0", "--port", "0", "--json", "-o", str(tmp_path),
        ]  # fmt: skip
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            url = json.loads(process.stdout.readline())["url"]
            end = time.monotonic() + 120.0
            while rows_of(url) < 900 and time.monotonic() < end:
                time.sleep(0.1)
            process.terminate()
            process.communicate(timeout=60)
        assert process.returncode == 0
    finally:
        cluster.close()
    check_once(tmp_path, 900, "kafka")


def check_once(folder, n, source="log"):
    """Each message from 0 to n is in the history of a folder once: in number, in every span, and in its moments."""
    stream = Stream(StreamSettings("rides", HISTORY), folder / "rides", Limits())
    try:
        history = stream.history
        assert history.n_seen == n
        step = np.timedelta64(STEP, "us")
        for block in history.blocks.to_pylist():
            start, end = (-((START - np.datetime64(block[side], "us")) // step) for side in ("start", "end"))
            assert block["rows"] == min(end, n) - max(start, 0)
        (row,) = [each for each in history.between().profile.to_pylist() if each["name"] == "x"]
        assert row["count"] == n
        assert row["mean"] == pytest.approx((n - 1) / 2 + 0.5, rel=1e-12)
        assert row["sd"] == pytest.approx(np.arange(n).std(ddof=1), rel=1e-9)
        assert stream.ledger.positions()[source]["rides"] == {
            str(number): len(range(number, n, PARTITIONS)) for number in range(PARTITIONS)
        }
        assert stream.ledger.counts()["aside"] == 0
    finally:
        close(stream)


def killed_often(folder, kills, each, *, apart):
    """Kill a service so often. apart: by how many kills those are apart of a service that decodes in processes, which are slow.

    The others decode in the process that is killed.
    """
    rng = np.random.default_rng(0)
    cluster, made, hits = Cluster(), 0, 0
    try:
        cluster.create("rides", PARTITIONS)
        before = 0
        for number in range(kills):
            produce(cluster, made, made + each)
            made += each
            process, told = started(folder, cluster, float(rng.choice([0.0, 0.02, 60.0])), number % apart == 0)
            before = seen(told, before + int(rng.integers(1, each)))
            time.sleep(rng.uniform(0.0, 0.03))
            process.kill()
            process.join()
            hits += process.exitcode == -9
        process, told = started(folder, cluster, 5.0, apart=False)
        assert seen(told, made) == made
        told.send("stop")
        process.join(60)
        assert process.exitcode == 0
    finally:
        cluster.close()
    assert hits == kills
    return made


@pytest.mark.once
def test_twenty_kills_lose_and_double_no_message(tmp_path):
    check_once(tmp_path, killed_often(tmp_path, 20, 300, apart=10))


@pytest.mark.level
def test_two_hundred_kills_lose_and_double_no_message(tmp_path):
    check_once(tmp_path, killed_often(tmp_path, 200, 400, apart=1))
