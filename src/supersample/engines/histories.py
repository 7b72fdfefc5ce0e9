"""Histories of frames on a cluster: each partition becomes blocks where it lies, and these are joined here, in order."""

import struct
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any, cast

from supersample.engines.partition_tasks import naming, spread_rows
from supersample.engines.protocol import Cluster, Engine
from supersample.errors import InputError
from supersample.history.block import Block, joined
from supersample.history.folder import block_bytes, block_of, maps_bytes, maps_of
from supersample.history.merging import absorbed
from supersample.history.rules import Rules
from supersample.history.timeline import Timeline, blocks_of, init
from supersample.records.sources import open_source, without
from supersample.records.sources.clusters import EngineHome
from supersample.records.sources.conforming import conformed
from supersample.storage.container import from_bytes
from supersample.summary import state as states
from supersample.summary.state import Request

__all__ = ["empty_history", "with_frame"]

_LENGTH = struct.Struct("<q")


def empty_history(home: EngineHome, frame: Any, rules: Rules, request: Request) -> Timeline:
    """Return a history without rows, with encoding and features from the first rows of partitions spread over all of them."""
    parts = _cluster(home, frame)
    tables = spread_rows(parts.count, lambda indices, most: parts.heads(indices, most, request.weight))
    if not tables:
        raise InputError("rows must have at least one row, got none from the partitions")
    empty = states.learned_from(request, list(tables.values()), "the first rows of the partitions")
    assert empty.maps is not None
    return init(rules, request, empty.schema, empty.maps)


def with_frame(home: EngineHome, frame: Any, state: Timeline) -> Timeline:
    """Return the history with the rows of all partitions."""
    if state.rules.time is None:
        raise InputError("time must name a column for frames of a cluster, whose rows have no order")
    found: dict[int, list[Block]] = {}
    for data in _cluster(home, frame).each(partial(_blocks, maps_bytes(state))):
        for number, block in _read(data, state):
            found.setdefault(number, []).append(block)
    return absorbed(state, {number: joined(each) for number, each in found.items()}) if found else state


def _cluster(home: EngineHome, frame: Any) -> Cluster:
    return cast(Engine, import_module(home.module)).cluster(frame)


def _blocks(maps: bytes, index: int, rows: Any) -> bytes:
    """Return the blocks of a partition, each after its number and its length."""
    if rows is None:  # a partition without rows
        return b""
    state = maps_of(maps)
    options = state.request.options
    with naming(index):
        given = without(open_source(rows), options.drop)
        batches = (conformed(options.rest(each), state.schema) for each in given.batches(0))
        found = blocks_of(state, (each for each in batches if each.num_rows))
    parts = []
    for number, block in sorted(found.items()):
        body = block_bytes(block)
        parts += [_LENGTH.pack(number), _LENGTH.pack(len(body)), body]
    return b"".join(parts)


def _read(data: bytes, state: Timeline) -> Iterator[tuple[int, Block]]:
    at = 0
    while at < len(data):
        number, size = (_LENGTH.unpack_from(data, at + shift)[0] for shift in (0, _LENGTH.size))
        at += 2 * _LENGTH.size
        yield number, block_of(from_bytes(data[at : at + size], "a block"), "a block", state)
        at += size
