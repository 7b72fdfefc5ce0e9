"""Encoding of mixed columns as points: learned from some rows of a table, then fixed."""

from supersample.records.encoding import one_hot  # registers a column type of earlier files
from supersample.records.encoding.column_type import ColumnType, LeftOut, register
from supersample.records.encoding.options import REDACTED, TIMES, TYPES, ColumnChoice, ColumnOptions
from supersample.records.encoding.table import (
    NOT_IN_TARGET,
    ColumnNote,
    Encoding,
    adopted,
    learn,
    require_same,
    same_points,
    weights_of,
)

__all__ = [
    "NOT_IN_TARGET", "REDACTED", "TIMES", "TYPES", "ColumnChoice", "ColumnNote", "ColumnOptions", "ColumnType", "Encoding",
    "LeftOut", "adopted", "learn", "one_hot", "register", "require_same", "same_points", "weights_of",
]  # fmt: skip
