"""summarize: any table or stream in, a Summary out, in one pass and fixed memory."""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa

from supersample._durations import is_duration
from supersample._files import as_path, behind_link
from supersample._processes import check_jobs
from supersample._random import as_seed
from supersample._typing import RandomState
from supersample._validation import check_count
from supersample.errors import InputError, InputTypeError
from supersample.features import FeaturesLike
from supersample.kernels import KernelLike
from supersample.kernels.bandwidth import Bandwidth
from supersample.records.encoding import ColumnChoice, ColumnOptions, weights_of
from supersample.records.encoding.values import is_numeric
from supersample.records.sources import Source, open_source, without
from supersample.records.sources.base import OtherTypeError
from supersample.selection.stream.plan import WARM_UP, settings_of
from supersample.storage.lock import exclusive_lock
from supersample.summary import state as states
from supersample.summary.bad_cells import fitted, require_readable, with_same_texts
from supersample.summary.checkpoint import Checkpoint, fingerprint
from supersample.summary.in_parts import numbered, summarize_in_parts
from supersample.summary.outcome import measure
from supersample.summary.progress import Bar, Progress
from supersample.summary.snapshot import Snapshot
from supersample.summary.state import Request, Running, State, WarmUp
from supersample.summary.summary import Summary
from supersample.summary.targeting import aimed_state

__all__ = ["Options", "check_seconds", "first_state", "summarize"]

#: How many criticisms there are if no number is given; with a target there are none.
_CRITICISMS = 20


@dataclass(frozen=True)
class Options:
    """What a summary is asked to be: the arguments of `summarize` that shape its result, with their defaults.

    All that handles them goes through these fields: `summarize`, like=, clusters, the command line. A new option is a field
    here, an argument of `summarize` below, and a line in `cli/summarize.py`.
    """

    prototypes: int = 100
    criticisms: int | None = None
    columns: ColumnChoice = None
    types: Mapping[str, str] | None = None
    label: str | None = None
    times: Literal["ignore", "cycle", "level"] = "ignore"
    drop: Sequence[str] = ()
    redact: Sequence[str] = ()
    min_count: int = 1
    weight: str | None = None
    target: Any = None
    kernel: KernelLike = "gaussian"
    bandwidth: Bandwidth = "median"
    features: FeaturesLike = "auto"
    n_features: int | None = None
    time: str | None = None
    half_life: float | str | timedelta | None = None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> "Options":
        """Take the options out of the arguments of a call; refuse what has no meaning whatever the rows are."""
        options = cls(**{field.name: arguments[field.name] for field in fields(cls)})
        if options.weight is not None and not isinstance(options.weight, str):
            raise InputTypeError(
                f"weight must be the name of a column, got {type(options.weight).__name__}; add the weights to the source as a "
                f"column, or use SuperSampler.fit(X, sample_weight=...)"
            )
        drop, redact = _names(options.drop, "drop"), _names(options.redact, "redact")
        used = {"redact": redact, "label": (options.label,), "weight": (options.weight,), "types": options.types or ()}
        used["time"] = (options.time,)
        if options.time is not None and options.half_life is None:
            raise InputError("time must come with half_life, the time in which a row loses half of its weight, got none")
        for name, others in ((name, others) for name in drop for others in used.items()):
            if name in others[1]:
                raise InputError(f"drop names column {name!r}, which {others[0]} names too; leave it out of one of them")
        least = check_count(options.min_count, "min_count")
        return replace(options, columns=_plain_columns(options.columns), drop=drop, redact=redact, min_count=least)

    def request(self, random_state: RandomState) -> Request:
        """Check the options and return them as a request."""
        usual = _CRITICISMS if self.target is None else 0
        settings = settings_of(
            n_prototypes=check_count(self.prototypes, "prototypes"),
            n_criticisms=usual if self.criticisms is None else check_count(self.criticisms, "criticisms", minimum=0),
            kernel=self.kernel, bandwidth=self.bandwidth, features=self.features, n_features=self.n_features, search="auto",
            random_state=random_state, half_life=self.half_life, by_time=self.time is not None,
        )  # fmt: skip
        names = (field.name for field in fields(ColumnOptions))
        columns = ColumnOptions(**{name: getattr(self, name) for name in names})
        by_numbers = self.time is not None and not is_duration(self.half_life)
        return Request(settings, columns.apart(self.time) if by_numbers else columns)

    def check_half_life(self, schema: pa.Schema) -> None:
        """Refuse a duration for a column of numbers, and a number for one of times."""
        if self.time is None or self.time not in schema.names:
            return
        kind = schema.field(self.time).type
        if is_duration(self.half_life) == is_numeric(kind):
            wanted = "a number" if is_numeric(kind) else "a duration such as '7d'"
            raise InputError(
                f"half_life must be {wanted} where time names a column of type {kind}, got {self.half_life!r} for {self.time!r}"
            )

    def empty_like(self, like: Any, random_state: RandomState) -> WarmUp:
        """Return an empty state with the encoding and maps of another summary; they are fixed there from then on."""
        if not isinstance(like, Summary):
            raise InputTypeError(
                f"like must be a Summary, got {type(like).__name__}; load it first with supersample.load(path)"
            )
        if self.target is not None:
            raise InputError(
                "target must be left out with like=, which takes that of the other summary, if it has one; leave out one of "
                "the two"
            )
        other = like._fixed()
        theirs = other.request.settings
        same = {"prototypes": theirs.n_prototypes, "criticisms": theirs.n_criticisms, "half_life": theirs.half_life}
        same |= vars(other.request.options)
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not field.default and value != field.default and value != same.get(field.name, field.default):
                raise InputError(
                    f"{field.name} must be left out with like=, which takes it from the other summary, got {value!r}; leave it "
                    f"out, or make a summary of its own without like="
                )
        return states.like(other, replace(theirs, seed=as_seed(random_state)))

    def empty(self, given: Source, like: Any, random_state: RandomState) -> WarmUp:
        """Return the empty state for a source."""
        if like is not None:
            return fitted(self.empty_like(like, random_state), given.schema)
        request = self.request(random_state)
        return first_state(given, request) if self.target is None else self.aimed(given, request)

    def aimed(self, given: Source, request: Request) -> WarmUp:
        """Return an empty state whose rows are to match the target, with the target's encoding and maps."""

        def read(rows: Source, own: Request) -> State:
            return _run(rows, first_state(rows, own), None, None)

        return aimed_state(given, request, self.target, read)


