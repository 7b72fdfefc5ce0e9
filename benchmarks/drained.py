"""The stream within a sampler, for figures about the reservoir itself: before the second look, which is part of reading."""

import supersample as ss
from supersample.selection import stream
from supersample.selection.stream.lifecycle import Stream

__all__ = ["drained"]


def drained(sampler: ss.SuperSampler) -> Stream:
    """Return the stream of a fitted sampler with all rows taken in; the sampler does not change."""
    state: Stream = sampler._now.state
    return stream.drain(state)
