"""Queries that have not run: polars LazyFrames and DuckDB relations. They run as their rows are read, in batches."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from supersample._text import one_line
from supersample.errors import InputError, SupersampleError
from supersample.records.sources.base import MAX_ROWS, Batches, Source, after, guarded, once, pieces
from supersample.records.sources.frames import frame_batches, name_of, open_table
from supersample.records.sources.ipc import ipc_file_batches
from supersample.records.sources.schema import conform, plain_schema

__all__ = ["is_duckdb", "is_lazy", "open_duckdb", "open_lazy"]

_STOPPED = "the query stopped with this error"


def is_lazy(value: Any) -> bool:
    """Return whether a value is a query of polars, without importing polars."""
    return name_of(value) == "polars.LazyFrame"


def is_duckdb(value: Any) -> bool:
    """Return whether a value is a query of DuckDB, without importing DuckDB."""
    return name_of(value) == "duckdb.DuckDBPyRelation"


def open_lazy(query: Any) -> Source:
    """Open a polars query; each reading runs it again."""
    label = name_of(query)
    schema = _schema(lambda: open_table(query.collect_schema().to_frame()).schema, label)
    return Source(label, schema, None, {}, lambda skip: after(_cut(_lazy_batches(query), schema, label), skip))


def open_duckdb(query: Any) -> Source:
    """Open a DuckDB query as a source that can be read once: if it scans a stream, that would be empty the second time.

    It runs when it is read, not before: a second query ends the running one of its connection, in older versions silently.
    """
    label = name_of(query)
    schema = _schema(lambda: plain_schema(query.limit(0).to_arrow_table().schema, label), label)
    return Source(label, schema, None, {}, once(_cut(_duckdb_batches(query), schema, label), label))


def _schema(find: Callable[[], pa.Schema], label: str) -> pa.Schema:
    try:
        return find()
    except SupersampleError:
        raise
    except Exception as error:
        raise InputError(f"source: {label} must be a query that can run: {one_line(error)}; correct the query") from error


def _cut(batches: Batches, schema: pa.Schema, label: str) -> Batches:
    for batch in guarded(batches, label, _STOPPED):
        yield from (conform(piece, schema, label) for piece in pieces(batch))


def _lazy_batches(query: Any) -> Batches:
    if hasattr(query, "collect_batches"):
        for frame in query.collect_batches(chunk_size=MAX_ROWS, maintain_order=True):
            yield from frame_batches(frame)
    else:
        yield from _spooled(query)


def _spooled(query: Any) -> Batches:
    """Run a query of an older polars, which gives no batches, into a temporary file; in memory if it cannot be streamed."""
    with tempfile.TemporaryDirectory(prefix="supersample-") as folder:
        path = Path(folder) / "query.arrow"
        try:
            query.sink_ipc(path, compression="lz4", maintain_order=True)
        except Exception as error:
            if type(error).__name__ != "InvalidOperationError":
                raise
            yield from frame_batches(query.collect())
        else:
            yield from ipc_file_batches(path)


def _duckdb_batches(query: Any) -> Batches:
    # Its __arrow_c_stream__ makes batches of a million rows, and version 1.4 computes them all before the first.
    reader = query.to_arrow_reader if hasattr(query, "to_arrow_reader") else query.fetch_record_batch
    for batch in reader(MAX_ROWS):
        batch.validate(full=True)
        yield batch
