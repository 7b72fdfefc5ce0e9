"""Folders named `key=value`, as Hive, Spark and DuckDB write them: each key is a column that is constant in a file."""

import datetime as dt
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import unquote

import pyarrow as pa

from supersample.errors import InputError, MismatchError
from supersample.records.sources.paths import Found

__all__ = ["Constants", "partitioned"]

#: The name of a folder for rows that have no value of the key.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True)
class Constants:
    """The columns that the folders of one file add to its own, each of one value."""

    names: tuple[str, ...]
    values: tuple[pa.Scalar, ...]

    def added_to(self, schema: pa.Schema) -> pa.Schema:
        """Return the schema with these columns after its own."""
        added = [pa.field(name, value.type) for name, value in zip(self.names, self.values, strict=True)]
        return pa.schema([*schema, *added])

    def without(self, dropped: Collection[str]) -> "Constants":
        """Return these columns but for some."""
        kept = [(name, value) for name, value in zip(self.names, self.values, strict=True) if name not in dropped]
        return Constants(tuple(name for name, _ in kept), tuple(value for _, value in kept))

    def beside(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch of the file with these columns after its own."""
        if not self.names:
            return batch
        added = [pa.repeat(value, batch.num_rows) for value in self.values]
        return pa.RecordBatch.from_arrays([*batch.columns, *added], schema=self.added_to(batch.schema))


def partitioned(found: Sequence[Found], schema: pa.Schema) -> list[Constants]:
    """Return what the folders of each file add to it; raise if files disagree in keys, or have a column of that name.

    Keys and values are URL-decoded. A column is of whole numbers or ISO dates if all its values are, else of text.
    """
    keys = [_keys_of(each) for each in found]
    for (one, left), (other, right) in pairwise(zip(found, keys, strict=True)):
        if set(left) != set(right):
            raise MismatchError(
                f"source: the folders of all files must name the same keys, got {_listed(left)} for {str(one.path)!r} and "
                f"{_listed(right)} for {str(other.path)!r}; move the files, or pass them by name to read them without"
            )
    names = tuple(keys[0])
    taken = [name for name in names if name in schema.names]
    if taken:
        raise InputError(
            f"source: column {taken[0]!r} must come from the files or from their folders, got both for {str(found[0].path)!r}; "
            f"rename one, or pass the files by name to read them without their folders"
        )
    columns = {name: _inferred([each[name] for each in keys]) for name in names}
    return [Constants(names, tuple(columns[name][place] for name in names)) for place in range(len(keys))]


def _keys_of(found: Found) -> dict[str, str | None]:
    keys: dict[str, str | None] = {}
    for folder in found.folders:
        key, mark, value = folder.partition("=")
        if not key or not mark:
            continue
        name = unquote(key)
        if name in keys:
            raise InputError(
                f"source: each key must be once among the folders of a file, got {name!r} twice for {str(found.path)!r}; "
                f"rename one folder"
            )
        keys[name] = None if value == _NO_VALUE else unquote(value)
    return keys


def _inferred(values: list[str | None]) -> pa.Array:
    given = [value for value in values if value is not None]
    if given and all(_WHOLE_NUMBER.fullmatch(value) for value in given):
        return pa.array([None if value is None else int(value) for value in values], pa.int64())
    if given and all(map(_is_date, given)):
        return pa.array([None if value is None else dt.date.fromisoformat(value) for value in values], pa.date32())
    return pa.array(values, pa.string())


def _is_date(value: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return False
    try:
        dt.date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _listed(keys: dict[str, str | None]) -> str:
    return ", ".join(map(repr, keys)) or "none"
