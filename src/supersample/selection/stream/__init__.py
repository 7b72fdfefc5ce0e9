"""The stream: rows come in one pass, a few stay. State and pure functions: `init`, `update`, `finish`."""

from supersample.selection.stream.lifecycle import Selected, drain, finish, fix_plan, has_weight, init, update
from supersample.selection.stream.state import Stream

__all__ = ["Selected", "Stream", "drain", "finish", "fix_plan", "has_weight", "init", "update"]
