"""Rows from standard input: lines of NDJSON or CSV. Rows of a pipe are always new; it cannot be read again."""

import secrets
import select
import sys
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from supersample.errors import InputError
from supersample.live.sources.lines import Lines
from supersample.live.sources.options import check_options, text_format
from supersample.live.sources.protocol import Context, Step

__all__ = ["StandardInput", "source"]


class StandardInput:
    """Standard input, or another pipe; the service ends when it does."""

    wants_end = True

    def __init__(self, pipe: BinaryIO, form: str, context: Context) -> None:
        self._pipe = pipe
        self._closed = False
        #: What was read and did not leave; kept where `steps` is called again, since it cannot be read again.
        self._lines = Lines(form, context)
        #: Ids of this run, so that those of another one are not taken for them.
        self._run = secrets.token_hex(6)

    def steps(self, position: Any) -> Iterator[Step]:
        """Yield batches as they come, and nothing while none do."""
        while not self._closed:
            if not select.select([self._pipe], [], [], 0.2)[0]:
                if self._lines.has_rows:
                    yield from self._lines.batches(self._id)
                else:
                    yield None
                continue
            piece = self._pipe.read1(1 << 20)  # type: ignore[attr-defined]
            if not piece:
                self._lines.end()
            else:
                self._lines.add(piece)
            while self._lines.is_full or (not piece and self._lines.has_rows):
                yield from self._lines.batches(self._id)
            if not piece:
                return

    def _id(self, start: int) -> str:
        """Return an id that no other batch has."""
        return f"{self._run}-{start}"

    def close(self) -> None:
        """Read no more."""
        self._closed = True


def source(options: Mapping[str, Any], context: Context) -> StandardInput:
    """Return standard input as a source. format: "ndjson" or "csv"."""
    check_options("stdin", options, ("format",))
    form = text_format(options, "ndjson")
    if sys.platform == "win32":  # `select` knows no pipes there
        raise InputError("standard input cannot be watched on Windows; write the lines to a file, and watch that")
    return StandardInput(sys.stdin.buffer, form, context)
