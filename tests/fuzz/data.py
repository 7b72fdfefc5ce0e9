"""The sound data that executions spoil."""

import io

import numpy as np
import pyarrow as pa


def table_of(n):
    """Return a table with a column of each kind."""
    rng = np.random.default_rng(n)
    return pa.table(
        {
            "x": rng.normal(size=n),
            "c": rng.choice(["a", "b", "ü"], n),
            "flag": rng.random(n) < 0.5,
            "day": pa.array(rng.integers(0, 9_000, n).astype(np.int32), pa.date32()),
            "v": pa.FixedSizeListArray.from_arrays(rng.normal(size=3 * n), 3),
            "w": rng.random(n) + 0.5,
        }
    )


def written(write):
    """Return the bytes that a function writes to a file."""
    sink = io.BytesIO()
    write(sink)
    return sink.getvalue()


def streamed(writer, table):
    """Write a table in several batches."""
    with writer:
        writer.write_table(table, max_chunksize=16)
