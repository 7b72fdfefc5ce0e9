"""Encoding of mixed columns as points: learned from the first rows of a table, then fixed."""

from supersample.records.encoding.table import (
    ColumnChoice,
    ColumnNote,
    Encoding,
    check_columns,
    learn,
    require_same,
    weights_of,
)

__all__ = ["ColumnChoice", "ColumnNote", "Encoding", "check_columns", "learn", "require_same", "weights_of"]
