"""Data sets of Hugging Face's `datasets`: those on disk are read by position, those that stream are read once."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from supersample.errors import InputTypeError
from supersample.records.sources.base import Batches, Numbered, Source, guarded, pieces, spread
from supersample.records.sources.batch_iterators import open_iterator
from supersample.records.sources.frames import name_of
from supersample.records.sources.schema import conform, plain_schema

__all__ = ["is_hub", "open_hub"]

#: Rows asked for at a time: they may hold images.
_ROWS = 1024
_RAISED = "the data set raised this error"
_MANY = ("datasets.DatasetDict", "datasets.IterableDatasetDict")


def is_hub(value: Any) -> bool:
    """Return whether a value is a data set of `datasets`, or a dictionary of them, without importing the package."""
    return name_of(value) in ("datasets.Dataset", "datasets.IterableDataset", *_MANY)


def open_hub(data: Any) -> Source:
    """Open a data set; its rows come in the order that it has after shuffling, selecting and filtering."""
    label = name_of(data)
    if label in _MANY:
        splits = ", ".join(map(repr, data))
        raise InputTypeError(f"source must be one data set, got {label} of {splits}; pass one of them, as source['train']")
    tables = data.with_format("arrow")
    if not hasattr(tables, "__len__"):
        return open_iterator(tables.iter(batch_size=_ROWS), f"the {label}")
    n_rows = len(tables)
    schema = plain_schema(tables[0:0].schema, label)

    def converted(parts: Iterable[pa.Table], skip: int) -> Batches:
        for batch in guarded((batch for part in parts for batch in part.to_batches()), label, _RAISED, skip):
            yield from (conform(piece, schema, label) for piece in pieces(batch))

    def rows(first: int, end: int) -> Batches:
        return converted((tables[start : min(end, start + _ROWS)] for start in range(first, end, _ROWS)), first)

    def batches(skip: int) -> Batches:
        return rows(skip, n_rows)

    def sample(n: int) -> pa.Table:
        return pa.Table.from_batches(converted([tables[spread(n_rows, n).tolist()]], 0), schema)

    identity = {"kind": label, "rows": n_rows}
    return Source(label, schema, n_rows, identity, batches, sample, numbered=lambda: Numbered(n_rows, rows))
