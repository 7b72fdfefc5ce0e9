"""Where rows come from: files, frames, arrays and iterators, all read as bounded Arrow batches in order."""

from supersample.records.sources.base import MAX_BYTES, MAX_ROWS, Source
from supersample.records.sources.dropping import without
from supersample.records.sources.opening import open_source
from supersample.records.sources.schema import RESERVED, alike, empty_columns, text_columns

__all__ = ["MAX_BYTES", "MAX_ROWS", "RESERVED", "Source", "alike", "empty_columns", "open_source", "text_columns", "without"]
