"""summarize: any table or stream in, a Summary out, in one pass and fixed memory."""

import inspect
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, cast

from supersample._files import as_path, behind_link
from supersample._random import as_seed
from supersample._typing import RandomState
from supersample._validation import check_count
from supersample.errors import InputError, InputTypeError
from supersample.features import FeatureMap
from supersample.kernels import KernelLike
from supersample.records.encoding import ColumnChoice
from supersample.records.sources import Source, open_source
from supersample.selection.stream.plan import settings_of
from supersample.storage.lock import exclusive_lock
from supersample.summary import state as states
from supersample.summary.checkpoint import Checkpoint, fingerprint
from supersample.summary.outcome import read
from supersample.summary.progress import Bar, Progress
from supersample.summary.state import Request, State
from supersample.summary.summary import Summary

__all__ = ["empty_like", "request_of", "summarize"]


def summarize(
    source: Any,
    prototypes: int = 100,
    criticisms: int = 20,
    *,
    columns: ColumnChoice = None,
    weight: str | None = None,
    kernel: KernelLike = "gaussian",
    bandwidth: Any = "median",
    features: Literal["auto", "fourier", "nystroem"] | FeatureMap = "auto",
    n_features: int | None = None,
    random_state: RandomState = None,
    like: Summary | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_rows: int | None = None,
    checkpoint_seconds: float = 30.0,
    progress: bool | Callable[[Progress], None] = False,
) -> Summary:
    """Summarise a table or a stream in one pass: the rows that represent it, rows that these miss, and how good they are.

    source: a path, a glob, a folder or a list of them (Parquet, CSV, Arrow, Feather, NDJSON), "-" for standard input, a frame
        or table with `__arrow_c_stream__` (pyarrow, polars, pandas, DuckDB), a NumPy array, an iterator of batches, or a
        frame of a cluster (Dask DataFrame or Array, Spark DataFrame), which its workers read.
    prototypes, criticisms: how many rows to choose.
    columns: those that enter the kernel, a list of names or a dict of names and weights; None for all that can. All columns of
        chosen rows are kept.
    weight: the column of row weights.
    kernel, bandwidth, features, n_features, random_state: as for SuperSampler.
    like: a Summary whose encoding, kernel, features and sizes are reused, so that the two can be merged and compared. If it has
        seen fewer than 5,000 rows, its encoding, kernel and features are fixed from then on.
    checkpoint: a file that is written every `checkpoint_seconds` (and `checkpoint_rows`); a run that is started again with the
        same arguments resumes from it and gives the same summary.
    progress: True shows a bar on standard error; a function is called with a Progress after each batch.

    Time O(n (d D + M)), memory independent of the number of rows.

    >>> import numpy as np
    >>> import supersample as ss
    >>> data = np.random.default_rng(0).normal(size=(10_000, 2))
    >>> summary = ss.summarize(data, prototypes=50, random_state=0)
    >>> summary.prototypes.num_rows, summary.n_seen
    (50, 10000)
    """
    asked = {
        "prototypes": prototypes, "criticisms": criticisms, "columns": columns, "weight": weight, "kernel": kernel,
        "bandwidth": bandwidth, "features": features, "n_features": n_features,
    }  # fmt: skip
    given = open_source(source)
    state = (
        states.init(request_of(asked, random_state), given.schema) if like is None else empty_like(like, asked, random_state)
    )
    tell = _teller(progress, given.label)
    if checkpoint is None:
        return _summary(_run(given, state, None, tell), given.label)
    saver = Checkpoint(
        behind_link(as_path(checkpoint, "checkpoint"), "checkpoint"),
        fingerprint(given, state, random_state),
        given.label,
        None if checkpoint_rows is None else check_count(checkpoint_rows, "checkpoint_rows"),
        _seconds(checkpoint_seconds),
    )
    with exclusive_lock(saver.path, "checkpoint"):
        return _summary(_run(given, saver.resume() or state, saver, tell), given.label)


