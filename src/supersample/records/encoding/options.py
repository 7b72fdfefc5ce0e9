"""What users ask of columns: which enter the kernel and how, and which weighs the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from supersample._text import did_you_mean
from supersample._validation import check_count, choose
from supersample.errors import InputError, InputTypeError
from supersample.records.encoding.column_type import own_types
from supersample.records.encoding.values import is_numeric

__all__ = ["REDACTED", "TIMES", "TYPES", "ColumnChoice", "ColumnOptions", "listed", "require_column"]

#: What users may pass as `columns`: names, or names with weights; None for all.
ColumnChoice = Sequence[str] | Mapping[str, float] | None
#: What users may say that a column is.
TYPES = ("number", "boolean", "category", "text", "time", "vector", "id", "ignore")
#: The role of columns of which no value is kept.
REDACTED = "redacted"
#: What a time does in the kernel.
TIMES = ("ignore", "cycle", "level")


@dataclass(frozen=True)
class ColumnOptions:
    """The request of the user for the columns of a table.

    columns: those that enter the kernel, with weights if it is a mapping. weight: the column of row weights. types: what
    columns are, against what would be recognised. label: a column that is kept and compared, but stays out of the kernel.
    times: what times do in the kernel. drop: columns that are removed from every row before anything else.
    redact: columns whose values are counted, but neither kept nor used. min_count: texts that occur less often are shown in no
    profile. time: the column that says when rows happened, by which old ones lose weight.
    """

    columns: ColumnChoice = None
    weight: str | None = None
    types: Mapping[str, str] | None = None
    label: str | None = None
    times: str = "ignore"
    drop: tuple[str, ...] = ()
    redact: tuple[str, ...] = ()
    min_count: int = 1
    time: str | None = None

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "ColumnOptions":
        """Return the options that `to_plain` described."""
        fields: dict[str, Any] = {name: tuple(value) if name in ("drop", "redact") else value for name, value in plain.items()}
        return cls(**fields)

    def apart(self, time: str | None) -> "ColumnOptions":
        """Return these options with a column of numbers that say when rows happened kept out of the kernel."""
        known = {} if self.types is None else self.types
        return replace(self, types={time: "ignore", **known}) if time is not None and isinstance(known, Mapping) else self

    def to_plain(self) -> dict[str, Any]:
        """Return the options as plain values that can be stored as JSON and compared."""
        columns, types = self.columns, self.types
        # Earlier files do not have these.
        later = {"min_count": (self.min_count, 1), "time": (self.time, None)}
        return {name: value for name, (value, default) in later.items() if value != default} | {
            "columns": dict(columns) if isinstance(columns, Mapping) else None if columns is None else list(columns),
            "weight": self.weight,
            "types": None if types is None else dict(types),
            "label": self.label,
            "times": self.times,
            "drop": list(self.drop),
            "redact": list(self.redact),
        }

    def kept(self, schema: pa.Schema) -> pa.Schema:
        """Return the schema without the columns that are dropped, if it still has them."""
        return pa.schema([field for field in schema if not self._dropped(field.name)])

    def gone(self, schema: pa.Schema) -> pa.Schema:
        """Return the columns of a schema that are dropped."""
        return pa.schema([field for field in schema if self._dropped(field.name)])

    def rest(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch without the columns that are dropped, if it still has them."""
        gone = [name for name in batch.schema.names if self._dropped(name)]
        return batch.drop_columns(gone) if gone else batch

    def masked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch without the values of columns that are redacted."""
        if not self.redact:
            return batch
        hidden = [
            pa.nulls(batch.num_rows, field.type) if field.name in self.redact else column
            for field, column in zip(batch.schema, batch.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(hidden, schema=batch.schema)

    def _dropped(self, name: str) -> bool:
        """Return whether a column is dropped, itself or with the structure that it is a field of."""
        return any(name == each or name.startswith(f"{each}.") for each in self.drop)

    def check(self, schema: pa.Schema) -> dict[str, float]:
        """Return the kernel weight of each column that is to enter; refuse names that the schema does not have."""
        choose(self.times, "times", TIMES)
        check_count(self.min_count, "min_count")
        self._check_weight(schema)
        self._check_types(schema)
        if self.time is not None:
            require_column(schema, self.time, "time")
        if self.label is not None:
            require_column(schema, self.label, "label")
            if self.label == self.weight:
                raise InputError(f"label must name another column than weight, got {self.label!r} for both")
        for name in self.redact:
            require_column(schema, name, "redact", many=True)
            if name in (self.weight, self.label, self.time) or name in (self.types or {}) or name in (self.columns or ()):
                raise InputError(
                    f"redact names column {name!r}, which another argument uses; a redacted column takes no part: leave it out "
                    f"of one of them"
                )
        return self._weights(schema)

    def _check_weight(self, schema: pa.Schema) -> None:
        if self.weight is None:
            return
        require_column(schema, self.weight, "weight")
        kind = schema.field(self.weight).type
        if not is_numeric(kind):
            raise InputError(f"weight must name a column of numbers, got {self.weight!r} of type {kind}")

    def _check_types(self, schema: pa.Schema) -> None:
        if self.types is None:
            return
        if not isinstance(self.types, Mapping):
            raise InputTypeError(
                f"types must be a dict of names of columns and what they are, got {self.types!r}; "
                f"pass for example {{'zip': 'category'}}"
            )
        for name, kind in self.types.items():
            require_column(schema, name, "types")
            known = (*TYPES, *own_types())
            if not isinstance(kind, str) or kind not in known:
                raise InputError(f"types: column {name!r} must be one of {', '.join(known)}, got {kind!r}")
            if name == self.weight and kind not in ("number", "ignore"):
                raise InputError(f"types: column {name!r} weighs the rows and cannot be a {kind}; leave it out of types")

    def _weights(self, schema: pa.Schema) -> dict[str, float]:
        columns = self.columns
        if columns is None:
            return {name: 1.0 for name in schema.names if name not in (self.weight, self.label, *self.redact)}
        if isinstance(columns, str) or not isinstance(columns, Mapping | Sequence):
            raise InputTypeError(f"columns must be a list of names or a dict of names and weights, got {columns!r}")
        chosen = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns, 1.0)
        for name, share in chosen.items():
            require_column(schema, name, "columns", many=True)
            if name in (self.weight, self.label):
                what = "the column of weights" if name == self.weight else "the label"
                raise InputError(f"columns must not name {what}, got {name!r} for both")
            if isinstance(share, bool) or not isinstance(share, int | float) or not (np.isfinite(share) and share >= 0):
                raise InputError(f"columns: the weight of {name!r} must be a finite number of 0 or more, got {share!r}")
            if share > 0 and (self.types or {}).get(name) == "ignore":
                raise InputError(f"columns names {name!r}, which types says to ignore; leave it out of one of them")
        if not any(chosen.values()):
            raise InputError(f"columns must give at least one column a positive weight, got {columns!r}")
        return {name: float(share) for name, share in chosen.items()}


def require_column(schema: pa.Schema, name: Any, argument: str, *, many: bool = False) -> None:
    """Refuse a name that the schema does not have."""
    if name not in schema.names:
        what = "columns of the source" if many else "a column of the source"
        suggestion = did_you_mean(name, schema.names)
        raise InputError(f"{argument} must name {what} ({listed(schema.names)}), got {name!r}{suggestion}")


def listed(names: Sequence[str]) -> str:
    """Return the first few names, quoted, and how many more there are."""
    shown = ", ".join(map(repr, names[:8]))
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"
