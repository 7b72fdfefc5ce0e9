"""Where rows come from beside HTTP: each kind of source is one file and one line of the registry."""

from supersample.live.sources.protocol import Context, Source, SourceError, Step
from supersample.live.sources.registry import SOURCES, source_of

__all__ = ["SOURCES", "Context", "Source", "SourceError", "Step", "source_of"]
