"""Work in other processes of this machine: bytes in, bytes out, nothing pickled.

A task is the name of a function of this package, plain arguments, and frames of bytes, which the function takes one by one;
its result is bytes, too. Workers are plain processes that speak through their standard input and output. So a script needs no
`if __name__ == "__main__"`, as it does for workers of `multiprocessing`, and a worker whose parent is gone ends at the end of
its input.
"""

import json
import os
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import IO, Any, TypeAlias

import numpy as np

from supersample import errors
from supersample._stored import UnknownNameError, foreign_modules
from supersample._threads import n_workers
from supersample._validation import check_count
from supersample.errors import InputError, SupersampleError

__all__ = ["Frame", "Inline", "Task", "Workers", "check_jobs", "serve", "workers"]

#: Bytes, or what can be read as bytes without a copy.
Frame: TypeAlias = Any

_LENGTH = struct.Struct("<q")
#: The length that ends the frames of a task, and the one before an error in place of a result.
_END, _ERROR = -1, -2
#: One thread a worker, since there are as many workers as cores; a worker that waits for a pipe must not be interrupted.
_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_START = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); import json, sys; "
    "sys.path[:] = json.loads(sys.stdin.buffer.readline()); from supersample._processes import serve; serve()"
)


@dataclass(frozen=True)
class Task:
    """A call `function(frames, **arguments)`, where `function` is the name "module:function".

    frames: yields each frame with the number of rows in it, which is reported to the caller.
    """

    key: Any
    function: str
    arguments: Mapping[str, Any]
    frames: Callable[[], Iterable[tuple[int, Frame]]]


def check_jobs(n_jobs: Any) -> int:
    """Return the number of workers that scikit-learn's n_jobs means: -1 is all cores, -2 all but one."""
    if isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool) and n_jobs < 0:
        return max(1, n_workers() + 1 + int(n_jobs))
    if n_jobs == 0:
        raise InputError("n_jobs must be 1 or more, -1 for all cores, or None for one stream, got 0")
    return check_count(n_jobs, "n_jobs")


def workers(count: int) -> "Workers | Inline":
    """Return what does tasks: so many processes, or for one, this process."""
    return Workers(count) if count > 1 else Inline()


