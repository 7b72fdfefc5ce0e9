"""Encoding of mixed columns as points: learned from the first rows of a table, then fixed."""

from supersample.records.encoding import category, number, vector  # each registers a column type
from supersample.records.encoding.column_type import ColumnType, LeftOut, register
from supersample.records.encoding.table import (
    ColumnChoice,
    ColumnNote,
    Encoding,
    check_columns,
    learn,
    require_same,
    weights_of,
)

__all__ = [
    "ColumnChoice", "ColumnNote", "ColumnType", "Encoding", "LeftOut", "category", "check_columns", "learn", "number",
    "register", "require_same", "vector", "weights_of",
]  # fmt: skip
