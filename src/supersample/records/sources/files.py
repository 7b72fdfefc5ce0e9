"""One source of many files, of any mix of formats, whose columns agree; folders named `key=value` add columns to them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, cast

import pyarrow as pa

from supersample._text import one_line
from supersample.errors import InputError, MismatchError, SupersampleError
from supersample.records.sources.base import Batches, Numbered, Source, guarded, pieces, spread
from supersample.records.sources.formats import DAMAGED, FORMATS, DataFile, Rows
from supersample.records.sources.locations import Location, describe, size_of
from supersample.records.sources.partitions import Constants, partitioned
from supersample.records.sources.paths import expand, format_of
from supersample.records.sources.schema import as_text, conform, plain_schema, promote

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
    from_text = _are_csv(files)
    for file in files[1:]:
        own = _promoted(own, file, files[0], from_text=from_text)
    counts = [file.n_rows for file in files]
    known = [describe(file.path) for file in files]
    return _Files(
        label=files[0].path.name if len(files) == 1 else f"{len(files)} files",
        n_rows=None if None in counts else sum(count or 0 for count in counts),
        identity={"kind": "files", "files": known},
        parts=tuple(zip(files, partitioned(found, own), strict=True)),
        own=own,
    ).source()


@dataclass(frozen=True)
class _Files:
    """Files with what their folders add to them; `own` are the columns of the files that are read, without `dropped`."""

    label: str
    n_rows: int | None
    identity: Mapping[str, Any]
    parts: tuple[tuple[DataFile, Constants], ...]
    own: pa.Schema
    dropped: frozenset[str] = frozenset()

    @property
    def schema(self) -> pa.Schema:
        first, constants = self.parts[0]
        return plain_schema(constants.added_to(self.own), str(first.path))

    def source(self) -> Source:
        by_position = all(file.rows is not None for file, _ in self.parts)
        return Source(
            self.label, self.schema, self.n_rows, self.identity, self.read, self.sample if by_position else None, self.without,
            self.as_text if _are_csv([file for file, _ in self.parts]) else None, self.numbered if by_position else None,
        )  # fmt: skip

    def without(self, dropped: frozenset[str]) -> Source:
        own = pa.schema([field for field in self.own if field.name not in dropped])
        if len(own) == 0:
            raise InputError(f"drop must leave a column of the files, got all {len(self.own)} of {self.label}; drop fewer")
        parts = tuple((file, constants.without(dropped)) for file, constants in self.parts)
        return replace(self, parts=parts, own=own, dropped=self.dropped | dropped).source()

    def as_text(self, columns: frozenset[str]) -> Source:
        return replace(self, own=as_text(self.own, columns)).source()

    def read(self, skip: int) -> Batches:
        for file, constants in self.parts:
            if file.n_rows is not None and skip >= file.n_rows:
                skip -= file.n_rows
                continue
            # A file of unknown length is read from its start, so that the skipped rows can be counted.
            start = skip if file.n_rows is not None else 0
            for batch in guarded(file.read(self.own, start), str(file.path), file.hint, start):
                rest = 0 if file.n_rows is not None else min(skip, batch.num_rows)
                skip -= rest
                yield from self._conformed(batch.slice(rest), file, constants)
            if file.n_rows is not None:
                skip = 0

    def sample(self, n: int) -> pa.Table:
        indexed = [_rows(file) for file, _ in self.parts]
        positions = spread(sum(rows.n_rows for rows in indexed), n)
        found: list[pa.RecordBatch] = []
        before = 0
        for (file, constants), rows in zip(self.parts, indexed, strict=True):
            inside = positions[(positions >= before) & (positions < before + rows.n_rows)] - before
            before += rows.n_rows
            for batch in guarded(rows.take(self.own, inside), str(file.path), file.hint):
                found.extend(self._conformed(batch, file, constants))
        return pa.Table.from_batches(found, self.schema)

    def numbered(self) -> Numbered:
        indexed = [_rows(file) for file, _ in self.parts]

        def between(start: int, stop: int) -> Batches:
            before = 0
            for (file, constants), rows in zip(self.parts, indexed, strict=True):
                first, end = max(start - before, 0), min(stop - before, rows.n_rows)
                before += rows.n_rows
                if first < end:
                    for batch in guarded(rows.part(self.own, first, end), str(file.path), file.hint, first):
                        yield from self._conformed(batch, file, constants)

        return Numbered(sum(rows.n_rows for rows in indexed), between)

    def _conformed(self, batch: pa.RecordBatch, file: DataFile, constants: Constants) -> Batches:
        for piece in pieces(batch):
            yield constants.beside(conform(piece, self.own, str(file.path), self.dropped))


def open_file(path: Location, name: str | None = None) -> DataFile:
    """Open one file in the format of its extension; `name` is its name in messages."""
    name, wanted = name or str(path), format_of(path) or "parquet"
    try:
        if size_of(path) == 0:
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


def _promoted(schema: pa.Schema, file: DataFile, first: DataFile, *, from_text: bool) -> pa.Schema:
    """Return the columns of the files so far and of one more.

    from_text: all files are CSV, so a column that one of them has as text can be read as text from all.
    """
    found = file.schema
    if from_text:
        mixed = {name for name in set(schema.names) & set(found.names)
                 if pa.types.is_string(schema.field(name).type) != pa.types.is_string(found.field(name).type)}  # fmt: skip
        schema, found = as_text(schema, mixed), as_text(found, mixed)
    try:
        return promote(schema, found, str(file.path))
    except MismatchError as error:
        raise MismatchError(f"{error} (the first file is {str(first.path)!r})") from error


def _are_csv(files: Sequence[DataFile]) -> bool:
    """Return whether all files can be read with any of their columns as text."""
    return all(format_of(file.path) == "csv" for file in files)


def _rows(file: DataFile) -> Rows:
    try:
        return cast("Callable[[], Rows]", file.rows)()
    except SupersampleError:
        raise
    except Exception as error:
        raise InputError(f"source: the rows of {file.path} could not be counted: {one_line(error)}; {file.hint}") from error
