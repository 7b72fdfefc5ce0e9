"""Summary: the few rows that represent a table, with the state needed to update, merge, compare and assess them."""

import importlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from supersample import profile as profiles
from supersample._files import as_path, read_file, write_atomically
from supersample._locking import one_at_a_time
from supersample._notebook import notebook_html
from supersample._text import plural
from supersample._typing import Floats
from supersample._validation import choose
from supersample.discrepancy.bounds import checked_bound
from supersample.errors import InputError, InputTypeError
from supersample.features import FeatureMap
from supersample.kernels import Kernel
from supersample.profile import ColumnProfile, Profile
from supersample.records.encoding import ColumnNote
from supersample.records.sources import RESERVED, open_source
from supersample.records.sources.conforming import conformed
from supersample.selection.stream.missed_and_rare import KINDS
from supersample.selection.stream.prototype_weights import most_solvable
from supersample.summary import state as states
from supersample.summary.apart import Ground, brought_together
from supersample.summary.averages import mean_of
from supersample.summary.bad_cells import brought_to_text
from supersample.summary.comparing import compare
from supersample.summary.comparison import LEVEL, Comparison
from supersample.summary.notes import Note, notes_of
from supersample.summary.outcome import MmdPoint, said_as_good_as, said_error
from supersample.summary.snapshot import Snapshot
from supersample.summary.state import Running
from supersample.summary.state_file import restore, store

__all__ = ["Summary", "common_ground", "compared_at", "counts_alike", "load", "load_from"]

_WEIGHTINGS = ("simplex", "uniform", "profile")


