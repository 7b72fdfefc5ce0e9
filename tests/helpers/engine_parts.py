"""Partitions in files, frames of them on each engine, and readers that fail or kill their process once."""

import inspect
import os
import signal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

import supersample as ss

#: Where Spark finds `spark_workers`.
HELPERS = Path(__file__).parent
#: The first partition alone has rows enough for a warm-up.
SIZES = (5_200, 0, 900, 1_500)
SCHEMA = "a double, b double, kind string, flag boolean, count long, w double"
OPTIONS = {"prototypes": 30, "criticisms": 5, "random_state": 7}


def mixed(n, seed):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "a": pa.array(rng.normal(size=n), mask=rng.random(n) < 0.05),
            "b": rng.normal(size=n) ** 3,
            "kind": pa.array(rng.choice(["x", "y", "zz"], n).tolist(), pa.string()),
            "flag": rng.random(n) < 0.3,
            "count": rng.poisson(4, n),
            "w": rng.gamma(1.0, size=n) * (rng.random(n) < 0.8),
        }
    )


def chosen_locally(tables, method, m, **options):
    """Return what distributed herding gives, its parts one after the other in this process."""
    from supersample.engines import local
    from supersample.engines.herding import select

    names = inspect.signature(getattr(ss, method)).bind(tables, m, **options)
    names.apply_defaults()
    return select(local.cluster(tables), method, names.arguments)


def same_selection(left, right):
    return all(
        np.array_equal(getattr(left, name), getattr(right, name)) for name in ("indices", "points", "weights", "mmd", "runs")
    )


def written(folder, sizes=SIZES):
    """Write one file for each partition and return their tables."""
    tables = [mixed(size, seed) for seed, size in enumerate(sizes)]
    for index, table in enumerate(tables):
        parquet.write_table(table, Path(folder) / f"{index}.parquet")
    return tables


def reader(folder, *, killed=None, stumbles=None, broken=None, deadly=None, marker=None):
    """Return a function that reads a partition: `broken` never can, and `deadly` kills its process each time.

    `killed` kills its process once and `stumbles` raises once, when the partition is read again: a warm-up has read it before.

    It is a closure, so that it travels by value: workers cannot import the tests.
    """
    folder = str(folder)

    def read(index):
        if index == broken:
            raise OSError("the disk is on fire")
        if index == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        if index in (killed, stumbles) and not os.path.exists(marker):  # noqa: PTH110
            if not os.path.exists(marker + " to be"):  # noqa: PTH110
                os.mkdir(marker + " to be")  # noqa: PTH102
                return parquet.read_table(f"{folder}/{index}.parquet")
            with open(marker, "w") as file:  # noqa: PTH123
                file.write(str(os.getpid()))
            if index == stumbles:
                raise OSError("the network is away")
            os.kill(os.getpid(), signal.SIGKILL)
        return parquet.read_table(f"{folder}/{index}.parquet")

    return read


def dask_frame(read, n):
    import dask.dataframe as dd

    meta = mixed(3, 0).to_pandas().iloc[:0]
    return dd.from_map(lambda index: read(index).to_pandas(), range(n), meta=meta, enforce_metadata=False)


def spark_frame(session, read, n):
    def rows(batches):
        for batch in batches:
            for index in batch.column(0).to_pylist():
                yield from read(index).to_batches(max_chunksize=1_000)

    return session.range(0, n, 1, n).mapInArrow(rows, SCHEMA)
