"""Beyond one process: partitions summarised where they lie, merged pair by pair, and only the result brought home."""

from supersample.engines.dispatch import herd, sbq, summarize, wkh

__all__ = ["herd", "sbq", "summarize", "wkh"]
