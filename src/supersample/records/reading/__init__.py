"""Columns of text that hold numbers, times or truth values: recognised on some rows, then read in one fixed way."""

from supersample.records.reading.column import Reading, recognise

__all__ = ["Reading", "recognise"]
