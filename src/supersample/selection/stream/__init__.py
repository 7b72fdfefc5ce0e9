"""Selection from a stream in one pass. State and pure functions: `init`, `update`, `finish`."""

from supersample.selection.stream.lifecycle import Selected, drain, finish, fix_plan, has_weight, init, update
from supersample.selection.stream.state import Stream

__all__ = ["Selected", "Stream", "drain", "finish", "fix_plan", "has_weight", "init", "update"]
