"""Thread-safe objects: calls of their methods are serialised."""

import os
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

__all__ = ["one_at_a_time"]

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")

# Locks are stored outside the objects, since a lock can be neither copied nor pickled.
_locks: "WeakKeyDictionary[Any, threading.RLock]" = WeakKeyDictionary()
_making = threading.Lock()


def one_at_a_time(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Serialise calls: all methods of an object marked with this decorator share one lock.

    >>> class Tally:
    ...     n = 0
    ...
    ...     @one_at_a_time
    ...     def add(self):
    ...         self.n = self.n + 1
    >>> tally = Tally()
    >>> threads = [threading.Thread(target=lambda: [tally.add() for _ in range(100)]) for _ in range(4)]
    >>> for each in threads:
    ...     each.start()
    >>> for each in threads:
    ...     each.join()
    >>> tally.n
    400
    """

    @wraps(method)
    def waiting(owner: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with _lock_of(owner):
            return method(owner, *args, **kwargs)

    return waiting


def _lock_of(owner: Any) -> threading.RLock:
    with _making:
        return _locks.setdefault(owner, threading.RLock())


def _forget() -> None:
    """Drop all locks in a forked child: the parent's threads that held them do not exist there."""
    global _making
    _making = threading.Lock()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
