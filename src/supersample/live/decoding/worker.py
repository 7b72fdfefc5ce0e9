"""The process that decodes: reads a request from standard input, writes rows or a reason to standard output, and so on.

A request is a line of JSON and as many bytes as it says: the schema that is known, then the body. So is an answer.
"""

import json
import os
import sys
from typing import Any, BinaryIO

import pyarrow as pa

from supersample.live.decoding.formats import BodyError, Bounds, OverLimitError, decoded

__all__ = ["READY", "main"]

#: What is written first, when imports are over: starting takes no time of the first body.
READY = b"ready\n"


def main() -> None:
    """Answer requests until standard input ends."""
    reader, writer = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    _limit_memory(int(sys.argv[1]))
    writer.write(READY)
    writer.flush()
    while line := reader.readline():
        request = json.loads(line)
        known, body = reader.read(request["schema"]), reader.read(request["body"])
        status, answer = _answered(request, known, body)
        _write(writer, status, answer)


def _answered(request: dict[str, Any], known: bytes, body: bytes) -> tuple[str, Any]:
    try:
        schema = pa.ipc.read_schema(pa.BufferReader(known)) if known else None
        table = decoded(body, request["format"], request["encoding"], schema, Bounds(**request["bounds"]))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return "rows", sink.getvalue()
    except OverLimitError as error:
        return "over", str(error).encode(errors="replace")
    except BodyError as error:
        return "unfit", str(error).encode(errors="replace")
    except MemoryError:
        return "over", b"the batch takes more memory than decoding may use; send smaller batches"
    except Exception as error:  # a reader may raise anything on a damaged body, and quote it
        return "unreadable", " ".join(f"{error}".split())[:1000].encode(errors="replace")


def _write(writer: BinaryIO, status: str, answer: Any) -> None:
    writer.write(json.dumps({"status": status, "body": len(answer)}).encode() + b"\n")
    writer.write(answer)
    writer.flush()


def _limit_memory(size: int) -> None:
    """Allow so many bytes beside those of the program itself, where the operating system can limit them."""
    try:
        import resource
        from pathlib import Path

        own = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = own + size if hard == resource.RLIM_INFINITY else min(own + size, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
