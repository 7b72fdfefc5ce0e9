"""Leave columns out of a source while it is read."""

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from supersample._text import did_you_mean
from supersample.errors import InputError, InputTypeError
from supersample.records.sources.base import Source, mapped

__all__ = ["without"]

_SHOWN = 8


def without(source: Source, drop: Sequence[str]) -> Source:
    """Return the source without some columns: neither its schema nor its batches nor its sample have them.

    drop: names of columns; that of a structure stands for all columns of its fields. Files whose format allows it are read
    without decoding them; from all other sources they are removed from each batch before anything else sees it.
    """
    gone = _named(source, drop)
    if not gone:
        return source
    kept = [name for name in source.schema.names if name not in gone]
    if not kept:
        raise InputError(f"drop must leave a column of {source.label}, got the names of all {len(gone)}; drop fewer")
    if source.without is not None:
        narrow = source.without(gone)
    else:
        schema = pa.schema([source.schema.field(name) for name in kept])
        narrow = mapped(source, schema, lambda batch: batch.select(kept))
    before = source.identity.get("dropped", [])
    identity = {**source.identity, "dropped": sorted({*before, *gone})} if source.identity else source.identity
    return replace(narrow, identity=identity)


def _named(source: Source, drop: Sequence[str]) -> frozenset[str]:
    """Return the columns that are named, themselves or by their structure."""
    if isinstance(drop, str) or not all(isinstance(name, str) for name in drop):
        raise InputTypeError(f"drop must be a list of names of columns, got {drop!r}; put the name in a list")
    gone: set[str] = set()
    for name in drop:
        found = [each for each in source.schema.names if each == name or each.startswith(f"{name}.")]
        if not found:
            shown = ", ".join(source.schema.names[:_SHOWN]) + f" and {len(source.schema) - _SHOWN} more" * (
                len(source.schema) > _SHOWN
            )
            told = did_you_mean(name, source.schema.names)
            raise InputError(f"drop must name columns of {source.label}, got {name!r}; it has {shown}{told}")
        gone.update(found)
    return frozenset(gone)
