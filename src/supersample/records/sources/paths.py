"""Expand paths, globs and folders into files, in a fixed order."""

import glob
import os
from collections.abc import Sequence
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit
from urllib.request import url2pathname

from supersample.errors import InputError
from supersample.records.sources.formats import COMPRESSIONS, FORMATS
from supersample.records.sources.locations import Location
from supersample.records.sources.remote import has_scheme, remote_files

__all__ = ["Found", "expand", "format_of"]

_File = TypeVar("_File", bound=Location)


class Found(NamedTuple):
    """A file, and the names of the folders between it and the folder or the part of the path that was given."""

    path: Location
    folders: tuple[str, ...] = ()


def expand(given: Sequence[str | os.PathLike[str]]) -> list[Found]:
    """Return the files of paths, globs and folders: those given in the order given, those found sorted by name.

    A folder stands for all data files in it and below, except hidden ones and those whose name, or folder's name, begins
    with an underscore; a glob for all that it matches, folders included. The folders of a file begin below the given folder,
    or with the first part of the glob that is a pattern; a file given by its name has none.
    """
    if not given:
        raise InputError("source must name at least one file, got an empty list of paths")
    return [file for path in given for file in _files(os.fspath(path))]


def format_of(path: Location) -> str | None:
    """Return the format that a file's extension names, or None if it names none that can be read."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    packed = bool(suffixes) and suffixes[-1] in COMPRESSIONS
    suffix = "".join(suffixes[:-1] if packed else suffixes[-1:])
    found = next((name for name, each in FORMATS.items() if suffix in each.extensions), None)
    return None if found is None or (packed and not FORMATS[found].is_text) else found


def _files(given: str) -> list[Found]:
    if has_scheme(given):
        if not given.lower().startswith("file://"):
            return _remote(given)
        given = url2pathname(urlsplit(given).path)
    path = Path(given).expanduser()
    try:
        there, folder = path.exists(), path.is_dir()
    except PermissionError as error:
        raise InputError(
            f"source must be a file that can be read, got {given!r}: {error.strerror}; check its rights"
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(f"source must be a path, got {given[:100]!r}, which can be none: {error.args[-1]}") from error
    if there:
        return [_below(path, file) for file in _folder(path)] if folder else [Found(_known(path))]
    if glob.has_magic(given):
        matches = sorted(map(Path, glob.glob(str(path), recursive=True)))  # noqa: PTH207  Path.glob takes no absolute one
        files = [file for match in matches for file in (_folder(match) if match.is_dir() else [_known(match)])]
        if files:
            # `**` matches both a folder and what is in it.
            return [_below(_before_pattern(path), file) for file in dict.fromkeys(files)]
        raise InputError(f"source must match files, got the pattern {given!r} that matches none in {Path.cwd()}")
    raise InputError(f"source must be an existing file, folder or pattern, got {given!r} and found nothing there")


def _remote(given: str) -> list[Found]:
    listed = remote_files(given)
    files = [
        Found(_known(each.file) if each.named else each.file, each.folders)
        for each in listed
        if each.named or (format_of(each.file) and not _aside(PurePosixPath(*each.folders, each.file.name)))
    ]
    if not files:
        what = f"{len(listed)} files of other formats" if listed else "no file there"
        raise InputError(f"source must name data files, got {given!r} and found {what}; {_expected()}")
    return files


def _below(folder: Path, file: Path) -> Found:
    return Found(file, file.relative_to(folder).parts[:-1])


def _before_pattern(path: Path) -> Path:
    """Return the part of a glob before its first part that is a pattern."""
    first = next(place for place, part in enumerate(path.parts) if glob.has_magic(part))
    return Path(*path.parts[:first])


def _folder(folder: Path) -> list[Path]:
    inside = (path for path in folder.rglob("*") if not _aside(path.relative_to(folder)))
    files = sorted(path for path in inside if format_of(path) and path.is_file())
    if not files:
        raise InputError(f"source must hold data files, got the folder {str(folder)!r} without any; {_expected()}")
    return files


def _known(path: _File) -> _File:
    if format_of(path) is None:
        raise InputError(
            f"source must be of a format that its extension tells, got {path.name!r}; {_expected()}: rename or convert the file"
            + "; or is it a saved summary? `supersample show` and `supersample.load` read those" * (path.suffix == ".ss")
        )
    return path


def _aside(path: PurePath) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _expected() -> str:
    extensions = [each for one in FORMATS.values() for each in one.extensions]
    return f"files end in {', '.join(extensions)}, the text formats also in one of these and {', '.join(COMPRESSIONS)}"
