"""Files that grow: whole lines are read as they are written, and a file that takes the place of another from its start."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from supersample.live.sources.lines import Lines
from supersample.live.sources.options import check_options, path_of, text_format
from supersample.live.sources.protocol import Context, SourceError, Step

__all__ = ["GrowingFiles", "source"]

#: Bytes that are read at a time, and bytes at the start of a file by which it is told from another.
_PIECE, _HEAD = 1 << 20, 256

#: What is remembered of a file: its name for ids, its number on the disk, a digest of its first bytes, the bytes done, and how
#: many of them are the header of CSV. Its text is not: without a header the first line is a row.
Known = dict[str, Any]


class GrowingFiles:
    """Files that a pattern names, each read from where it was left; the position is what is remembered of each, by its path.

    Programs that write logs rename the old file and begin another one under its name. A renamed file that the pattern still
    names goes on where it was; one with other first bytes, or shorter than what was read, is new.
    """

    wants_end = False

    def __init__(self, pattern: Path, form: str | None, context: Context) -> None:
        self._pattern, self._form, self._context = pattern, form, context
        self._closed = False

    def steps(self, position: Any) -> Iterator[Step]:
        """Yield batches of new lines; None when there are none in any file."""
        done: dict[str, Known] = {path: _with_length(each) for path, each in (position or {}).items()}
        while not self._closed:
            if not self._pattern.parent.is_dir():
                raise SourceError(f"the folder {str(self._pattern.parent)!r} is not there")
            found = False
            for path in sorted(self._pattern.parent.glob(self._pattern.name)):
                for step in self._read(path, done):
                    found = True
                    yield step
            if not found:
                yield None

    def _read(self, path: Path, done: dict[str, Known]) -> Iterator[Step]:
        """Yield what is new in a file; `done` is brought up to date."""
        with path.open("rb") as file:
            known, size = _known(path.name, file, done), os.fstat(file.fileno()).st_size
            if known["bytes"] == size:
                return
            form = self._form or ("csv" if path.suffix.lower() in (".csv", ".tsv") else "ndjson")
            first = file.read(max(_HEAD, known["header"]))
            lines = Lines(form, self._context, done=known["bytes"], header=first[: known["header"]])
            file.seek(known["bytes"])
            others = dict(done)

            def position(count: int) -> dict[str, Known]:
                now = {"head": _head(first[: min(count, _HEAD)]), "bytes": count, "header": len(lines.header)}
                return others | {path.name: known | now}

            def batches() -> Iterator[Step]:
                for step in lines.batches(lambda start: f"{known['id']}:{start}", position):
                    done[path.name] = step.position[path.name]
                    yield step

            while piece := file.read(_PIECE):
                lines.add(piece)
                while lines.is_full:
                    yield from batches()
            while lines.has_rows:
                yield from batches()

    def close(self) -> None:
        """Read no more."""
        self._closed = True


def _known(name: str, file: BinaryIO, done: Mapping[str, Known]) -> Known:
    """Return what is remembered of a file under its name or an earlier one; nothing is done yet of one that is new."""
    about, first = os.fstat(file.fileno()), file.read(_HEAD)
    file.seek(0)
    number = f"{about.st_dev}-{about.st_ino}"

    def same(each: Known | None) -> bool:
        if each is None or each["number"] != number or each["bytes"] > about.st_size:
            return False
        return bool(_head(first[: each["head"][0]]) == each["head"])

    own = done.get(name)
    for each in (own, *done.values()):
        if same(each):
            assert each is not None
            return each
    turn = 0 if own is None else own["turn"] + 1
    return {"id": f"{name}:{turn}", "turn": turn, "number": number, "head": [0, ""], "bytes": 0, "header": 0}


def _with_length(known: Known) -> Known:
    """Return what is remembered with the length of the header, where an earlier version has the header itself."""
    header = known["header"]
    return known | {"header": len(header) if isinstance(header, str) else header}


def _head(first: bytes) -> list[Any]:
    return [len(first), hashlib.sha256(first).hexdigest()[:16] if first else ""]


def source(options: Mapping[str, Any], context: Context) -> GrowingFiles:
    """Return growing files as a source. path: a file, or a pattern in its last part. format: "ndjson" or "csv"."""
    check_options("files", options, ("path", "format"))
    form = text_format(options, "ndjson") if "format" in options else None
    return GrowingFiles(path_of("files", options), form, context)