class Summary:
    """The few rows that represent a table or a stream: prototypes, criticisms, weights, and their distance from the data.

    Made by `summarize` and `load`. All tables are pyarrow tables with the source's columns unchanged, and `_row`, the position
    of each row in the stream. Reading changes nothing; `update` takes in more rows. Thread-safe: updates are serialised, and
    every reading is of one moment.

    Of a summary with a target, `mmd`, `random_mmd`, `uniform_mmd`, `as_good_as`, `bound`, `energy`, `weights`, `expect` and the
    shares of prototypes are about the target; the profile, the background and `compare` are about the rows seen.

    Updates cost O(n (d D + M)) time. Memory, and the time of the first reading after an update (a second look at the background
    sample), depend on the number of prototypes, features and columns, never on the rows seen.

    >>> import numpy as np
    >>> import supersample as ss
    >>> data = np.random.default_rng(0).normal(size=(2_000, 2))
    >>> summary = ss.summarize(data[:1_500], prototypes=20, criticisms=3, random_state=0).update(data[1_500:])
    >>> summary.n_seen, summary.prototypes.column_names
    (2000, ['x0', 'x1', '_row', '_weight', '_share'])
    >>> bool(summary.mmd < summary.random_mmd)
    True
    """

    def __init__(self, snapshot: Snapshot, source: str) -> None:
        self._snapshot = snapshot  # replaced as a whole, never changed: readers need no lock
        self.source = source

    @property
    def n_seen(self) -> int:
        """Rows seen."""
        return self._snapshot.state.n_seen

    @property
    def n_target(self) -> int | None:
        """How many rows the target has that the prototypes are to match; None without a target."""
        aim = self._ready().settled.stream.aim
        return None if aim is None else aim.n_rows

    @property
    def effective_rows(self) -> float:
        """How many independent rows of equal weight tell as much about means as the rows seen: what counts in `compare`.

        (sum w)^2 / sum w^2, all rows if they have no weights, divided by the factor by which the variance of a mean is larger
        than that of independent rows, where rows depend on those before them. The factor is measured by the sums of blocks of
        consecutive rows, of all columns in the kernel together. Rows that were shuffled before they came do not show how they
        depend on each other.
        """
        return self._ready().effective_rows

    @property
    def prototypes(self) -> pa.Table:
        """The rows that represent the data, in the order of the stream.

        `_weight` is the weight of each in averages (see `weights`); `_share` the share of the data that is nearest to it.
        """
        return self._read().prototypes

    @property
    def criticisms(self) -> pa.Table:
        """Rows that the prototypes do not show: groups that they lack, the largest first, then rare rows, the rarest first.

        `_kind` is "missed" for a row that stands for a group apart, without a prototype, and "rare" for a row that is far from
        all others: farther from its sixth neighbour than 95% of rows are from theirs, or far outside of their usual range.
        There may be fewer than requested: no row is shown that is neither, and copies are left out. `_share` is the share of
        the data that is nearer to it than to any prototype, by the background sample, and missed groups are in its order;
        `_witness` the mean embedding of the data less that of the prototypes, positive where they have too little; `_nearest`
        the place of the nearest prototype.
        """
        return self._read().criticisms

    @property
    def background(self) -> pa.Table:
        """A uniform random sample of the rows, by weight if they have weights; `_weight` is the share each represents."""
        return self._read().background

    @property
    def mmd(self) -> float:
        """MMD between the weighted prototypes and the data, measured with features not used in the selection.

        For kernels with a spectrum it is exact up to 5,000 rows.
        """
        return self._read().outcome.mmd

    @property
    def mmd_error(self) -> float:
        """Its standard error: MMD lies within two of them 95 times in 100. Of exact values, a bound on rounding."""
        return self._read().outcome.error

    @property
    def uniform_mmd(self) -> float:
        """The MMD of the prototypes with equal weights."""
        return self._read().outcome.uniform_mmd

    @property
    def random_mmd(self) -> float:
        """The MMD of as many rows drawn at random; with a target, from it and with replacement."""
        return self._read().outcome.random_mmd

    @property
    def as_good_as(self) -> float:
        """How many rows drawn at random have the MMD of the prototypes, on average; never more than all rows, but for weights.

        Rows with weights are drawn by weight, with replacement; then there is no such end. NaN if MMD is not known.
        """
        now = self._read()
        return now.outcome.as_good_as(now.state.n_seen)

    @property
    def energy(self) -> float:
        """The share of E k(x, x) that the landmarks of the feature map span; where it is low, more n_features help."""
        return self._read().outcome.energy

    @property
    def columns(self) -> tuple[ColumnNote, ...]:
        """How each column of the source is used."""
        return self._ready().settled.encoding.notes

    @property
    def profile(self) -> pa.Table:
        """Statistics of all rows, one row a column: counts, extremes, mean, quantiles, most frequent values.

        The guide "Tables as they come" explains its columns. Rows count alike, whatever their weights. Summaries that earlier
        versions saved have none: reading it raises an InputError.
        """
        found = self.column_profiles
        if found is None:
            raise InputError(
                f"the summary of {self.source} has no profile: it was saved by an earlier version; summarise the data again"
            )
        return profiles.to_table(Profile(found))

    @property
    def column_profiles(self) -> tuple[ColumnProfile, ...] | None:
        """The profile as objects, with the histograms that its quantiles come from; None if an earlier version saved it."""
        profile = self._ready().settled.whole_profile
        return None if profile is None else profile.columns

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a careful colleague would say about the table, what concerns the result most first."""
        has_target = self._ready().settled.stream.aim is not None  # its notes speak of the outcome
        return _notes_of(self._read() if has_target else self._ready())

    @property
    def mmd_path(self) -> tuple[MmdPoint, ...]:
        """MMD of the points held after 8,192 rows and each time they doubled; empty for shorter tables and after a merge."""
        return self._snapshot.state.mmd_path

    @property
    def kernel(self) -> Kernel:
        """The kernel, with its bandwidth, on the encoded rows."""
        return self._ready().plan.kernel

    @property
    def feature_map(self) -> FeatureMap:
        """The features in which the rows were selected and in which summaries are compared."""
        return self._ready().plan.feature_map

    def bound(
        self,
        delta: float = 0.05,
        *,
        kind: Literal["auto", "background", "bernstein", "theorem"] = "auto",
        population: bool = False,
    ) -> float:
        """Return an upper bound on MMD that holds with probability 1 - delta.

        kind: what the bound is derived from.
            "background": the exact MMD to a uniform sample of 5,000 rows, plus how far such a sample can be from all rows.
            Needs rows of equal weight; up to 5,000 rows, of any weight, it is the exact MMD. O(5000^2 d).
            "bernstein": mean and variance of the terms at the held-out frequencies (Maurer and Pontil 2009).
            "theorem": their mean (Theorem 1 of Paige, Sejdinovic and Wood 2016).
            "auto": "background" if the rows allow it, else "bernstein".
        "bernstein" and "theorem" hold for any weights, and are near 1 with the 128 held-out features of a summary.
        population: bound the MMD to the population that the rows were drawn from independently, instead of to the rows. They
        count as `effective_rows`, which is an estimate where rows depend on those before them.
        """
        return checked_bound(self._read().bound_inputs, delta, kind, population)

    def encode(self, rows: Any) -> Floats:
        """Return rows with the source's columns as points of the kernel, n x width.

        The tables of a summary can be passed as they are.
        """
        own = isinstance(rows, pa.Table)
        given = open_source(rows.drop_columns([name for name in RESERVED if name in rows.column_names]) if own else rows)
        ready = self._ready().settled
        encoding, schema, options = ready.encoding, ready.schema, ready.request.options
        parts = [encoding.points(conformed(options.rest(batch), schema, encoding.readings)) for batch in given.batches(0)]
        return np.concatenate(parts) if parts else np.empty((0, encoding.width))

    def weights(self, weighting: Literal["simplex", "uniform", "profile"] = "simplex") -> Floats:
        """Return the weights of the prototypes in averages; they sum to one.

        "simplex": those that bring the prototypes nearest to the data, at least a tenth of 1 / M each; 1 / M where nothing
        else was nearer, and where the kernel values of so many would take too long (beyond some 20,000 prototypes in ten
        columns). "uniform": 1 / M. "profile": those under which numbers and categories of the kernel have the means,
        and the shares below quantiles and of values, that all rows have by the profile, as nearly as weights can whose MMD is
        no larger than that of equal ones. For rows without weights, and at most 2,000 prototypes.
        """
        return self._read().weights(choose(weighting, "weighting", _WEIGHTINGS))

    def expect(
        self,
        f: str | Callable[[pa.Table], npt.ArrayLike],
        *,
        weighting: Literal["simplex", "uniform", "profile"] = "simplex",
    ) -> Any:
        """Return the expectation of f over the data, as the weighted mean over the prototypes.

        f: the name of a column of numbers (missing values are left out), or a function that takes the table of prototypes
        (a pyarrow Table) and returns one value, or one row of values, for each of them.
        """
        how = choose(weighting, "weighting", _WEIGHTINGS)
        now = self._read()
        return mean_of(f, now.prototypes, now.weights(how), now.state.schema, dict(now.settled.encoding.readings))

    @one_at_a_time
    def update(self, rows: Any) -> "Summary":
        """Take in more rows, of any kind that `summarize` takes, and return this summary; if any cannot be used, none are."""
        given = open_source(rows)
        after = self._snapshot.state
        for batch in given.batches(0):
            after = states.update(after, batch)
        self._snapshot = Snapshot(after)  # one step: after an interrupt, all rows are taken in, or none
        return self

    def merge(self, other: "Summary") -> "Summary":
        """Return the summary of the rows of both, as if those of `other` had come after; neither changes.

        One of the two must have been made with `summarize(..., like=...)` the other, or both like a third. The moments are
        added exactly, and the points are selected again from both: at worst O(M^2 D), whatever the number of rows.
        """
        if not isinstance(other, Summary):
            raise InputTypeError(f"other must be a Summary, got {type(other).__name__}")
        merged = states.merge(*brought_to_text(self._ready().settled, other._ready().settled))
        return Summary(Snapshot(merged), f"{self.source} + {other.source}")

    def compare(self, other: "Summary", *, at_least: float = 0.0) -> Comparison:
        """Test whether two summaries are of data from one population, and say in which columns and where they differ.

        Works on what the summaries keep, by three kinds of tests that share the level. The joint test is of the mean features
        of all rows: its statistic is |mu - mu'|^2 in the features of both, and its null that of `two_sample_test` with
        null="spectral". Each column is tested by itself, by the profiles of all rows: missing values, shares of values, and
        location, spread, shape and tails of numbers; those of rows with weights, or with half_life, by weighted shares of the
        background samples; text, vectors and more than 256 categories by their coordinates there. So are the rank correlations
        of pairs of columns. Where rows depend on those before them, they count as fewer in each test (`effective_rows`). O(B
        (D^2 + columns^2)) for B background rows.

        One should have been made with `summarize(..., like=...)` the other, or both like a third. Others are compared in the
        columns that both have and take for the same, by one encoding that is learned from both samples: numbers, pairs and the
        joint test then see the samples alone, and `notes` says so. If there is no such column, a MismatchError is raised.

        at_least: the smallest difference that matters; tests that find a smaller one count for nothing. It is a share of the
        rows in the test of a column (0.01: a value, a range or missing values must have gained or lost 1% of all rows), a rank
        correlation in that of a pair, and an MMD in the joint test and where values are not counted. It is the difference found
        that must be so large, and p-values are still those of no difference at all: the limit itself is not tested, and where
        the true difference is just that, half of all comparisons or more find so much.
        """
        return compared_at(self, other, at_least, LEVEL)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the summary to one file, atomically, with a checksum and without code; `supersample.load` reads it."""
        write_atomically(as_path(path, "path"), self.to_bytes(), "path")

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write a self-contained page for the browser and return its path; a page that is there is replaced."""
        # `report` is a later layer that this one must not depend on, so it is imported only here.
        written: Path = importlib.import_module("supersample.report").write_report(self._copy(), path, title=title)
        return written

    def to_bytes(self) -> bytes:
        """Return the bytes that `save` writes."""
        now = self._read()
        return store(now.state, kind="summary", source=self.source, settled=now.settled, outcome=now.outcome)

    def to_dict(self) -> dict[str, Any]:
        """Return the headline numbers, the profile and the notes as plain values."""
        now = self._read()
        outcome, profile = now.outcome, now.settled.whole_profile
        as_good_as = outcome.as_good_as(now.state.n_seen)
        return {
            "source": self.source,
            "n_seen": now.state.n_seen,
            **({} if outcome.reach is None else {"target": vars(outcome.reach)}),
            "effective_rows": now.effective_rows,
            "n_prototypes": int(outcome.prototypes.size),
            "n_criticisms": int(outcome.criticisms.size),
            "mmd": outcome.mmd,
            "mmd_error": outcome.error if np.isfinite(outcome.error) else None,
            "uniform_mmd": outcome.uniform_mmd,
            "random_mmd": outcome.random_mmd,
            "as_good_as": as_good_as if np.isfinite(as_good_as) else None,
            "energy": outcome.energy,
            "kernel": dict(now.plan.kernel.identity),
            "n_features": now.plan.feature_map.n_features,
            "columns": [vars(note) for note in now.settled.encoding.notes],
            "profile": None if profile is None else profiles.to_table(profile).to_pylist(),
            "notes": [vars(note) for note in _notes_of(now)],
        }

    def __repr__(self) -> str:
        """Name the source and the number of rows."""
        return f"<Summary of {self.source}: {self.n_seen:,} rows>"

    def __str__(self) -> str:
        """Return the headline numbers in words."""
        now = self._read()
        outcome, n_seen, notes = now.outcome, now.state.n_seen, now.settled.encoding.notes
        size = int(outcome.prototypes.size)
        reach = outcome.reach
        good = said_as_good_as(outcome.as_good_as(n_seen), size, n_seen if reach is None else reach.n_rows)
        whole = f"{n_seen:,} of {self.source}" if reach is None else f"a target of {plural(reach.n_rows, 'row')}"
        among = "" if reach is None else f", chosen from {n_seen:,} of {self.source}"
        error = said_error(outcome.mmd, outcome.error)
        counts = np.bincount(outcome.kinds, minlength=len(KINDS))
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in zip(KINDS, counts, strict=True) if count)
        odd = f"{plural(outcome.criticisms.size, 'row')} that they do not show: {kinds}" if kinds else "none"
        asked = now.state.request.settings.n_criticisms
        if outcome.criticisms.size < asked:
            odd += f" ({asked:,} requested; but for copies, no {'other ' if kinds else ''}row is missed or rare)"
        equal = f"{outcome.uniform_mmd:.3g} with equal weights"
        drawn = f"{plural(size, 'random row')}{'' if reach is None else ' of the target'}"
        left_out = [note.name for note in notes if not note.used and note.kind != "weight"]
        used = [note.width for note in notes if note.width]
        lines = [
            f"{size:,} {'row stands' if size == 1 else 'rows stand'} for {whole}{among}{good and f': {good}'}",
            f"  MMD         {outcome.mmd:.4g}{error}; {equal}; {outcome.random_mmd:.3g} for {drawn}",
            f"  criticisms  {odd}",
            f"  kernel      {now.plan.kernel!r} on {plural(sum(used), 'coordinate')} of {plural(len(used), 'column')}",
        ]
        if size > (most := most_solvable(now.settled.encoding.width)):
            lines.append(f"  weights     all equal: those of more than {most:,} prototypes would take too long to solve")
        if left_out:
            lines.append(f"  left out    {', '.join(left_out)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: how good the summary is, its first rows, and its notes."""
        return notebook_html(self._copy())

    def _copy(self) -> "Summary":
        """Return a copy that does not change when this one takes in more rows."""
        return Summary(self._read(), self.source)

    @one_at_a_time
    def _ready(self) -> Snapshot:
        """Return this moment with encoding and maps fixed; a second thread waits and does not compute them again."""
        now = self._snapshot
        _ = now.settled
        return now

    @one_at_a_time
    def _read(self) -> Snapshot:
        """Return this moment with its outcome."""
        now = self._snapshot
        _ = now.outcome
        return now

    @one_at_a_time
    def _fixed(self) -> Running:
        """Fix encoding and maps for good, so that others can be made like this one; return the state."""
        self._snapshot = self._snapshot.fixed()
        return self._snapshot.settled


