"""One source of many files, of any mix of formats, whose columns agree; folders named `key=value` add columns to them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import cast

import pyarrow as pa

from supersample._text import one_line
from supersample.errors import InputError, MismatchError, SupersampleError
from supersample.records.sources.base import Batches, Source, guarded, pieces, spread
from supersample.records.sources.formats import DAMAGED, FORMATS, DataFile, Rows
from supersample.records.sources.partitions import Constants, partitioned
from supersample.records.sources.paths import expand, format_of
from supersample.records.sources.schema import conform, plain_schema, promote

__all__ = ["open_file", "open_files"]

_ENCODED = "text must be UTF-8: convert the file, with `iconv -f latin1 -t utf-8` for one"
_BY_LINE = "; of JSON, each line must be one object, as `jq -c .` writes it"


def open_files(given: Sequence[str | PathLike[str]]) -> Source:
    """Open paths, globs and folders as one source.

    Every file is first opened for its columns alone, so that files that do not fit together are refused before hours of
    reading.
    """
    found = expand(given)
    files = [open_file(each.path) for each in found]
    own = files[0].schema
    for file in files[1:]:
        own = _promoted(own, file, files[0])
    parts = list(zip(files, partitioned(found, own), strict=True))
    schema = plain_schema(parts[0][1].added_to(own), str(files[0].path))
    counts = [file.n_rows for file in files]
    known = [[str(file.path.resolve()), file.path.stat().st_size, file.path.stat().st_mtime_ns] for file in files]
    return Source(
        label=files[0].path.name if len(files) == 1 else f"{len(files)} files",
        schema=schema,
        n_rows=None if None in counts else sum(count or 0 for count in counts),
        identity={"kind": "files", "files": known},
        batches=lambda skip: _read(parts, own, skip),
        sample=None if any(file.rows is None for file in files) else lambda n: _sample(parts, own, schema, n),
    )


def open_file(path: Path, name: str | None = None) -> DataFile:
    """Open one file in the format of its extension; `name` is its name in messages."""
    name, wanted = name or str(path), format_of(path) or "parquet"
    try:
        if path.stat().st_size == 0:
            raise InputError(f"source: {name} must hold data, got a file of zero bytes; write it again, or leave it out")
        file = FORMATS[wanted].open(path)
        return replace(file, schema=plain_schema(file.schema, name))
    except SupersampleError:
        raise
    except Exception as error:
        told = one_line(error)
        badly_encoded = isinstance(error, UnicodeDecodeError) or "invalid utf" in told.lower()
        hint = _ENCODED if badly_encoded and FORMATS[wanted].is_text else DAMAGED + _BY_LINE * (wanted == "ndjson")
        raise InputError(f"source: {name} must be a readable {wanted} file, as its extension tells: {told}; {hint}") from error


def _promoted(schema: pa.Schema, file: DataFile, first: DataFile) -> pa.Schema:
    try:
        return promote(schema, file.schema, str(file.path))
    except MismatchError as error:
        raise MismatchError(f"{error} (the first file is {str(first.path)!r})") from error


def _read(parts: list[tuple[DataFile, Constants]], schema: pa.Schema, skip: int) -> Batches:
    for file, constants in parts:
        if file.n_rows is not None and skip >= file.n_rows:
            skip -= file.n_rows
            continue
        # A file of unknown length is read from its start, so that the skipped rows can be counted.
        start = skip if file.n_rows is not None else 0
        where = str(file.path)
        for batch in guarded(file.read(schema, start), where, file.hint, start):
            rest = 0 if file.n_rows is not None else min(skip, batch.num_rows)
            skip -= rest
            for piece in pieces(batch.slice(rest)):
                yield constants.beside(conform(piece, schema, where))
        if file.n_rows is not None:
            skip = 0


def _sample(parts: list[tuple[DataFile, Constants]], own: pa.Schema, schema: pa.Schema, n: int) -> pa.Table:
    indexed = [_rows(file) for file, _ in parts]
    positions = spread(sum(rows.n_rows for rows in indexed), n)
    found: list[pa.RecordBatch] = []
    before = 0
    for (file, constants), rows in zip(parts, indexed, strict=True):
        inside = positions[(positions >= before) & (positions < before + rows.n_rows)] - before
        before += rows.n_rows
        where = str(file.path)
        for batch in guarded(rows.take(own, inside), where, file.hint):
            found.extend(constants.beside(conform(piece, own, where)) for piece in pieces(batch))
    return pa.Table.from_batches(found, schema)


def _rows(file: DataFile) -> Rows:
    try:
        return cast("Callable[[], Rows]", file.rows)()
    except SupersampleError:
        raise
    except Exception as error:
        raise InputError(f"source: the rows of {file.path} could not be counted: {one_line(error)}; {file.hint}") from error
