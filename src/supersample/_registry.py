"""Registries: the named things of one kind (kernels, feature maps, column types, ...), looked up by whatever must know them."""

import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

from supersample.errors import InputError, InputTypeError

__all__ = ["Registry"]

T = TypeVar("T")

# Names with capitals are those of the classes of the package in files.
_WORD = re.compile(r"[a-z][a-z0-9_-]*")


class Registry(Mapping[str, T]):
    """Things of one kind by name, in the order in which they were added.

    >>> shapes = Registry("shape", {"ball": 3})
    >>> shapes.add("disc", 2)
    >>> list(shapes), shapes["disc"]
    (['ball', 'disc'], 2)
    """

    def __init__(self, what: str, entries: Mapping[str, T] | None = None) -> None:
        self.what = what
        self._entries: dict[str, T] = dict(entries or {})
        self._writers: dict[str, tuple[str, str]] = {}

    def add(self, name: str, entry: T, written: type | None = None) -> None:
        """Add a thing; refuse a name that is taken, unless by the same class, whose cell or module is run again.

        written: the class that the user wrote, if the entry is made from it.
        """
        self.check(name)
        writer = entry if written is None else written
        origin = (getattr(writer, "__module__", ""), getattr(writer, "__qualname__", repr(writer)))
        if name in self._entries and self._writers.get(name) != origin:
            raise InputError(f"the {self.what} {name!r} exists already; choose another name")
        self._entries[name], self._writers[name] = entry, origin

    def check(self, name: str) -> None:
        """Refuse what is no name."""
        if not isinstance(name, str) or not _WORD.fullmatch(name):
            raise InputTypeError(
                f"the name of a {self.what} must be a word of lower-case letters, digits, - and _, and begin with a letter, "
                f"got {name!r}"
            )

    def __getitem__(self, name: str) -> T:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