def _notes_of(now: Snapshot) -> tuple[Note, ...]:
    return notes_of(now.settled, None if now.settled.stream.aim is None else now.outcome)


def compared_at(left: Summary, right: Summary, at_least: float, level: float) -> Comparison:
    """Return what `Summary.compare` does, for another level than 5%."""
    if not isinstance(right, Summary):
        raise InputTypeError(
            f"other must be a Summary, got {type(right).__name__}; summarise it first, with summarize(..., like=this one)"
        )
    if np.ndim(at_least) or np.asarray(at_least).dtype.kind not in "iuf":
        raise InputTypeError(f"at_least must be a number, got {type(at_least).__name__}; 1% of the rows is 0.01")
    if not 0 <= at_least <= 1:
        raise InputError(f"at_least must lie between 0 and 1, got {at_least!r}; 1% of the rows is 0.01")
    first, second = left._ready(), right._ready()
    sides = Summary(first, left.source), Summary(second, right.source)  # as they are now: these are not updated
    return replace(compare(first.settled, second.settled, float(at_least), level), summaries=sides)


def common_ground(left: Summary, right: Summary) -> Ground:
    """Return the one encoding, and the samples in it, by which two summaries that were made apart are compared."""
    return brought_together(left._ready().settled, right._ready().settled)


