"""Column types: how a column of a table enters the kernel. Register a class of your own to have columns read your way."""

from supersample.records.encoding import ColumnType, LeftOut, register

__all__ = ["ColumnType", "LeftOut", "register"]
