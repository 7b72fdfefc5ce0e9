"""Open what users pass as a source, according to its type."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from supersample._validation import host_array
from supersample.errors import InputTypeError
from supersample.records.sources.base import Source
from supersample.records.sources.batch_iterators import is_batch, mapping_batch, open_iterator, open_list
from supersample.records.sources.clusters import engine_of
from supersample.records.sources.files import open_files
from supersample.records.sources.frames import has_stream, is_pandas, name_of, open_pandas, open_table
from supersample.records.sources.hub import is_hub, open_hub
from supersample.records.sources.matrices import open_array
from supersample.records.sources.queries import is_duckdb, is_lazy, open_duckdb, open_lazy
from supersample.records.sources.standard_input import open_standard_input, open_stream

__all__ = ["open_source"]

_EXPECTED = (
    "a path, pattern or folder, a list of paths, '-' for standard input, a table or query (pyarrow, pandas, polars, DuckDB), a "
    "data set (Hugging Face), a NumPy array, or an iterator of batches"
)


def open_source(source: Any) -> Source:
    """Open anything that holds rows, read its columns, and return it as a source of bounded batches.

    >>> open_source({"a": [1, 2, 3], "b": ["x", "y", None]}).n_rows
    3
    """
    if isinstance(source, Source):
        return source
    if isinstance(source, str | os.PathLike):
        return open_standard_input() if source == "-" else open_files([source])
    _refuse(source)
    if is_pandas(source):
        return open_pandas(source)
    if name_of(source) in ("pandas.Series", "polars.Series"):
        named = source.to_frame() if source.name else source.to_frame("x0")
        return open_source(named)
    if is_lazy(source):
        return open_lazy(source)
    if is_duckdb(source):
        return open_duckdb(source)
    if is_hub(source):
        return open_hub(source)
    if has_stream(source):
        return open_table(source)
    if isinstance(source, Mapping):
        return open_table(mapping_batch(source), name_of(source))
    if isinstance(source, np.ndarray):
        return open_array(source)
    return _open_other(source)


def _open_other(source: Any) -> Source:
    if isinstance(source, list | tuple):
        return _open_list(list(source))
    if hasattr(source, "scanner") and hasattr(source, "count_rows"):
        return open_table(source.scanner(batch_readahead=2, fragment_readahead=1).to_reader())
    if hasattr(source, "__array__") and hasattr(source, "shape"):
        return open_array(host_array(source, "source"), name_of(source))
    if hasattr(source, "read"):
        return open_stream(source, f"the stream {name_of(source)}")
    if isinstance(source, Iterator):
        return open_iterator(source, f"the {name_of(source)}")
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray | set | frozenset):
        return open_iterator(iter(source), f"the {name_of(source)}")
    raise InputTypeError(f"source must be {_EXPECTED}, got {name_of(source)}")


def _open_list(items: list[Any]) -> Source:
    if not items or all(isinstance(item, str | os.PathLike) for item in items):
        return open_standard_input() if items == ["-"] else open_files(items)
    if all(is_batch(item) for item in items):
        return open_list(items)
    odd = next(item for item in items if not is_batch(item))
    raise InputTypeError(
        f"source must be {_EXPECTED}, got a list with {name_of(odd)} in it; make numbers in lists an array "
        f"with numpy.asarray, rows given as dictionaries a table with pyarrow.Table.from_pylist"
    )


def _refuse(source: Any) -> None:
    if engine_of(source) is not None:
        raise InputTypeError(
            f"source must be rows that this process can read, got {name_of(source)}: only summarize "
            f"reads the frames of a cluster; summarise it with like= and merge, or pass its parts one by one"
        )
    if type(source).__module__.split(".")[0] == "scipy" and hasattr(source, "toarray"):
        raise InputTypeError(f"source must be dense, got {name_of(source)}; pass source.toarray(), or reduce its width first")
    if isinstance(source, pa.Array | pa.ChunkedArray):
        raise InputTypeError(
            f"source must be a table with named columns, got {name_of(source)}; pass pyarrow.table({{'x0': source}})"
        )