def counts_alike(summary: Summary) -> bool:
    """Return whether the rows of a summary count in averages as they do in its profile."""
    return summary._ready().settled.counts_alike


def load(path: str | os.PathLike[str]) -> Summary:
    """Return the summary that `Summary.save` wrote; raise InputError for a damaged or foreign file.

    No code of the file is run. Time and memory are proportional to its size.

    >>> import tempfile
    >>> import numpy as np
    >>> import supersample as ss
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ss.summarize(np.arange(300.0)[:, None], prototypes=5, random_state=0).save(f"{folder}/rows.ss")
    ...     ss.load(f"{folder}/rows.ss").n_seen
    300
    """
    return load_from(path, "path")


def load_from(path: str | os.PathLike[str], name: str) -> Summary:
    """Return the summary in the file that the argument `name` gave."""
    where = as_path(path, name)
    restored = restore(read_file(where, name), str(where))
    if restored.kind != "summary":
        advice = {
            "checkpoint": "pass it to summarize(checkpoint=...), or --checkpoint, to go on from it",
            "partition": "workers of a cluster send it to each other, and it is of no use by itself",
        }.get(restored.kind, "save a summary, and load that")
        raise InputError(f"{name} must name a saved summary, got {str(where)!r}, which is a {restored.kind}; {advice}")
    return Summary(Snapshot(restored.state, restored.settled, restored.outcome), restored.source)
