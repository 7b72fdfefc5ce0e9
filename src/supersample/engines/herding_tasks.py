"""The workers' tasks in distributed herding, as functions from bytes to bytes: embed, deal out, choose."""

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from supersample._random import Seed
from supersample._typing import Floats, Indices
from supersample.embedding import moments
from supersample.embedding.moments import Moments
from supersample.engines.partition_tasks import naming
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.records.encoding.values import numbers_of
from supersample.records.sources import open_source
from supersample.selection import Selection, frank_wolfe, herd, sbq, wkh
from supersample.selection.stream.plan import Plan

__all__ = ["METHODS", "arrays_of", "bytes_of", "choose_from", "deal_out", "embed", "matrix", "moments_of"]

METHODS = {"frank_wolfe": frank_wolfe, "herd": herd, "sbq": sbq, "wkh": wkh}
_FIELDS = ("totals", "errors", "partials", "counts")


def bytes_of(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Return named arrays as bytes."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)  # type: ignore[arg-type, unused-ignore]
    return buffer.getvalue()


def arrays_of(data: bytes) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays that `bytes_of` was given."""
    with np.load(io.BytesIO(data), allow_pickle=False) as held:
        return dict(held)


def matrix(batch: pa.RecordBatch, names: Sequence[str]) -> Floats:
    """Return the named columns of a batch as points; all must be of finite numbers, since candidates are not encoded."""
    if sorted(batch.schema.names) != sorted(names):
        raise MismatchError(f"candidates must have the columns {list(names)} in all partitions, got {batch.schema.names}")
    batch = batch.select(list(names))
    for field in batch.schema:
        kind = field.type
        numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
        if not any(is_kind(kind) for is_kind in numbers):
            raise InputTypeError(
                f"candidates must have columns of numbers, got {field.name!r} of type {kind}; drop or encode it first, "
                f"or use summarize, which encodes columns of all kinds"
            )
    points = np.column_stack([numbers_of(column).astype(np.float64) for column in batch.columns])
    bad = np.argwhere(~np.isfinite(points))
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"candidates must be finite, got {points[row, column]} in column {batch.schema.names[column]!r}; drop or fill such "
            f"rows first, or use summarize, which knows missing values"
        )
    return points


def _batches(source: Any) -> Iterator[pa.RecordBatch]:
    return iter(()) if source is None else open_source(source).batches(0)


def embed(index: int, source: Any, names: Sequence[str], plan: Plan | None) -> bytes:
    """Count the rows of a partition (None: it has none) and sum their features in both maps of a plan. O(n d D)."""
    rows, sums = 0, [] if plan is None else [moments.init(each.n_features) for each in (plan.feature_map, plan.held_out)]
    with naming(index):
        for batch in _batches(source):
            points = matrix(batch, names)
            rows += len(points)
            if plan is not None:
                ones = moments.scale_weights(np.ones(len(points)))
                maps = (plan.feature_map, plan.held_out)
                sums = [moments.update(each, by.transform(points), ones) for each, by in zip(sums, maps, strict=True)]
    held = {f"{place}{name}": getattr(each, name) for place, each in enumerate(sums) for name in _FIELDS}
    return bytes_of({"rows": np.array(rows), **held})


def moments_of(data: bytes) -> tuple[int, list[Moments]]:
    """Return the number of rows and the sums that `embed` computed."""
    held = arrays_of(data)
    return int(held["rows"]), [Moments(*(held[f"{place}{name}"] for name in _FIELDS)) for place in (0, 1) if "1totals" in held]


def deal_out(index: int, source: Any, names: Sequence[str], counts: Sequence[int], seed: Seed) -> list[bytes]:
    """Deal the rows of a partition out to groups at random, each row with its place in the partition.

    There are as many groups as partitions. They are of one size up to a row of each partition, so that all take about as long.
    counts: the number of rows of each partition in the first pass; the rows must be the same ones.
    """
    n_groups = len(counts)
    with naming(index):
        parts = [matrix(batch, names) for batch in _batches(source)]
        points = np.concatenate(parts) if parts else np.empty((0, 0))
        if index >= n_groups or len(points) != counts[index]:
            before = counts[index] if index < n_groups else 0
            raise InputError(
                f"candidates must be the same each time they are read, got {before} rows in the first pass and {len(points)} "
                f"in the second; persist the frame, or write it to files first"
            )
    groups = (seed.child("group").child(index).generator().permutation(len(points)) + index) % n_groups
    places = [np.flatnonzero(groups == group) for group in range(n_groups)]
    return [bytes_of({"points": points[each], "places": each}) for each in places]


def choose_from(pieces: Sequence[bytes], m: int, method: str, options: Mapping[str, Any]) -> bytes:
    """Choose from the rows that were dealt to one group; pieces are in the order of their partitions."""
    held = [arrays_of(each) for each in pieces]
    sizes = [len(each["places"]) for each in held]
    if sum(sizes) == 0:
        return b""
    parts: Indices = np.repeat(np.arange(len(held)), sizes)
    places = np.concatenate([each["places"] for each in held])
    points = np.concatenate([each["points"] for each in held if len(each["points"])])
    found: Selection = METHODS[method](points, m if options["replace"] else min(m, len(points)), **options)
    return bytes_of(
        {
            "rows": np.array(len(points)), "parts": parts[found.indices], "places": places[found.indices],
            "points": found.points, "weights": found.weights, "mmd": found.mmd, "note": np.array(found.note),
        }
    )  # fmt: skip
