"""Files named by a URI: `s3://`, `gs://` and others through PyArrow or fsspec, `https://` through Python's own library."""

import fnmatch
import glob
import importlib
import io
import re
import shutil
import tempfile
import weakref
from email.message import Message
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple, cast
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

import pyarrow as pa
import pyarrow.fs

from supersample._text import one_line
from supersample.errors import InputError
from supersample.records.sources.locations import Remote

__all__ = ["Listed", "has_scheme", "remote_files"]

#: Seconds to wait for a server that does not answer.
_PATIENCE = 60
_PIECE = 1 << 20
#: Settings at the end of a URI, `?name=value&...`; a question mark elsewhere is part of a pattern.
_SETTINGS = re.compile(r"\?[\w.~%-]+=[^/?]*$")


class Listed(NamedTuple):
    """A remote file, the folders between it and what was given, and whether it was named, not found in a folder."""

    file: Remote
    folders: tuple[str, ...]
    named: bool


def has_scheme(given: str) -> bool:
    """Return whether a source is named by a URI.

    >>> has_scheme("s3://bucket/a.csv"), has_scheme("C:/a.csv"), has_scheme("a.csv")
    (True, False, False)
    """
    scheme, mark, _ = given.partition("://")
    return bool(mark) and len(scheme) > 1 and scheme.replace("+", "").replace("-", "").replace(".", "").isalnum()


def remote_files(given: str) -> list[Listed]:
    """Return the files that a URI names: one file, all below a folder, or all that match a pattern; empty if there are none."""
    if urlsplit(given).scheme.lower() in ("http", "https"):
        return [Listed(_over_http(given), (), named=True)]
    base, pattern, settings = _split(given)
    system, root = _system(base + settings)
    try:
        about = system.get_file_info(root)
        if about.type == pa.fs.FileType.File:
            return [] if pattern else [Listed(_file(system, about, base, root), (), named=True)]
        below = system.get_file_info(pa.fs.FileSelector(root, recursive=True, allow_not_found=True))
    except Exception as error:
        raise _unreachable(given, error) from error
    found = []
    for each in sorted((each for each in below if each.type == pa.fs.FileType.File), key=lambda each: each.path.split("/")):
        parts = _parts(each.path)[len(_parts(root)) :]
        depth = _matched(parts, pattern)
        if depth is not None:
            found.append(Listed(_file(system, each, base, root), parts[:-1], named=bool(pattern) and depth == len(parts)))
    return found


