"""Spark Connect: the same bytes through a server, of which this process knows only the address."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import supersample as ss
from engine_parts import OPTIONS, chosen_locally
from supersample.engines import local

HELPERS = str(Path(__file__).parents[1] / "helpers")
# A process has Spark of one kind only, so this one has its own.
PROGRAM = """
import sys
import numpy as np
from pyspark.sql import SparkSession
import supersample as ss

builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
session = builder.config("spark.python.daemon.module", "spark_workers").getOrCreate()
frame = session.read.parquet(sys.argv[1])
assert "connect" in type(frame).__module__

def broken(batches):
    raise OSError("the disk is on fire")
    yield

ss.summarize(frame, **{options}).save(sys.argv[2])
np.save(sys.argv[3], ss.sbq(frame.select("b", "count"), 12, random_state=0).points)
try:
    ss.summarize(frame.mapInArrow(broken, frame.schema), **{options})
except ss.errors.InputError as error:
    print(error)
session.stop()
"""


def test_bytes_are_those_of_the_local_engine(folder, tables, tmp_path):
    if shutil.which("java") is None and os.environ.get("CI") != "true":
        pytest.skip("java is not installed: Spark cannot be run (Debian: apt-get install openjdk-17-jre-headless)")
    saved, points = tmp_path / "found.ss", tmp_path / "points.npy"
    program = [sys.executable, "-c", PROGRAM.replace("{options}", repr(OPTIONS)), folder / "0.parquet", saved, points]
    # Testing, the server takes a free port; else always the same one, which another run on this machine may have.
    path = os.pathsep.join(filter(None, [HELPERS, os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_TESTING": "1", "PYTHONPATH": path}
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-4_000:]
    assert ss.load(saved).to_bytes() == local.summarize(tables[:1], **OPTIONS).to_bytes()
    expected = chosen_locally([tables[0].select(["b", "count"])], "sbq", 12, random_state=0)
    assert np.array_equal(np.load(points), expected.points)
    assert "OSError: the disk is on fire; nothing was returned" in done.stdout