class Inline:
    """Tasks in this process, one after the other in the order in which they were given."""

    def __init__(self) -> None:
        self._results: list[tuple[Any, bytes]] = []
        self._on_rows: Callable[[int], None] = lambda _: None

    def __enter__(self) -> "Inline":
        """Nothing is to be started."""
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is to be ended."""

    #: How many tasks it takes before the result of one must be asked for.
    room = 1

    def give(self, task: Task, on_rows: Callable[[int], None]) -> None:
        """Do a task; `on_rows` is called with the rows of each frame."""

        def frames() -> Iterator[Frame]:
            for rows, frame in task.frames():
                yield frame
                on_rows(rows)

        self._results.append((task.key, _function(task.function)(frames(), **task.arguments)))

    def result(self) -> tuple[Any, bytes]:
        """Return key and result of a task that is done."""
        return self._results.pop(0)


@dataclass(frozen=True)
class _Event:
    """What a thread has to say: rows that a worker took, the result of a task, or an error."""

    rows: int = 0
    on_rows: Callable[[int], None] | None = None
    key: Any = None
    result: bytes | None = None
    error: BaseException | None = None


@dataclass
class Workers:
    """Tasks in `count` processes, each started for the first task that no other is free for.

    A thread of this process reads the frames for each worker. All ends with the block: the processes at once, the threads as
    soon as what they read last is there.
    """

    count: int
    _tasks: "queue.SimpleQueue[tuple[Task, Callable[[int], None]] | None]" = field(default_factory=queue.SimpleQueue)
    _events: "queue.SimpleQueue[_Event]" = field(default_factory=queue.SimpleQueue)
    _threads: list[threading.Thread] = field(default_factory=list)
    _children: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _over: bool = False

    @property
    def room(self) -> int:
        """How many tasks it takes before the result of one must be asked for: one more, so that no worker waits."""
        return self.count + 1

    def __enter__(self) -> "Workers":
        """Nothing is started before the first task."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all processes; also after an error or an interrupt."""
        with self._lock:
            self._over = True
            for child in self._children:
                child.kill()
        for _thread in self._threads:
            self._tasks.put(None)
        for child in self._children:
            child.wait()
        for thread in self._threads:
            thread.join()
        for child in self._children:
            for pipe in (child.stdin, child.stdout):
                with suppress(OSError):  # what was not written is lost with the worker
                    assert pipe is not None
                    pipe.close()

    def give(self, task: Task, on_rows: Callable[[int], None]) -> None:
        """Let a worker do a task; `on_rows` is called by `result`, in its thread, with the rows of each frame."""
        if len(self._threads) < self.count:
            self._threads.append(threading.Thread(target=self._serve, name="supersample-feeder", daemon=True))
            self._threads[-1].start()
        self._tasks.put((task, on_rows))

    def result(self) -> tuple[Any, bytes]:
        """Return key and result of a task that is done; raise the error of one that failed."""
        while True:
            try:
                event = self._events.get(timeout=0.2)  # not for ever: on Windows nothing interrupts a lock
            except queue.Empty:
                continue
            if event.error is not None:
                raise event.error
            if event.result is not None:
                return event.key, event.result
            if event.on_rows is not None:
                event.on_rows(event.rows)

    def _serve(self) -> None:
        """Give one worker one task after the other."""
        try:
            child = None
            while (given := self._tasks.get()) is not None and not self._over:
                task, on_rows = given
                child = child or self._started()
                self._events.put(_Event(key=task.key, result=self._done(child, task, on_rows)))
        except BaseException as error:
            self._events.put(_Event(error=error))

    def _started(self) -> "subprocess.Popen[bytes]":
        if not sys.executable:
            raise InputError("n_jobs must be 1 or left out here: this process does not know its Python (sys.executable)")
        with self._lock:
            if self._over:
                raise _OverError
            child = subprocess.Popen(  # noqa: S603 - this Python, and code of our own
                [sys.executable, "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **dict.fromkeys(_LIMITS, "1")},
            )
            self._children.append(child)
        assert child.stdin is not None
        child.stdin.write(json.dumps(sys.path).encode() + b"\n")
        return child

    def _done(self, child: "subprocess.Popen[bytes]", task: Task, on_rows: Callable[[int], None]) -> bytes:
        """Return the result of a task that a worker does; raise its error."""
        pipe, answers = child.stdin, child.stdout
        assert pipe is not None
        assert answers is not None
        try:
            head = {"function": task.function, "arguments": task.arguments, "modules": foreign_modules()}
            _send(pipe, json.dumps(head).encode())
            frames = iter(task.frames())
            while not self._over and (frame := next(frames, None)) is not None:
                _send(pipe, frame[1])
                self._events.put(_Event(frame[0], on_rows))
            _send(pipe, None)
        except _LostError:
            pass  # the worker has an error to tell, or is gone
        return _answer(answers, child)


class _OverError(Exception):
    """The work was over before a worker was started."""


class _LostError(Exception):
    """The process at the other end is gone."""


def _send(pipe: IO[bytes], frame: Frame | None) -> None:
    """Write a frame, or the end of all frames, and make sure that it left."""
    try:
        if frame is None:
            pipe.write(_LENGTH.pack(_END))
        else:
            view = memoryview(frame).cast("B")
            pipe.write(_LENGTH.pack(view.nbytes))
            pipe.write(view)
        pipe.flush()
    except OSError as error:
        raise _LostError from error


def _answer(pipe: IO[bytes], child: "subprocess.Popen[bytes]") -> bytes:
    """Return the answer of a worker; raise the error that it sends."""
    try:
        head = pipe.read(_LENGTH.size)
        failed = head == _LENGTH.pack(_ERROR)
        if not failed:
            return _rest(pipe, head)
        failure = json.loads(_rest(pipe, pipe.read(_LENGTH.size)))
    except _LostError:
        raise InputError(
            f"a worker process ended before its work was done, with exit code {child.wait()}, as it does if the machine runs "
            f"out of memory; nothing was returned; run again with a smaller n_jobs"
        ) from None
    if failure["unknown"]:
        reason = "; ".join(failure["lost"]) or "a script or notebook registered it itself"
        raise InputError(
            f"n_jobs must be 1 or left out here: other processes do not have what is registered as {failure['unknown']!r} "
            f"({reason}); register it in a module that can be imported, and import that"
        )
    kind: type[SupersampleError] = getattr(errors, failure["kind"], InputError)
    raise kind(failure["message"])


def _rest(pipe: IO[bytes], head: bytes) -> bytes:
    """Return the frame whose length was read."""
    if len(head) < _LENGTH.size:
        raise _LostError
    length = _LENGTH.unpack(head)[0]
    data = pipe.read(length)
    if len(data) < length:
        raise _LostError
    return data


def serve() -> None:
    """Do the tasks that come in on standard input, until it ends; the first error ends the process.

    What a library prints goes to standard error, so that answers stay whole.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the parent ends this one
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(_LostError):
        while True:
            head = json.loads(_received(asked) or b"")
            lost = _imported(head["modules"])
            try:
                result = _called(head, asked)
            except _LostError:
                return
            except BaseException as error:
                failure = {"kind": type(error).__name__, "message": str(error), "unknown": _unknown_name(error), "lost": lost}
                if not isinstance(error, SupersampleError):
                    failure |= {"kind": "InputError", "message": f"a worker process failed: {type(error).__name__}: {error}"}
                answers.write(_LENGTH.pack(_ERROR))
                _send(answers, json.dumps(failure).encode())
                return
            _send(answers, result)


def _imported(modules: Iterable[str]) -> list[str]:
    """Import modules that register kernels, maps and column types of the user's own; return why some could not be."""
    lost = []
    for name in modules:
        try:
            import_module(name)
        except Exception as error:
            lost.append(f"module {name} cannot be imported there: {type(error).__name__}: {error}")
    return lost


def _unknown_name(error: BaseException | None) -> str:
    """Return the name that no class was registered under, if that is what caused an error."""
    while error is not None and not isinstance(error, UnknownNameError):
        error = error.__cause__ or error.__context__
    return "" if error is None else str(error.args[0])


def _called(head: Mapping[str, Any], pipe: IO[bytes]) -> bytes:
    frames = _frames(pipe)
    result = _function(head["function"])(frames, **head["arguments"])
    for _ in frames:  # what the function did not ask for
        pass
    return result


def _received(pipe: IO[bytes]) -> bytes | None:
    """Return the next frame, None at the end of a task; raise an error at the end of the input."""
    head = pipe.read(_LENGTH.size)
    return None if head == _LENGTH.pack(_END) else _rest(pipe, head)


def _frames(pipe: IO[bytes]) -> Iterator[bytes]:
    while (frame := _received(pipe)) is not None:
        yield frame


def _function(name: str) -> Callable[..., bytes]:
    module, _, function = name.partition(":")
    found: Callable[..., bytes] = getattr(import_module(module), function)
    return found