def summarize(
    source: Any,
    prototypes: int = 100,
    criticisms: int | None = None,
    *,
    columns: ColumnChoice = None,
    types: Mapping[str, str] | None = None,
    label: str | None = None,
    times: Literal["ignore", "cycle", "level"] = "ignore",
    drop: Sequence[str] = (),
    redact: Sequence[str] = (),
    min_count: int = 1,
    weight: str | None = None,
    target: Any = None,
    kernel: KernelLike = "gaussian",
    bandwidth: Bandwidth = "median",
    features: FeaturesLike = "auto",
    n_features: int | None = None,
    time: str | None = None,
    half_life: float | str | timedelta | None = None,
    random_state: RandomState = None,
    like: Summary | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_rows: int | None = None,
    checkpoint_seconds: float = 30.0,
    n_jobs: int | None = None,
    progress: bool | Callable[[Progress], None] = False,
) -> Summary:
    """Summarise a table or a stream in one pass: the rows that represent it, rows that these miss, and how good they are.

    source: a path, a glob, a folder or a list of them (Parquet, CSV, Arrow, Feather, NDJSON, .npy), here or by a URI (s3://,
        gs://, https://, ...), "-" for standard input, a frame or table with `__arrow_c_stream__` (pyarrow, polars, pandas), a
        query (polars LazyFrame, DuckDB relation), a Hugging Face data set, a NumPy array, an iterator of batches, or a frame of
        a cluster (Dask DataFrame or Array, Spark DataFrame), which its workers read. Folders named `key=value` become columns;
        fields of structures become columns with dotted names.
    prototypes, criticisms: how many rows to choose. criticisms=None: 20, or none with a target.
    columns: those that enter the kernel, a list of names or a dict of names and weights; None for all that can. All columns of
        chosen rows are kept.
    types: what columns are, by name, where it is not what was recognised: "number", "boolean", "category", "text", "time",
        "vector", "id" or "ignore". Ids stay out of the kernel.
    label: a column that is kept and compared, but stays out of the kernel.
    times: what times do in the kernel: nothing ("ignore"), hour of day and day of week ("cycle"), or the time itself
        ("level"), so that rows of other times are unlike.
    drop: columns that are removed while reading: they are neither kept nor counted, and no file or page has them.
    redact: columns whose values are counted (rows, missing, distinct, lengths), but not kept: they are null in all rows, and
        take no part in the choice.
    min_count: texts that occur less often are not shown among the frequent values of a column, in notes or on pages.
    weight: the column of row weights; a target that has a column of this name is weighted by it, too.
    target: what the prototypes are to match in place of the source: another source (a file, a frame, an array), a Summary, or a
        measure (`ss.measures`). Encoding, bandwidth and features are those of the target, in the columns that both have, and
        so is what `mmd`, `random_mmd`, `as_good_as` and `bound` speak of; profile and background are still the source's. There
        are no criticisms then. `notes` say how much of the target the source can match.
    kernel, bandwidth, features, n_features, random_state: as for SuperSampler.
    half_life: in how many rows a row loses half of its weight; or in which duration ("7d"), by the column `time`, or in which
        number, if that column holds numbers. `effective_rows` says how many rows are left. The profile counts all rows alike.
    time: the column that says when each row happened. Rows without a time count as of now.
    like: a Summary whose encoding, kernel, features and sizes are reused, so that the two can be merged and compared. If it has
        seen fewer than 5,000 rows, its encoding, kernel and features are fixed from then on.
    checkpoint: a file that is written every `checkpoint_seconds` (and `checkpoint_rows`); a run that is started again with the
        same arguments resumes from it and gives the same summary.
    n_jobs: None reads the rows as one stream. A number, or -1 for all cores, cuts a large source (files that are not compressed
        text, tables, arrays) into parts at fixed rows and lets so many processes work on them; the parts are merged. Any number
        gives the same bytes, which are not those of one stream; small sources stay one stream. Not with checkpoint=.
    progress: True shows a bar on standard error; a function is called with a Progress after each batch.

    Time O(n (d D + M)), memory independent of the number of rows.

    >>> import numpy as np
    >>> import supersample as ss
    >>> data = np.random.default_rng(0).normal(size=(10_000, 2))
    >>> summary = ss.summarize(data, prototypes=50, random_state=0)
    >>> summary.prototypes.num_rows, summary.n_seen
    (50, 10000)
    """
    options = Options.of(locals())
    given, again = without(open_source(source), options.drop), False
    options.check_half_life(given.schema)
    if isinstance(like, Summary):
        given = with_same_texts(given, like._fixed().schema)
    tell = _teller(progress, given.label)
    every = (
        None if checkpoint_rows is None else check_count(checkpoint_rows, "checkpoint_rows"),
        check_seconds(checkpoint_seconds, "checkpoint_seconds"),
    )
    path = None if checkpoint is None else behind_link(as_path(checkpoint, "checkpoint"), "checkpoint")
    jobs = None if n_jobs is None else check_jobs(n_jobs)
    if jobs is not None and path is not None:
        raise InputError(
            f"checkpoint must be left out with n_jobs, got {str(path)!r}: parts are merged at the end, so there is no state "
            f"to go on from; leave one of them out"
        )
    while True:
        try:
            empty = options.empty(given, like, random_state)
            parted = None if jobs is None else summarize_in_parts(numbered(given), empty, jobs, tell)
            if parted is not None:
                return _summary(_readable(parted, like, given), given.label)
            saver = None if path is None else Checkpoint(path, fingerprint(given, empty, random_state), given.label, *every)
            with nullcontext() if saver is None else exclusive_lock(saver.path, "checkpoint"):
                resumed = None if saver is None or again else saver.resume()
                return _summary(_readable(_run(given, resumed or empty, saver, tell), like, given), given.label)
        except OtherTypeError as error:
            if given.as_text is None:
                raise
            # A value far into a file is no number: read the column as text, which is read as what most of it holds.
            given, again = given.as_text(error.columns), True