def _summary(state: State, label: str) -> Summary:
    """Return the summary; raise InputError if there is nothing to choose from."""
    return Summary(state, label, settled=states.settle(state))


def request_of(asked: Mapping[str, Any], random_state: RandomState) -> Request:
    """Check the arguments of users and return them as a request."""
    asked = _plainly(asked)
    prototypes, criticisms = asked["prototypes"], asked["criticisms"]
    check_count(prototypes, "prototypes")
    check_count(criticisms, "criticisms", minimum=0)
    how = {name: asked[name] for name in ("kernel", "bandwidth", "features", "n_features")}
    settings = settings_of(n_prototypes=prototypes, n_criticisms=criticisms, search="auto", random_state=random_state, **how)
    return Request(settings, asked["columns"], asked["weight"])


def empty_like(like: Any, asked: Mapping[str, Any], random_state: RandomState) -> State:
    """Return an empty state with the encoding and maps of another summary; they are fixed there from then on."""
    if not isinstance(like, Summary):
        raise InputTypeError(f"like must be a Summary, got {type(like).__name__}; load it first with supersample.load(path)")
    asked = _plainly(asked)
    other = like._fixed()
    theirs = other.request.settings
    defaults = inspect.signature(summarize).parameters
    same = {"prototypes": theirs.n_prototypes, "criticisms": theirs.n_criticisms, "weight": other.request.weight}
    for name, value in asked.items():
        default = defaults[name].default
        if value is not default and value != default and value != same.get(name, default):
            raise InputError(
                f"{name} must be left out with like=, which takes it from the other summary, got {value!r}; leave it out, or "
                f"make a summary of its own without like="
            )
    return states.like(other, replace(theirs, seed=as_seed(random_state)))


def _plainly(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with `columns` as a list or dict, whatever held the names; refuse a `weight` that is not a name."""
    columns, weight = asked["columns"], asked["weight"]
    if weight is not None and not isinstance(weight, str):
        raise InputTypeError(
            f"weight must be the name of a column, got {type(weight).__name__}; add the weights to the source as a column, or "
            f"use SuperSampler.fit(X, sample_weight=...)"
        )
    if columns is not None and not isinstance(columns, str | list | tuple | Mapping) and hasattr(columns, "__iter__"):
        listed = list(columns)
        named = hasattr(columns, "items") and not all(isinstance(each, str) for each in listed)  # a pandas Series of weights
        columns = dict(columns.items()) if named else [str(each) if isinstance(each, str) else each for each in listed]
    return {**asked, "columns": columns}


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise InputError(f"checkpoint_seconds must be a number of seconds, 0 or more, got {value!r}")
    return float(value)


def _teller(progress: Any, label: str) -> Callable[[Progress], None] | None:
    if callable(progress):
        return cast("Callable[[Progress], None]", progress)
    if not isinstance(progress, bool):
        raise InputTypeError(f"progress must be True, False or a function of a Progress, got {type(progress).__name__}")
    return Bar(label) if progress else None


def _run(given: Source, state: State, saver: Checkpoint | None, tell: Callable[[Progress], None] | None) -> State:
    begun, start = time.monotonic(), state.n_seen

    def report(*, done: bool) -> None:
        if tell is not None:
            reading = None if state.stream is None else read(state.stream)
            mmd = None if reading is None else reading.mmd
            tell(Progress(state.n_seen, given.n_rows, mmd, time.monotonic() - begun, done, start))

    batches = given.batches(0) if saver is None else saver.batches(given, state.n_seen)
    try:
        for batch in batches:
            state = states.update(state, batch)
            if saver is not None:
                saver.consider(state)
            report(done=False)
    except KeyboardInterrupt:
        if saver is not None:
            saver.consider(state, done=True)
        raise
    if state.n_seen == 0:
        raise InputError(f"source must have at least one row, got none from {given.label}")
    if saver is not None:
        saver.consider(state, done=True)
    report(done=True)
    return state
