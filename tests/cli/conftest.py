"""Small data files, and the command run in this process."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from supersample.cli.group import group


def table(seed, shift=0.0, rows=600):
    rng = np.random.default_rng(seed)
    names = pa.array(["red", "green", "blue"]).take(pa.array(rng.integers(0, 3, rows)))
    return pa.table({"x": rng.normal(shift, 1, rows), "y": rng.normal(size=rows), "colour": names, "w": rng.uniform(size=rows)})


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A folder with two samples of one population, and one of another."""
    folder = tmp_path_factory.mktemp("data")
    pq.write_table(table(0), folder / "a.parquet")
    pyarrow.csv.write_csv(table(1), folder / "b.csv")
    pq.write_table(table(2, shift=2.0), folder / "moved.parquet")
    return folder


@pytest.fixture
def run():
    """Run a command; its exit status is checked, its results come back as text or, of JSON, as values."""

    def call(*arguments, status=0, stdin=None):
        done = CliRunner().invoke(group, [str(each) for each in arguments], input=stdin)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == status, done.output
        done.values = json.loads(done.stdout) if "--json" in arguments and status < 2 else None
        return done

    return call


@pytest.fixture(scope="session")
def saved(data, tmp_path_factory):
    """Summaries of the samples, all like the first."""
    folder = tmp_path_factory.mktemp("saved")
    base = ["-p", "10", "-c", "3", "--seed", "1", "--columns", "x,y,colour", "-q"]
    for name, more in (("a", base), ("b", []), ("moved", [])):
        source = next(data.glob(f"{name}.*"))
        like = [] if name == "a" else ["--like", str(folder / "a.ss"), "--seed", "2", "-q"]
        done = CliRunner().invoke(group, ["summarize", str(source), "-o", str(folder / f"{name}.ss"), *more, *like])
        assert done.exit_code == 0, done.output
    return folder