def first_state(given: Source, request: Request) -> WarmUp:
    """Return the state to start from: if the source can be read out of order, with maps from rows spread over all of it."""
    state = states.init(request, given.schema)
    if given.sample is None or (given.n_rows is not None and given.n_rows <= WARM_UP):
        return state
    table = given.sample(WARM_UP)
    if table.num_rows < WARM_UP:
        return state  # these are all rows, and the warm-up learns from them
    if request.weight is not None:  # weights that cannot be are refused in their turn, with the number of their row
        weights = weights_of(table.column(request.weight).combine_chunks())
        table = table.filter(pa.array((weights > 0) & np.isfinite(weights)))
    return states.learned_from(request, [table], given.label) if table.num_rows else state


def _readable(state: State, like: Summary | None, given: Source) -> State:
    """Return the state; raise MismatchError if text of it is no numbers, as the summary that it is like has there."""
    if like is not None:
        require_readable(state, like._fixed().schema, given.label)
    return state


def _summary(state: State, label: str) -> Summary:
    """Return the summary; raise InputError if there is nothing to choose from."""
    return Summary(Snapshot(state, states.settle(state)), label)


def _plain_columns(columns: Any) -> Any:
    """Return `columns` as a list or dict, whatever held the names."""
    if columns is None or isinstance(columns, str | list | tuple | Mapping) or not hasattr(columns, "__iter__"):
        return columns
    listed = list(columns)
    named = hasattr(columns, "items") and not all(isinstance(each, str) for each in listed)  # a pandas Series of weights
    return dict(columns.items()) if named else [str(each) if isinstance(each, str) else each for each in listed]


def _names(given: Any, argument: str) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable) or not all(isinstance(each, str) for each in given):
        raise InputTypeError(f"{argument} must be a list of names of columns, got {given!r}; pass ['email'] for one")
    return tuple(given)


def check_seconds(value: Any, name: str) -> float:
    """Return a number of seconds, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise InputError(f"{name} must be a number of seconds, 0 or more, got {value!r}")
    return float(value)


def _teller(progress: Any, label: str) -> Callable[[Progress], None] | None:
    if callable(progress):
        return cast("Callable[[Progress], None]", progress)
    if not isinstance(progress, bool):
        raise InputTypeError(f"progress must be True, False or a function of a Progress, got {type(progress).__name__}")
    return Bar(label) if progress else None


def _run(given: Source, state: State, saver: Checkpoint | None, tell: Callable[[Progress], None] | None) -> State:
    started, start = time.monotonic(), state.n_seen

    def report(*, done: bool) -> None:
        if tell is not None:
            point = measure(state.stream) if isinstance(state, Running) else None
            mmd = None if point is None else point.mmd
            tell(Progress(state.n_seen, given.n_rows, mmd, time.monotonic() - started, done, start))

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
