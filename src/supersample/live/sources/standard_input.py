"""Rows from standard input: lines of NDJSON or CSV. Rows of a pipe are always new; it cannot be read again."""

import secrets
import select
import sys
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from supersample.live.sources.lines import Lines
from supersample.live.sources.options import check_options, text_format
from supersample.live.sources.protocol import Context, Step

__all__ = ["StandardInput", "source"]


class StandardInput:
    """Standard input, or another pipe; the service ends when it does."""

    wants_end = True

    def __init__(self, pipe: BinaryIO, form: str, context: Context) -> None:
        self._pipe, self._form, self._context = pipe, form, context
        self._closed = False
        #: Ids of this run, so that those of another one are not taken for them.
        self._run = secrets.token_hex(6)

    def steps(self, position: Any) -> Iterator[Step]:
        """Yield batches as they come, and nothing while none do."""
        lines, count = Lines(self._form, self._context), 0
        while not self._closed:
            if not select.select([self._pipe], [], [], 0.2)[0]:
                if lines.has_rows:
                    count += 1
                    yield lines.taken(f"{self._run}-{count}")
                else:
                    yield None
                continue
            piece = self._pipe.read1(1 << 20)  # type: ignore[attr-defined]
            if not piece:
                lines.end()
            else:
                lines.add(piece)
            while lines.is_full or (not piece and lines.has_rows):
                count += 1
                yield lines.taken(f"{self._run}-{count}")
            if not piece:
                return

    def close(self) -> None:
        """Read no more."""
        self._closed = True


def source(options: Mapping[str, Any], context: Context) -> StandardInput:
    """Return standard input as a source. format: "ndjson" or "csv"."""
    check_options("stdin", options, ("format",))
    return StandardInput(sys.stdin.buffer, text_format(options, "ndjson"), context)
