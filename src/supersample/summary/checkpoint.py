"""Checkpoints: a state on disk from which a broken run goes on as if nothing had happened."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from supersample.errors import InputError, MismatchError
from supersample.summary.container import read_file, write_atomically
from supersample.summary.state import State
from supersample.summary.stored import restore, store

__all__ = ["Checkpoint"]


@dataclass
class Checkpoint:
    """Where and how often a state is written, and what the run was asked for."""

    path: Path
    asked: dict[str, Any]
    source: str
    every_rows: int | None
    every_seconds: float
    _rows: int = 0
    _at: float = field(default_factory=time.monotonic)

    def consider(self, state: State, *, done: bool = False) -> None:
        """Write the state if enough rows or seconds have passed since it was last written, or the run is over."""
        rows, now = state.n_seen - self._rows, time.monotonic()
        due = now - self._at >= self.every_seconds or (self.every_rows is not None and rows >= self.every_rows)
        if rows > 0 and (due or done):
            write_atomically(self.path, store(state, kind="checkpoint", source=self.source, asked=self.asked))
            self._rows, self._at = state.n_seen, now

    def resume(self) -> State | None:
        """Return the state that the file holds, None where there is no file yet; refuse that of another run."""
        if not self.path.exists():
            return None
        restored = restore(read_file(self.path), str(self.path))
        if restored.kind != "checkpoint":
            raise InputError(
                f"checkpoint must name a checkpoint or a file that does not exist yet, got {str(self.path)!r}, which is a "
                f"{restored.kind}; choose another name"
            )
        theirs = restored.more["asked"]
        different = [key for key in self.asked if theirs.get(key) != self.asked[key]]
        if different:
            shown = ", ".join(f"{key}: {theirs.get(key)!r} then, {self.asked[key]!r} now" for key in different)
            raise MismatchError(
                f"checkpoint {str(self.path)!r} belongs to a run that was asked for something else ({shown}); start it with "
                f"the same arguments, or delete the file to begin anew"
            )
        self._rows = restored.state.n_seen
        return restored.state
