"""The chosen rows as a data file, in the format that its extension names."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from supersample.cli.interrupts import starting
from supersample.cli.options import refuse_no_folder
from supersample.cli.output import as_rows, plain

if TYPE_CHECKING:
    import pyarrow as pa

    from supersample.summary import Summary

__all__ = ["rows_file", "write_rows"]


def rows_file(_: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a path that no rows can be written to, before anything is read."""
    refuse_no_folder(option, path)
    if path is not None and path.suffix.lower() not in _WRITERS:
        raise click.BadParameter(f"{str(path)!r} must end in one of {', '.join(_WRITERS)}", param=option)
    return path


def write_rows(summary: "Summary", path: Path) -> Path:
    """Write prototypes, then criticisms, atomically; the first column, `_as`, says which a row is."""
    with starting():
        from supersample._files import write_atomically
    write_atomically(path, _WRITERS[path.suffix.lower()](_chosen(summary)), "--rows")
    return path


def _chosen(summary: "Summary") -> "pa.Table":
    """Return prototypes and criticisms as one table; what only one of them has is null in the other."""
    import pyarrow as pa

    parts = []
    for kind, table in (("prototype", summary.prototypes), ("criticism", summary.criticisms)):
        name = "_as"
        while name in table.column_names:  # a column of the data
            name += "_"
        parts.append(table.add_column(0, name, pa.array([kind] * table.num_rows, pa.string())))
    return pa.concat_tables(parts, promote_options="default").combine_chunks()


def _parquet(table: "pa.Table") -> bytes:
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def _arrow(table: "pa.Table") -> bytes:
    import pyarrow.ipc

    out = io.BytesIO()
    with pyarrow.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def _ndjson(table: "pa.Table") -> bytes:
    lines = (json.dumps(plain(row), ensure_ascii=False, allow_nan=False) for row in as_rows(table))
    return "".join(f"{line}\n" for line in lines).encode()


def _csv(table: "pa.Table") -> bytes:
    columns = {name: _written(table.select([name])) for name in table.column_names}
    import pyarrow as pa
    import pyarrow.csv

    out = io.BytesIO()
    pyarrow.csv.write_csv(pa.table(columns), out)
    return out.getvalue()


def _written(column: "pa.Table") -> "pa.ChunkedArray":
    """Return a column as CSV can hold it: lists and other values that have no text of their own as JSON."""
    import pyarrow as pa
    import pyarrow.csv

    try:
        pyarrow.csv.write_csv(column, io.BytesIO())
    except pa.ArrowException:
        values = [plain(next(iter(row.values()))) for row in as_rows(column)]
        texts = [
            value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values
        ]
        return pa.chunked_array([pa.array(texts, pa.string())])
    return column.column(0)


_WRITERS: dict[str, Callable[["pa.Table"], bytes]] = {
    ".parquet": _parquet, ".csv": _csv, ".arrow": _arrow, ".feather": _arrow, ".ndjson": _ndjson, ".jsonl": _ndjson,
}  # fmt: skip
