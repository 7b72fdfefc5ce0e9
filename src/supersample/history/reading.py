"""How far a source was read into a history that is saved, so that the same call again goes on and takes no row twice."""

from collections.abc import Mapping
from typing import Any

from supersample.errors import MismatchError
from supersample.records.sources import Source

__all__ = ["progress", "rows_to_skip"]


def progress(given: Source, rows: int, *, done: bool, earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a folder remembers: a source, how many of its rows were taken, whether that is all, and files before it."""
    if not given.identity:
        return {"earlier": dict(earlier)} if earlier else {}
    return {"source": dict(given.identity), "rows": rows, "done": done, "earlier": dict(earlier)}


def rows_to_skip(before: Mapping[str, Any], given: Source, folder: str) -> tuple[int | None, Mapping[str, Any]]:
    """Return how many rows of a source were taken in before, None if all of them were; and the files of earlier calls.

    Files may be added after those that were read, or passed by themselves. A source of another kind is new, and so is every
    pipe and iterator.
    """
    known, earlier = before.get("source") or {}, before.get("earlier") or {"files": [], "rows": 0}
    if known and known == dict(given.identity or {}):
        return None if before["done"] else int(before["rows"]), earlier
    last, new = known.get("files") or [], (given.identity or {}).get("files") or []
    files, rows = [*earlier["files"], *last], int(earlier["rows"]) + (int(before["rows"]) if last else 0)
    if last and new[: len(last)] == last:
        return int(before["rows"]), earlier
    if files and new[: len(files)] == files and before.get("done", True):
        return rows, {"files": [], "rows": 0}
    if last and not before["done"]:
        raise MismatchError(
            f"save_to names {folder!r}, which was stopped in the middle of {_shown(last)}; pass the same files again first, or "
            f"start a new folder"
        )
    if new and all(each in files for each in new):
        return None, earlier
    again = _names(files) & _names(new)
    if again:
        raise MismatchError(
            f"save_to names {folder!r}, which has rows of some of these files ({_shown([[each] for each in sorted(again)])}), "
            f"and they have changed since, or stand after others; pass only files that are new, or start a new folder"
        )
    return 0, {"files": files, "rows": rows}


def _names(files: Any) -> set[str]:
    return {str(each[0]) for each in files}


def _shown(files: Any) -> str:
    names = [str(each[0]) for each in files]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
