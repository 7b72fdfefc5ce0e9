"""Spark Connect: the same bytes through a server, of which this process knows only the address."""

import os
import shutil
import subprocess
import sys

import pytest

import supersample as ss
from engine_parts import HELPERS, OPTIONS
from supersample.engines import local

# A process has Spark of one kind only, so this one has its own.
PROGRAM = """
import sys
from pyspark.sql import SparkSession
import supersample as ss
from engine_parts import reader, spark_frame

builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
session = builder.config("spark.python.daemon.module", "spark_workers").getOrCreate()
frame = spark_frame(session, reader(sys.argv[1]), 4)
assert "connect" in type(frame).__module__

def broken(batches):
    raise OSError("the disk is on fire")
    yield

ss.summarize(frame, **{options}).save(sys.argv[2])
try:
    ss.summarize(frame.mapInArrow(broken, frame.schema), **{options})
except ss.errors.InputError as error:
    print(error)
session.stop()
"""


@pytest.mark.once
def test_bytes_are_those_of_the_local_engine(folder, tables, tmp_path):
    if shutil.which("java") is None and os.environ.get("CI") != "true":
        pytest.skip("java is not installed: Spark cannot be run (Debian: apt-get install openjdk-17-jre-headless)")
    saved = tmp_path / "found.ss"
    program = [sys.executable, "-c", PROGRAM.replace("{options}", repr(OPTIONS)), folder, saved]
    # Testing, the server takes a free port; else always the same one, which another run on this machine may have.
    path = os.pathsep.join(filter(None, [str(HELPERS), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_TESTING": "1", "PYTHONPATH": path}
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-4_000:]
    assert ss.load(saved).to_bytes() == local.summarize(tables, **OPTIONS).to_bytes()
    assert "OSError: the disk is on fire; nothing was returned" in done.stdout
