"""The command as a process: pipes, signals, exit status."""

import contextlib
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

COMMAND = [sys.executable, "-m", "supersample"]


def test_version_and_usage():
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"supersample, version \S+\n", done.stdout)
    assert subprocess.run([*COMMAND, "dance"], capture_output=True, check=False).returncode == 2


def test_standard_input_is_read_to_its_end(data, tmp_path):
    text = tmp_path / "a.csv"
    pyarrow.csv.write_csv(pq.read_table(data / "a.parquet"), text)
    command = [*COMMAND, "summarize", "-", "-p", "3", "--json"]
    with text.open("rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=True)
    assert '"n_seen": 600' in done.stdout
    assert '"source": "standard input"' in done.stdout
    assert done.stderr == ""


def interrupt(process):
    """Press Ctrl-C, and again where nothing comes of it: Python drops what is raised while it clears an object away."""
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(30)
            return


@pytest.mark.parametrize("checkpoint", [False, True])
def test_interrupted_by_the_user(checkpoint, tmp_path):
    options = ["--checkpoint", str(tmp_path / "c")] if checkpoint else []
    rows = "".join(f"{x:.3f},{y:.3f}\n" for x, y in np.random.default_rng(0).normal(size=(700_000, 2)))
    with subprocess.Popen(
        [*COMMAND, "summarize", "-", "-p", "3", "--progress", *options],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            process.stdin.write(b"x,y\n" + rows.encode())  # more than one block, and then no end
            process.stdin.flush()
            told = process.stderr.read(1)  # the bar is there
            interrupt(process)
            told += process.stderr.read()
        finally:
            process.kill()
    assert process.returncode == 130
    told = told.decode()
    last = told.splitlines()[-1]
    assert last.startswith("stopped; ")
    assert ("goes on from" if checkpoint else "with --checkpoint FILE") in last
    assert "Traceback" not in told


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_output_that_the_caller_closed_is_no_fault(closed, data, tmp_path):
    command = f'"$@" {closed}'
    run = ["sh", "-c", command, "sh", *COMMAND, "summarize", str(data / "a.parquet"), "-p", "3", "-o", str(tmp_path / "a.ss")]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert (tmp_path / "a.ss").exists()


def test_nobody_reads_the_output(saved):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*COMMAND, "show", str(saved / "a.ss")], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert done.returncode == 141
    assert done.stderr == b""


def test_a_page_that_cannot_be_written(saved, tmp_path):
    (tmp_path / "page.html").mkdir()
    command = [*COMMAND, "report", str(saved / "a.ss"), "-o", str(tmp_path / "page.html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "is a directory" in done.stderr
