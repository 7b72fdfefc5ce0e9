"""Where a file is: a path of this machine, or a file of another one that can be opened."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, TypeAlias

import pyarrow as pa

__all__ = ["Location", "Remote", "byte_stream", "describe", "mapped_file", "seekable", "size_of"]


@dataclass(frozen=True)
class Remote:
    """A file of another machine.

    `uri` names it in messages, `path` is its path there; `size` is None if the machine does not say; `version` changes when
    the file does, as far as the machine says. `open_file` opens it for reading anywhere, `open_stream` from its start on.
    """

    uri: str
    path: PurePosixPath
    size: int | None
    version: str
    open_file: Callable[[], BinaryIO]
    open_stream: Callable[[], BinaryIO]

    def __str__(self) -> str:
        return self.uri

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.name

    @property
    def suffix(self) -> str:
        """Its last extension."""
        return self.path.suffix

    @property
    def suffixes(self) -> list[str]:
        """Its extensions."""
        return self.path.suffixes

    def open(self, _: str = "rb") -> BinaryIO:
        """Open the file for reading bytes, anywhere in it."""
        return self.open_file()


Location: TypeAlias = Path | Remote


def size_of(location: Location) -> int | None:
    """Return the bytes of a file, None if they are not known."""
    return location.size if isinstance(location, Remote) else location.stat().st_size


def describe(location: Location) -> list[str | int | None]:
    """Return what a checkpoint stores to recognise a file: its name, its size, and when it was changed."""
    if isinstance(location, Remote):
        return [location.uri, location.size, location.version]
    about = location.stat()
    return [str(location.resolve()), about.st_size, about.st_mtime_ns]


@contextmanager
def seekable(location: Location) -> Iterator[str | BinaryIO]:
    """Give what PyArrow's readers of whole files take: the path of a local file, or an open file."""
    if isinstance(location, Remote):
        with location.open_file() as file:
            yield file
    else:
        yield str(location)


@contextmanager
def mapped_file(location: Location) -> Iterator[pa.NativeFile | BinaryIO]:
    """Open a file for reading anywhere in it; a local one is mapped into memory."""
    with location.open_file() if isinstance(location, Remote) else pa.memory_map(str(location)) as file:
        yield file


@contextmanager
def byte_stream(location: Location, compression: str | None) -> Iterator[BinaryIO]:
    """Open a file for reading from its start on, decompressed if a compression is given."""
    if isinstance(location, Remote):
        with location.open_stream() as raw, pa.input_stream(raw, compression=compression) as stream:
            yield stream
    else:
        with pa.input_stream(str(location), compression=compression) as stream:
            yield stream
