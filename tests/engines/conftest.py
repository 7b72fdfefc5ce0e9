"""A real Dask cluster of two processes, and Spark with two task slots, started by the tests."""

import os
import shutil
import sys

import pytest

from engine_parts import HELPERS, dask_frame, spark_frame, written


@pytest.fixture(scope="session")
def partitions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("partitions")
    return folder, written(folder)


@pytest.fixture(scope="session")
def folder(partitions):
    return partitions[0]


@pytest.fixture(scope="session")
def tables(partitions):
    return partitions[1]


class DaskEngine:
    """Two workers, each a process.

    Dask restarts a killed worker, but gives it up if that takes more than 15 seconds; once all are given up, a run waits for
    ever. A busy machine may need longer.
    """

    merging = "supersample.engines.dask.merge_parts"

    def __init__(self):
        import dask
        from distributed import Client, LocalCluster

        self.patience = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
        self.cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
        self.client = Client(self.cluster)

    def frame(self, read, n):
        return dask_frame(read, n)

    def columns(self, frame, names):
        return frame[names]

    def read(self, folder):
        import dask.dataframe as dd

        return dd.read_parquet(folder)

    def work_for_others(self):
        assert self.client.submit(sum, [1, 2]).result() == 3

    def close(self):
        self.client.close()
        self.cluster.close()
        self.patience.__exit__(None, None, None)


class SparkEngine:
    """Task slots, each with Python processes; a task may fail once."""

    merging = "supersample.engines.spark._merge_pair"

    def __init__(self, slots=2):
        if shutil.which("java") is None:
            message = "java is not installed: Spark cannot be run (Debian: apt-get install openjdk-17-jre-headless)"
            pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        builder = SparkSession.builder.master(f"local[{slots},2]").appName("tests")
        for key, value in {
            "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.driver.memory": "1g",
            "spark.python.daemon.module": "spark_workers", "spark.executorEnv.PYTHONPATH": str(HELPERS),
            "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF",
        }.items():  # fmt: skip
            builder = builder.config(key, value)
        self.session = builder.getOrCreate()

    def frame(self, read, n):
        return spark_frame(self.session, read, n)

    def columns(self, frame, names):
        return frame.select(*names)

    def read(self, folder):
        return self.session.read.parquet(str(folder))

    def work_for_others(self):
        assert self.session.range(3).count() == 3

    def close(self):
        self.session.stop()


class Running:
    """The engine that runs now: files that ask for the same one share it, since to start it takes seconds."""

    def __init__(self):
        self.asked, self.engine = None, None

    def get(self, kind, **options):
        if self.asked != (kind, options):
            self.close()
            self.asked, self.engine = (kind, options), kind(**options)
        return self.engine

    def close(self):
        if self.engine is not None:
            self.engine.close()
        self.asked, self.engine = None, None


RUNNING = Running()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """Stop the engine after the last test in a row that needs one: Dask would take the work of others."""
    if not {"engine", "session"} & set(getattr(nextitem, "fixturenames", ())):
        RUNNING.close()


@pytest.fixture(
    scope="module",
    params=[pytest.param(DaskEngine, id="dask"), pytest.param(SparkEngine, id="spark", marks=pytest.mark.once)],
)
def engine(request):
    return RUNNING.get(request.param)


@pytest.fixture(scope="module")
def session():
    """Spark alone, with one task slot."""
    return RUNNING.get(SparkEngine, slots=1).session
