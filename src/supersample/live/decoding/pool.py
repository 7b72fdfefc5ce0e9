"""A few processes that decode, each for one body at a time; one that dies or takes too long is replaced."""

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict

import pyarrow as pa

from supersample.errors import SupersampleError
from supersample.live.batch import UnavailableError
from supersample.live.decoding.formats import Bounds
from supersample.live.settings import Limits

__all__ = ["Decoders", "DecodingError"]

#: Of the environment, what a process needs to start; tokens and secrets stay out.
_KEPT = ("PATH", "PYTHONPATH", "PYTHONHOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "HOME")

#: Seconds for a process to start, at most.
_START = 120.0
#: Attempts at a body whose process dies: it may have been killed for another reason than the body.
_ATTEMPTS = 2


class DecodingError(SupersampleError, ValueError):
    """A body could not be decoded; over: since it is larger than it may be. plain: whether the message quotes nothing of it."""

    def __init__(self, message: str, *, over: bool = False, plain: bool = True) -> None:
        """Keep the kind."""
        super().__init__(message)
        self.over, self.plain = over, plain


class _DiedError(Exception):
    """A process has ended under a body, for whatever reason."""


class Decoders:
    """Processes that decode. Thread-safe: a caller waits until one is free."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._bounds = Bounds(limits.decoded, limits.columns, limits.rows)
        self._free: queue.SimpleQueue[subprocess.Popen[bytes] | None] = queue.SimpleQueue()
        self._all: set[subprocess.Popen[bytes]] = set()
        self._closed = False
        for _ in range(limits.decoders):
            self._free.put(None)

    def decode(self, body: bytes | bytearray, form: str, encoding: str = "", known: pa.Schema | None = None) -> pa.Table:
        """Return the rows of a body, or raise DecodingError; raise UnavailableError if the reason is not the body.

        form: one of `formats.FORMATS`. encoding: "", "gzip" or "zstd". known: the types of columns seen before, for text.
        """
        for _ in range(_ATTEMPTS):
            with suppress(_DiedError):
                status, answer = self._answered(body, form, encoding, known)
                if status == "rows":
                    return pa.ipc.open_stream(answer).read_all()
                raise DecodingError(answer.decode(errors="replace"), over=status == "over", plain=status != "unreadable")
        raise DecodingError("the process that decodes did not survive the batch, twice: it is damaged, or made to do harm")

    def _answered(self, body: bytes | bytearray, form: str, encoding: str, known: pa.Schema | None) -> tuple[str, bytes]:
        """Return what a process answers, once one is free; raise _DiedError if it ends under the body."""
        worker = self._free.get()
        try:
            if self._closed:
                raise _closing()
            if worker is not None and worker.poll() is not None:
                self._ended(worker)
                worker = None
            if worker is None:
                worker = self._started()
            return self._asked(worker, body, form, encoding, known)
        except BaseException as error:
            self._ended(worker)
            worker = None
            if self._closed:
                raise _closing() from error
            raise
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """End all processes."""
        self._closed = True
        for each in list(self._all):
            self._ended(each)

    def _started(self) -> "subprocess.Popen[bytes]":
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        # Arrow's other allocators reserve more than they use, and so run into a limit that is meant for use.
        environment |= {"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
        # -P: nothing is imported from the folder in which the service was started.
        command = [sys.executable, "-P", "-m", "supersample.live.decoding.worker", str(self._limits.memory)]
        # A session of its own: Ctrl-C is for the service, which ends it when what waits is done.
        try:
            worker = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise _not_started() from error
        self._all.add(worker)
        late = threading.Timer(_START, worker.kill)
        late.start()
        try:
            assert worker.stdout is not None
            if not worker.stdout.readline():
                self._ended(worker)
                raise _not_started()
        finally:
            late.cancel()
        return worker

    def _asked(
        self, worker: "subprocess.Popen[bytes]", body: bytes | bytearray, form: str, encoding: str, known: pa.Schema | None
    ) -> tuple[str, bytes]:
        assert worker.stdin is not None
        assert worker.stdout is not None
        schema = b"" if known is None else known.serialize().to_pybytes()
        request = {
            "schema": len(schema), "body": len(body), "format": form, "encoding": encoding, "bounds": asdict(self._bounds),
        }  # fmt: skip
        too_late = threading.Event()

        def end() -> None:
            too_late.set()
            worker.kill()

        late = threading.Timer(self._limits.seconds, end)
        late.start()
        try:
            worker.stdin.write(json.dumps(request).encode() + b"\n" + schema)
            worker.stdin.write(body)
            worker.stdin.flush()
            head = worker.stdout.readline()
            answer = json.loads(head) if head else {}
            content = worker.stdout.read(answer.get("body", 0))
        except (OSError, ValueError) as error:
            raise self._died(too_late) from error
        finally:
            late.cancel()
        if not head or len(content) < answer["body"]:
            raise self._died(too_late)
        return answer["status"], content

    def _died(self, too_late: threading.Event) -> Exception:
        if too_late.is_set():
            return DecodingError(
                f"the batch takes more than {self._limits.seconds:g} s to decode; send smaller batches", over=True
            )
        return _DiedError()

    def _ended(self, worker: "subprocess.Popen[bytes] | None") -> None:
        if worker is None:
            return
        self._all.discard(worker)
        with suppress(OSError):
            worker.kill()
        worker.wait()
        for pipe in (worker.stdin, worker.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()


def _closing() -> UnavailableError:
    return UnavailableError("the service is being closed; send the batch again later, with the same id")


def _not_started() -> UnavailableError:
    return UnavailableError("no process that decodes could be started; is there enough memory? Send the batch again later")
