"""Files that appear in a folder: each is read once, when it is whole."""

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from supersample.errors import InputError
from supersample.live.batch import Batch, Unread
from supersample.live.decoding import DecodingError
from supersample.live.sources.options import check_options, path_of
from supersample.live.sources.protocol import Context, SourceError, Step

__all__ = ["Folder", "source"]

#: Formats of files, by their extensions; of text, also compressed.
_FORMATS = {".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "ndjson", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet",
            ".pq": "parquet", ".arrows": "arrow"}  # fmt: skip
_TEXT = ("ndjson", "csv")
_ENCODINGS = {".gz": "gzip", ".zst": "zstd"}
#: Rows of a batch.
_ROWS = 20_000


class Folder:
    """Files of a folder, in the order of their names; a new one is read when it has not changed for `settle` seconds.

    The position holds the names of files that were read, with size and time of change, and the rows done of the one at hand. A
    file that changed after it was read, or read in part, is set aside with that reason: nobody can tell what of it is new. One
    that is no longer there is forgotten when another one is read: not before, since a folder without files may be a disk that
    is away.
    """

    wants_end = False

    def __init__(self, folder: Path, settle: float, context: Context) -> None:
        self._folder, self._settle, self._context = folder, settle, context
        self._closed = False

    def steps(self, position: Any) -> Iterator[Step]:
        """Yield the rows of new files in batches; None when there is no new one."""
        done: dict[str, Any] = dict((position or {}).get("done", {}))
        within: list[Any] = list((position or {}).get("within", ["", 0]))
        while not self._closed:
            new = self._new(done, within)
            if not new:
                yield None
            for path, about in new:
                yield from self._read(path, about, done, within)
                within = ["", 0]

    def _new(self, done: dict[str, Any], within: list[Any]) -> list[tuple[Path, list[int]]]:
        """Return files that are whole and were not read as they are now; if there are any, forget those that are gone.

        The one that was read in part comes first, since the positions of others do not say how far. If it changed since, it
        counts as read as it was.
        """
        if not self._folder.is_dir():
            raise SourceError(f"the folder {str(self._folder)!r} is not there")
        found = []
        partly, _, then = within[0].rpartition(":")
        paths = sorted(self._folder.iterdir(), key=lambda path: (path.name != partly, path))
        for path in paths:
            if path.name.startswith((".", "_")) or not _kind(path)[0] or not path.is_file():
                continue
            status = path.stat()
            about = [status.st_size, status.st_mtime_ns]
            if path.name == partly and f"{about}" != then:
                done[path.name] = json.loads(then)
            if done.get(path.name) != about and time.time() - status.st_mtime >= self._settle:
                found.append((path, about))
        if found:
            for name in done.keys() - {path.name for path in paths}:
                del done[name]
        return found

    def _read(self, path: Path, about: list[int], done: dict[str, Any], within: list[Any]) -> Iterator[Step]:
        name = self._context.name
        batch_id = f"{path.name}:{about}"
        changed = path.name in done
        done[path.name] = about
        last = {"done": dict(done), "within": ["", 0]}
        if changed:
            partly = within[0].rpartition(":")[0] == path.name
            read = f"its first {within[1]:,} rows were" if partly else "it was"
            reason = f"{path.name} changed after {read} read; write new rows to a new file"
            yield Unread(batch_id, reason, b"", name, last, plain=True)
            return
        try:
            table = self._table(path)
        except DecodingError as error:
            yield Unread(batch_id, f"{path.name}: {error}", b"", name, last, plain=error.plain)
            return
        filled = _kind(path)[0] in _TEXT
        before = {each: known for each, known in done.items() if each != path.name}
        for start in range(within[1] if within[0] == batch_id else 0, table.num_rows, _ROWS):
            end = min(start + _ROWS, table.num_rows)
            position = last if end == table.num_rows else {"done": before, "within": [batch_id, end]}
            yield Batch(f"{batch_id}:{start}", table.slice(start, _ROWS), name, position, filled=filled)

    def _table(self, path: Path) -> pa.Table:
        form, encoding = _kind(path)
        if path.stat().st_size > self._context.limits.body:
            raise DecodingError(f"a file may have at most {self._context.limits.body:,} bytes; cut it, or raise limits.body")
        known = self._context.schema() if form in _TEXT else None
        return self._context.decoders.decode(path.read_bytes(), form, encoding, known)

    def close(self) -> None:
        """Read no more."""
        self._closed = True


def _kind(path: Path) -> tuple[str, str]:
    """Return format and compression of a file, by its name; the format is empty if it is not one that can be read."""
    encoding = _ENCODINGS.get(path.suffix.lower(), "")
    return _FORMATS.get(Path(path.stem).suffix.lower() if encoding else path.suffix.lower(), ""), encoding


def source(options: Mapping[str, Any], context: Context) -> Folder:
    """Return a folder as a source. path: the folder. settle: seconds after its last change for which a file is left alone."""
    check_options("folder", options, ("path", "settle"))
    settle = options.get("settle", 1.0)
    if isinstance(settle, bool) or not isinstance(settle, int | float) or settle < 0:
        raise InputError(f"settle must be a number of seconds, got {settle!r}")
    return Folder(path_of("folder", options), float(settle), context)
