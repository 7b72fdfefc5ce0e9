"""How far a source was read into a history that is saved, so that the same call again goes on and takes no row twice."""

from collections.abc import Mapping
from typing import Any

from supersample.errors import MismatchError
from supersample.records.sources import Source

__all__ = ["progress", "rows_to_skip"]


def progress(given: Source, rows: int, *, done: bool) -> dict[str, Any]:
    """Return what a folder remembers of a source: what it is, how many of its rows were taken in, and whether that is all."""
    return {"source": dict(given.identity), "rows": rows, "done": done} if given.identity else {}


def rows_to_skip(before: Mapping[str, Any], given: Source, folder: str) -> int | None:
    """Return how many rows of a source were taken in before; None if all of them were.

    Files may be added after those that were read. A source of another kind is new, and so is every pipe and iterator.
    """
    known = before.get("source") or {}
    if not known or not given.identity:
        return 0
    if known == dict(given.identity):
        return None if before["done"] else int(before["rows"])
    old, new = (each.get("files") for each in (known, given.identity))
    if not old or not new or not _names(old) & _names(new):
        return 0
    if new[: len(old)] == old:
        return int(before["rows"])
    raise MismatchError(
        f"save_to names {folder!r}, which has rows of some of these files, and they have changed since, or others stand before "
        f"them; pass only files that are new, or start a new folder"
    )


def _names(files: Any) -> set[str]:
    return {str(each[0]) for each in files}