def _split(given: str) -> tuple[str, tuple[str, ...], str]:
    """Split a URI into the part before its first pattern, the parts of the pattern, and the settings at its end.

    >>> _split("s3://bucket/day=*/?.csv?region=eu-west-1")
    ('s3://bucket', ('day=*', '?.csv'), '?region=eu-west-1')
    """
    settings = _SETTINGS.search(given)
    plain = given[: settings.start()] if settings else given
    head, mark, rest = plain.partition("://")
    parts = rest.split("/")
    first = next((place for place, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    base, pattern = head + mark + "/".join(parts[:first]), tuple(part for part in parts[first:] if part)
    return base, pattern, settings.group() if settings else ""


def _shown(uri: str) -> str:
    """Return a URI without the secrets that it may hold: a password, or the settings at its end.

    >>> _shown("https://user:pass@host/a.csv?signature=b")
    'https://host/a.csv'
    """
    head, mark, rest = _SETTINGS.sub("", uri).partition("://")
    machine, slash, path = rest.partition("/")
    return head + mark + machine.rpartition("@")[2] + slash + path


def _matched(parts: tuple[str, ...], pattern: tuple[str, ...]) -> int | None:
    """Return how many parts of a path match a pattern: all, or those of a folder that it is below; None if none do."""
    if not pattern:
        return 0
    return next((depth for depth in range(len(parts), 0, -1) if _fits(parts[:depth], pattern)), None)


def _fits(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return _fits(parts, pattern[1:]) or (bool(parts) and not parts[0].startswith(".") and _fits(parts[1:], pattern))
    if not parts or (parts[0].startswith(".") and not pattern[0].startswith(".")):
        return False
    return fnmatch.fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part)


def _system(uri: str) -> tuple[pa.fs.FileSystem, str]:
    """Return the file system that a URI names, PyArrow's own or that of fsspec, and the path in it."""
    try:
        return _of_arrow(uri) or _of_fsspec(uri)
    except InputError:
        raise
    except Exception as error:
        raise _unreachable(uri, error) from error


def _of_arrow(uri: str) -> tuple[pa.fs.FileSystem, str] | None:
    try:
        system, path = pa.fs.FileSystem.from_uri(uri)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ImportError):
        return None  # a scheme that it does not know, or not as completely as fsspec
    return system, path


def _of_fsspec(uri: str) -> tuple[pa.fs.FileSystem, str]:
    scheme = urlsplit(uri).scheme
    try:
        system, path = importlib.import_module("fsspec.core").url_to_fs(uri)
    except ImportError as error:
        told = "" if error.name == "fsspec" else f": {one_line(error)}"
        raise InputError(
            f"source: {scheme}:// must be read through fsspec and its package for {scheme}, got {uri!r} and one of them is "
            f"missing{told}; install them, as with `pip install fsspec s3fs` for s3, gcsfs for gs, adlfs for az, "
            f"huggingface_hub for hf"
        ) from error
    except ValueError as error:
        raise InputError(
            f"source must be a path, or a URI of a known scheme, got {uri!r}: {one_line(error)}; try s3://, gs://, az://, "
            f"hf://, https:// or file://"
        ) from error
    return pa.fs.PyFileSystem(pa.fs.FSSpecHandler(system)), path


def _file(system: pa.fs.FileSystem, about: pa.fs.FileInfo, base: str, root: str) -> Remote:
    inside = "/".join(_parts(about.path)[len(_parts(root)) :])
    return Remote(
        uri=_shown(f"{base.rstrip('/')}/{inside}" if inside else base),
        path=PurePosixPath(about.path),
        size=about.size,
        version=str(about.mtime_ns),
        open_file=partial(system.open_input_file, about.path),
        open_stream=partial(system.open_input_stream, about.path, compression=None),
    )


def _over_http(uri: str) -> Remote:
    """Return a file of a web server; it is downloaded to a temporary file if it must be read out of order."""
    try:
        about = _headers(uri)
    except OSError as error:
        raise _unreachable(uri, error) from error
    length = about.get("Content-Length")
    download = cache(partial(_Download, uri))
    return Remote(
        uri=_shown(uri),
        path=PurePosixPath(unquote(urlsplit(uri).path)),
        size=None if length is None else int(length),
        version=about.get("ETag") or about.get("Last-Modified") or "",
        open_file=lambda: download().path.open("rb"),
        open_stream=lambda: cast("BinaryIO", _Reply(uri)),
    )


def _headers(uri: str) -> Message:
    try:
        with _ask(uri, "HEAD") as reply:
            return cast("Message", reply.headers)
    except HTTPError:  # some servers answer GET alone
        with _ask(uri, "GET") as reply:
            return cast("Message", reply.headers)


def _ask(uri: str, method: str) -> Any:
    return urlopen(Request(uri, method=method), timeout=_PATIENCE)  # noqa: S310  the scheme is http or https


class _Reply(io.RawIOBase):
    """The body of a server's reply; a connection that ends early is an error, which Python's own stream would not raise."""

    def __init__(self, uri: str) -> None:
        self._reply = _ask(uri, "GET")
        self._left: int | None = self._reply.length

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        data = bytes(self._reply.read(size if size >= 0 else None))
        if self._left is not None:
            self._left -= len(data)
            if self._left > 0 and len(data) < size:
                raise EOFError(f"the connection ended {self._left:,} bytes before the end of the file")
        return data

    def close(self) -> None:
        self._reply.close()
        super().close()


class _Download:
    """A file of a web server on this machine; it is removed when nothing refers to it any more."""

    def __init__(self, uri: str) -> None:
        folder = Path(tempfile.mkdtemp(prefix="supersample-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = folder / "download"
        with _Reply(uri) as reply, self.path.open("wb") as file:
            shutil.copyfileobj(reply, file, _PIECE)


def _unreachable(uri: str, error: Exception) -> InputError:
    return InputError(
        f"source must be a file, folder or pattern that can be reached, got {_shown(uri)!r}: {one_line(error)}; check its "
        f"name, your credentials and the network"
    )
