"""Engines of clusters: workers summarise partitions and merge them pair by pair, and the caller receives only the result."""

from supersample.engines.dispatch import frank_wolfe, herd, sbq, summarize, wkh
from supersample.engines.spark_streaming import spark_sink

__all__ = ["frank_wolfe", "herd", "sbq", "spark_sink", "summarize", "wkh"]
