"""Checkpoints: a state on disk from which an interrupted run resumes, with the same result as without the interruption."""

import glob
import hashlib
import itertools
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from supersample._files import beside, read_file, write_atomically
from supersample._typing import RandomState
from supersample.errors import InputError, MismatchError
from supersample.records.encoding import ColumnOptions
from supersample.records.sources import Source
from supersample.selection.stream.aim import Aim
from supersample.summary.state import State, WarmUp
from supersample.summary.state_file import restore, store

__all__ = ["Checkpoint", "fingerprint"]

#: Characters of a value in a message: lists of columns may be long.
_LONGEST = 80


@dataclass
class Checkpoint:
    """Where and how often a state is written, and the arguments of the run."""

    path: Path
    asked: dict[str, Any]
    source: str
    every_rows: int | None
    every_seconds: float
    beginning: str = ""
    _rows: int = 0
    _at: float = field(default_factory=time.monotonic)

    def consider(self, state: State, *, done: bool = False) -> None:
        """Write the state if enough rows or seconds have passed since it was last written, or the run is over."""
        rows, now = state.n_seen - self._rows, time.monotonic()
        due = now - self._at >= self.every_seconds or (self.every_rows is not None and rows >= self.every_rows)
        if rows > 0 and (due or done):
            data = store(state, kind="checkpoint", source=self.source, asked=self.asked, beginning=self.beginning)
            write_atomically(self.path, data, "checkpoint")
            self._rows, self._at = state.n_seen, now

    def resume(self) -> State | None:
        """Return the state in the file, or None if there is no file yet; refuse the state of another run."""
        if not self.path.exists():
            return None
        restored = restore(read_file(self.path, "checkpoint"), str(self.path))
        if restored.kind != "checkpoint":
            raise InputError(
                f"checkpoint must name a checkpoint or a file that does not exist yet, got {str(self.path)!r}, which is a "
                f"{restored.kind}; choose another name"
            )
        theirs = restored.more["asked"]
        different = [key for key in self.asked if theirs.get(key) != self.asked[key]]
        if different:
            shown = ", ".join(
                "source: another one, or changed since"
                if key == "source"
                else f"{key}: {_short(theirs.get(key))} then, {_short(self.asked[key])} now"
                for key in different
            )
            raise MismatchError(
                f"checkpoint {str(self.path)!r} belongs to a run that was asked for something else ({shown}); start it with "
                f"the same arguments, or delete the file to start again"
            )
        self._rows = restored.state.n_seen
        self.beginning = str(restored.more["beginning"])
        for partial in self.path.parent.glob(f"{glob.escape(beside(self.path, '').name)}{'[0-9a-f]' * 8}.partial"):
            partial.unlink(missing_ok=True)  # left by a run that was killed while it wrote
        return restored.state

    def batches(self, given: Source, skip: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows from number `skip` on; refuse a source with another first row, or with fewer than `skip` rows.

        A source that can be read only once is read from its beginning, and checked on the way.
        """
        if skip == 0 or not given.identity:
            yield from self._checked(given.batches(0), skip, given.label)
            return
        if given.n_rows is not None and given.n_rows < skip:
            raise self._another(given.label, f"it has {given.n_rows:,} rows, fewer than the {skip:,} read then")
        for _ in self._checked(itertools.islice(given.batches(0), 1), 0, given.label):
            pass
        yield from given.batches(skip)

    def _checked(self, batches: Iterable[pa.RecordBatch], skip: int, label: str) -> Iterator[pa.RecordBatch]:
        seen = 0
        for batch in batches:
            if seen == 0:
                found = _digest(batch.slice(0, 1))
                if self.beginning and found != self.beginning:
                    raise self._another(label, "its first row is another")
                self.beginning = found
            before, seen = seen, seen + batch.num_rows
            if seen > skip:
                yield batch.slice(max(0, skip - before))
        if seen < skip:
            raise self._another(label, f"it has {seen:,} rows, fewer than the {skip:,} read then")

    def _another(self, label: str, why: str) -> MismatchError:
        return MismatchError(
            f"checkpoint {str(self.path)!r} belongs to a run over other data than {label}: {why}; start it with the same "
            f"source, or delete the file to start again"
        )


def fingerprint(given: Source, state: WarmUp, random_state: RandomState) -> dict[str, Any]:
    """Return what must be equal for a run to resume from a checkpoint, as plain values."""
    request = state.request
    settings = request.settings
    features, defaults = settings.features, ColumnOptions().to_plain()
    # What is left at its default is None, as are options that an earlier version did not have.
    options = {name: None if value == defaults.get(name) else value for name, value in request.options.to_plain().items()}
    # A second call with the same generator, or with None, has another seed, so the seed of the file is used.
    repeats = random_state is not None and not isinstance(random_state, np.random.Generator)
    alike = None
    if state.maps is not None:
        encoding, plan = state.maps
        alike = json.dumps([dict(plan.feature_map.identity), encoding.to_plain()["blocks"]], sort_keys=True)
    return {
        "source": dict(given.identity),
        "columns": [f"{field.name}: {field.type}" for field in given.schema],
        "chosen": options.pop("columns"),
        **options,
        "prototypes": settings.n_prototypes,
        "criticisms": settings.n_criticisms,
        "kernel": repr(settings.kernel),
        "features": features if isinstance(features, str) else repr(features),
        "n_features": settings.n_features,
        **({} if settings.half_life is None else {"half_life": settings.half_life}),
        "random_state": [settings.seed.entropy, *settings.seed.path] if repeats else None,
        "like": None if alike is None else hashlib.sha256(alike.encode()).hexdigest(),
        **({} if state.aim is None else {"target": _digest_of(state.aim)}),
    }


def _digest_of(aim: Aim) -> str:
    return hashlib.sha256(aim.points.tobytes() + aim.moments.sums().tobytes()).hexdigest()


def _digest(batch: pa.RecordBatch) -> str:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch.take(pa.array(range(batch.num_rows))))
    return hashlib.sha256(sink.getvalue()).hexdigest()


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
