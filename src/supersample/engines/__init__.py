"""Engines of clusters: workers summarise partitions and merge them pair by pair, and the caller receives only the result."""

from supersample.engines.dispatch import herd, sbq, summarize, wkh

__all__ = ["herd", "sbq", "summarize", "wkh"]
