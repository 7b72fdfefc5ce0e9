"""The file of a run: what was asked for, the points and values known, and the points that wait for values."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from supersample._checks import require
from supersample._files import as_path, behind_link, read_file, write_atomically
from supersample._random import Seed
from supersample._typing import Floats
from supersample.errors import InputError, MismatchError
from supersample.storage.codec import pack, unpack
from supersample.storage.container import DAMAGE, Contents, from_bytes, to_bytes
from supersample.storage.lock import exclusive_lock

__all__ = ["File", "Known", "Saved", "check_same"]

_KIND = "integral"
#: Characters of a value in a message.
_LONGEST = 80


class Known(NamedTuple):
    """Points and values of f in the order in which they were told, and the points that were asked for and not told yet."""

    points: Floats
    values: Floats
    pending: Floats

    @classmethod
    def nothing(cls, width: int) -> "Known":
        """Return the state before any call."""
        return cls(np.empty((0, width)), np.empty(0), np.empty((0, width)))

    @property
    def taken(self) -> Floats:
        """All points, known and pending."""
        return np.concatenate([self.points, self.pending])

    def check(self) -> None:
        """Refuse arrays that do not fit together."""
        shaped = self.points.ndim == 2 and self.values.shape == self.points.shape[:1]
        require(shaped and self.pending.ndim == 2 and self.pending.shape[1] == self.points.shape[1], "the arrays do not fit")
        require(all(bool(np.isfinite(each).all()) for each in self), "a number is not finite")


class Saved(NamedTuple):
    """The contents of a file."""

    asked: Mapping[str, Any]
    seed: Seed
    known: Known


@dataclass
class File:
    """A file that is written after each value, and the lock on it while one run uses it. path: None for a run without one."""

    path: Path | None
    _held: bool = field(default=False)

    @classmethod
    def of(cls, checkpoint: Any) -> "File":
        """Return the file that the argument `checkpoint` names; a link stands for the file that it points to."""
        return cls(None if checkpoint is None else behind_link(as_path(checkpoint, "checkpoint"), "checkpoint"))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep all other runs, of any process, from using the file; a call within another one changes nothing."""
        if self.path is None or self._held:
            yield
            return
        with exclusive_lock(self.path, "checkpoint"):
            self._held = True
            try:
                yield
            finally:
                self._held = False

    def read(self) -> Saved | None:
        """Return what the file holds, or None if there is none yet."""
        if self.path is None or not self.path.exists():
            return None
        name = f"checkpoint {str(self.path)!r}"
        try:
            contents = from_bytes(read_file(self.path, "checkpoint"), name)
        except InputError as error:
            raise InputError(f"checkpoint must name a file that integrate wrote, or a new one: {error}") from error
        if contents.header.get("kind") != _KIND:
            raise InputError(f"{name} holds no values of a function, but another state; choose another name")
        try:
            return _unpacked(contents)
        except DAMAGE as error:
            raise InputError(f"{name} does not hold values of a function, though its checksum fits ({error})") from error

    def write(self, asked: Mapping[str, Any], seed: Seed, known: Known) -> None:
        """Replace the file in one step."""
        if self.path is not None:
            arrays: list[np.ndarray[Any, Any]] = []
            header = {"kind": _KIND, "asked": dict(asked), "seed": pack(seed, arrays), "known": pack(tuple(known), arrays)}
            write_atomically(self.path, to_bytes(Contents(header, arrays, pa.table({}))), "checkpoint")


def check_same(path: Path | None, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
    """Refuse a file that belongs to another problem. A random_state that was left out is that of the file."""
    different = [key for key in ours if theirs.get(key) != ours[key] and not (key == "random_state" and ours[key] is None)]
    if different:
        shown = ", ".join(_difference(key, theirs.get(key), ours[key]) for key in different)
        raise MismatchError(
            f"checkpoint {str(path)!r} belongs to another integral ({shown}); pass the same arguments, or another file"
        )


def _unpacked(contents: Contents) -> Saved:
    header, arrays = contents.header, list(contents.arrays)
    seed, known = unpack(header["seed"], arrays), unpack(header["known"], arrays)
    require(isinstance(seed, Seed) and isinstance(known, tuple) and len(known) == 3, "it is incomplete")
    require(all(isinstance(each, np.ndarray) and each.dtype == np.float64 for each in known), "it holds no numbers")
    require(isinstance(header["asked"], Mapping), "it does not say of what integral")
    state = Known(*known)
    state.check()
    return Saved(header["asked"], seed, state)


def _difference(key: str, then: Any, now: Any) -> str:
    """Say what differs: of two measures of one type only the parameters that do, those of the user's before derived ones."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        if then.get("type") != now["type"]:
            return f"{key}: {then.get('type')} then, {now['type']} now"
        names = [name for name in now if then.get(name) != now[name]]
        return ", ".join(
            f"{name} of the {key}: {then.get(name)} then, {now[name]} now"
            for name in [name for name in names if not name.startswith("_")] or names
        )
    return f"{key}: {_short(then)} then, {_short(now)} now"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
