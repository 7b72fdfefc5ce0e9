"""What a careful colleague would say about a table: what to know before its summary is used."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supersample._compiled import clock as clocks
from supersample._durations import duration_text
from supersample._text import about, amount, plural
from supersample.profile import ColumnProfile, Counted
from supersample.profile.frequent import LONGEST
from supersample.profile.wording import distinct_text
from supersample.records.encoding import NOT_IN_TARGET, ColumnNote
from supersample.records.encoding.number import Number
from supersample.records.encoding.values import is_numeric
from supersample.selection.stream.plan import WARM_UP
from supersample.selection.stream.prototype_weights import most_solvable
from supersample.summary.depending import dependence_told, drained
from supersample.summary.outcome import Outcome
from supersample.summary.state import Running
from supersample.summary.unseen import unseen_told

__all__ = ["Note", "grouped", "notes_of", "told"]

#: Shares of rows from which a column is said to have many missing values, and to be nearly constant.
_MANY_MISSING, _NEARLY_ALL = 0.1, 0.99
#: A tail is heavy if the 1% or 99% point is this many scales from the median; it is 2.3 for a normal, 8.6 for a log-normal.
_HEAVY = 8.0
#: Later rows look unlike those learned from if the median has moved, or the scale has changed, by more than this.
_MOVED, _STRETCHED = 1.0, 3.0
#: Copies among rows are pointed out from this share on.
_COPIES = 0.01
#: A value lies alone if the next one is less than this part of its way from the median.
_BETWEEN = 0.5
#: The distance between the quartiles of the standard normal.
_NORMAL_QUARTILES = 1.349
#: Quantiles are this near to the values that they are of, as a share.
_ALIKE = 0.02
#: From this share of the target that the source has nothing like, it is said to be out of reach.
_OUT_OF_REACH = 0.01
_LABELS = frozenset({"label", "target", "class", "y", "outcome", "churn", "churned"})
#: Examples in a note.
_SHOWN = 3
#: Columns that one note names.
_NAMED = 5


@dataclass(frozen=True)
class Note:
    """One thing to know about a table.

    kind: its short name, such as "constant" or "stored as text". column: the column that it is about, None for the table.
    """

    kind: str
    column: str | None
    text: str

    def __str__(self) -> str:
        """Return the column and what is said of it."""
        return self.text if self.column is None else f"{self.column}: {self.text}"


def grouped(notes: Sequence[Note], most: int = 3) -> tuple[tuple[Note, ...], ...]:
    """Put notes of one kind together where there are more than `most` of them; each of the others stays by itself.

    >>> [len(group) for group in grouped([Note("empty", name, "") for name in "abcd"] + [Note("copies", None, "")])]
    [4, 1]
    """
    kinds: dict[str, list[Note]] = {}
    for note in notes:
        kinds.setdefault(note.kind, []).append(note)
    parts = ([tuple(each)] if len(each) > most else [(note,) for note in each] for each in kinds.values())
    return tuple(group for part in parts for group in part)


def told(group: Sequence[Note]) -> str:
    """Return some notes of one kind in a line.

    >>> told([Note("empty", name, "") for name in "abcd"])
    '4 columns empty: a, b, c and 1 more'
    """
    if len(group) == 1:
        return str(group[0])
    names = [note.column or "" for note in group]
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"{plural(len(names), 'column')} {group[0].kind}: {', '.join(names[:_SHOWN])}{more}"


class _Column(NamedTuple):
    """A column as it was profiled and as it is used; its block, if numbers are scaled."""

    profile: ColumnProfile
    note: ColumnNote
    scaled: Number | None


def notes_of(state: Running, outcome: Outcome | None = None) -> tuple[Note, ...]:
    """Return what there is to say about a table, what concerns the result most first.

    outcome: that of a summary with a target, of which it says how much the table can match.
    """
    if state.profile is None:
        return (Note("no profile", None, "the summary was saved by an earlier version, which did not profile the rows"),)
    scaled = {block.name: block for block in state.encoding.blocks if isinstance(block, Number)}
    notes = {note.name: note for note in state.encoding.notes}
    whole = state.whole_profile or state.profile
    columns = [_Column(each, notes[each.name], scaled.get(each.name)) for each in whole.columns]
    read = [note for column in columns for note in _stored_as_text(state, column)]
    return (
        *(() if outcome is None else _target(state, outcome)),
        *_unlike_first_rows(state, columns),
        *(Note(*each) for each in unseen_told(state)),
        *_other_values(columns),
        *(note for note in read if note.kind == "read in part"),
        *(note for column in columns for note in _far_values(column.profile)),
        *(note for column in columns for note in _infinite(column.profile)),
        *_first_rows(state),
        *_equal_weights(state),
        *_decay(state),
        *(Note(*each) for each in dependence_told(state)),
        *_labels(state, columns),
        *(note for note in read if note.kind != "read in part"),
        *_left_out(columns),
        *_copies(state),
        *_vectors(columns),
        *(note for column in columns for note in _of_column(column)),
    )


def _target(state: Running, outcome: Outcome) -> Iterator[Note]:
    """Say how near the rows come to the target, and how much of it the source has nothing like."""
    reach = outcome.reach
    if reach is None:
        return
    yield Note(
        "target", None,
        f"the rows are chosen to match a target of {plural(reach.n_rows, 'row')}: all rows of the source together have MMD "
        f"{reach.source_mmd:.3g} to it, the chosen ones {outcome.mmd:.3g}",
    )  # fmt: skip
    looked = f"{plural(reach.looked_at, 'row')} of the source, weighted to match the target,"
    if reach.beyond >= _OUT_OF_REACH:
        yield Note(
            "out of reach", None,
            f"about {_percent(reach.beyond)} of the target is out of reach: {looked} give less than half of the mass that it "
            f"has there",
        )  # fmt: skip
    else:
        yield Note("within reach", None, f"{looked} give at least half of its mass nearly everywhere where it has any")
    lacking = [note.name for note in state.encoding.notes if note.note == NOT_IN_TARGET]
    if lacking:
        more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
        text = f"{', '.join(lacking[:_NAMED])}{more}: the target does not have them, so they take no part in the choice of rows"
        yield Note("not in the target", None, text)


def _equal_weights(state: Running) -> Iterator[Note]:
    """Say that there are too many prototypes for weights of their own."""
    size, most = len(drained(state).reservoir.rows), most_solvable(state.encoding.width)
    if size > most:
        yield Note(
            "equal weights", None,
            f"all {size:,} prototypes weigh alike: the weights of more than {most:,} would take too long to solve; ask for no "
            f"more than that if averages matter",
        )  # fmt: skip


def _decay(state: Running) -> Iterator[Note]:
    """Say how much old rows count, and which rows have no time that can be believed."""
    clock, name = state.stream.decay, state.request.options.time
    if clock is None:
        return
    held = drained(state)
    span = f"{clock.half_life:g}" + (" rows" if name is None else "")
    if name is not None and not is_numeric(state.schema.field(name).type):
        span = duration_text(clock.half_life)
    yield Note(
        "old rows count less", name,
        f"rows lose half of their weight in {span}: {plural(state.n_seen, 'row')} count as about "
        f"{about(held.moments.effective_rows)}; the profile counts all of them alike",
    )  # fmt: skip
    if clock.n_untimed:
        yield Note("no time", name, f"{plural(clock.n_untimed, 'row')} without a time, counted as of when they came")
    if clock.n_ahead:
        yield Note(
            "times ahead", name,
            f"{plural(clock.n_ahead, 'row')} lay more than {span} ahead of all rows before, and counted as no later than that "
            f"until {clocks.AGREEING} rows agreed",
        )  # fmt: skip


def _unlike_first_rows(state: Running, columns: list[_Column]) -> Iterator[Note]:
    """Say where all rows look unlike those that scales were learned from; a target may well be unlike the source."""
    if state.stream.aim is not None:
        return
    for profile, _, block in columns:
        if block is None or block.kind != "number" or block.knee is None:
            continue
        median, spread = profile.quantile(0.5), _spread(profile)
        if median is None or spread is None:
            continue
        # Rows that were spread over all have about their median and scale, unless half of the rows lie far from the others.
        moved = abs(median - block.centre) > _MOVED * block.scale and state.shared is None
        stretched = not 1.0 / _STRETCHED <= spread / block.scale <= _STRETCHED
        if moved or (stretched and spread > 0):
            where = "the first rows" if state.shared is None else "the rows that its scale was learned from"
            advice = ". Summarise a file or a table, not a stream, or shuffle the rows" if state.shared is None else ""
            yield Note(
                "unlike the rows learned from", profile.name,
                f"all rows have the median {median:.4g} and the scale {spread:.3g}, {where} had {block.centre:.4g} and "
                f"{block.scale:.3g}: rows are judged by a scale that is not theirs{advice}",
            )  # fmt: skip


def _other_values(columns: list[_Column]) -> Iterator[Note]:
    """Say which columns have more values than the rows learned from: one where there was one, two where there were two."""
    for profile, note, _ in columns:
        known = {"constant": 1, "boolean": 2}.get(note.kind)
        if known is not None and profile.distinct is not None and profile.distinct > known and profile.reading is None:
            had = "one value" if known == 1 else "0 and 1 alone"
            kind = "category" if profile.numbers is None else "boolean" if _zeros_and_ones(profile) else "number"
            yield Note(
                "unlike the rows learned from", profile.name,
                f"had {had} in the rows learned from, and has {distinct_text(profile)} different values in all; "
                f"types={{{profile.name!r}: {kind!r}}} lets them count as a {kind}",
            )  # fmt: skip


def _first_rows(state: Running) -> Iterator[Note]:
    """Say that a stream could not be looked at ahead."""
    if state.shared is None and state.n_seen > WARM_UP:
        yield Note(
            "learned from the first rows", None,
            f"what columns are and how they are scaled was learned from the first {WARM_UP:,} rows: a stream cannot be read "
            f"ahead, as files and tables can",
        )  # fmt: skip


def _spread(profile: ColumnProfile) -> float | None:
    low, high = profile.quantile(0.25), profile.quantile(0.75)
    return None if low is None or high is None else (high - low) / _NORMAL_QUARTILES


def _labels(state: Running, columns: list[_Column]) -> Iterator[Note]:
    """Say that what looks like a label takes part in the choice of rows."""
    if state.request.options.label is not None or state.request.options.columns is not None:
        return
    for profile, note, _ in columns:
        if note.used and profile.name.lower() in _LABELS:
            text = f"looks like a label, and takes part in the choice of rows; label={profile.name!r} (--label) keeps it out"
            yield Note("label in the kernel", profile.name, text)


def _stored_as_text(state: Running, column: _Column) -> Iterator[Note]:
    """Say that text is read as what it holds, where that is in doubt, and how much of it could not be."""
    reading, profile = dict(state.encoding.readings).get(column.profile.name), column.profile
    if reading is None:
        return
    said = [f"holds {reading.words}, read as such"]
    if reading.note:
        said.append(reading.note)
    if profile.unreadable:
        counted = _count_as(profile.unreadable)
        said.append(f"{plural(profile.unreadable, 'value')} could not be, and {counted} missing in the kernel")
    yield Note("stored as text" if len(said) == 1 else "read in part", profile.name, "; ".join(said))


def _left_out(columns: list[_Column]) -> Iterator[Note]:
    """Say which columns take no part in the choice of rows, and why."""
    for profile, note, _ in columns:
        if not note.used and note.kind not in ("weight", "time") and note.note not in ("", NOT_IN_TARGET) and profile.count:
            yield Note(
                "id" if note.kind == "id" else "left out", profile.name, f"{note.note}; it takes no part in the choice of rows"
            )
    times = [profile.name for profile, note, _ in columns if note.kind == "time" and not note.used]
    if times:
        what = "a time takes" if len(times) == 1 else "times take"
        more = f" and {len(times) - _NAMED} more" if len(times) > _NAMED else ""
        text = f"{what} no part in the choice of rows unless times='cycle' or times='level' is passed"
        yield Note("times ignored", None, f"{', '.join(times[:_NAMED])}{more}: {text}")


def _copies(state: Running) -> Iterator[Note]:
    """Estimate how many rows are copies of others, from the background sample."""
    rows = drained(state).background.rows.points
    if len(rows) < 2:
        return
    _, counts = np.unique(rows, axis=0, return_counts=True)
    share = float(counts[counts > 1].sum()) / len(rows)
    whole = len(rows) == state.n_seen
    shown = "more than 99%" if 0.995 <= share < 1.0 else f"{share:.0%}"
    if share >= _COPIES:
        yield Note(
            "copies", None,
            f"{shown} of {'all ' * whole}{plural(len(rows), 'row')}{' drawn at random' * (not whole)} have a twin among "
            f"them, equal in all columns that count",
        )  # fmt: skip


def _vectors(columns: list[_Column]) -> Iterator[Note]:
    """Say how much a vector counts beside the other columns."""
    used = [note for _, note, _ in columns if note.used]
    vectors = [note for note in used if note.kind == "vector" and note.weight == 1.0]
    others = len(used) - len(vectors)
    if others < 2:
        return
    for note in vectors:
        yield Note(
            "vector outweighed", note.name,
            f"its {note.width:,} numbers together count as much as one other column, of which there are {others}; "
            f"columns={{{note.name!r}: {others}, ...}} lets it count as much as all of them",
        )  # fmt: skip


def _of_column(column: _Column) -> Iterator[Note]:
    """Say what the values of a column look like."""
    profile, rows = column.profile, column.profile.rows
    if profile.count == 0:
        yield Note("empty", profile.name, "holds no value at all")
        return
    if profile.missing >= _MANY_MISSING * rows:
        yield Note("many missing", profile.name, f"{_percent(profile.missing / rows)} of the rows have no value")
    if profile.distinct == 1:
        text = "".join(f"every value is {_shown(profile, only.value)}" for only in profile.top(1)) or "all values are the same"
        yield Note("constant", profile.name, text if profile.count == rows else f"{text}, where there is one")
        return
    top = profile.top(1)
    if top and top[0].count >= _NEARLY_ALL * rows:
        yield Note(
            "nearly constant",
            profile.name,
            f"{_bound(top[0])}{_percent(top[0].count / rows)} of the rows have the value {_shown(profile, top[0].value)}",
        )
    yield from _mixed_case(profile)
    if not any(_far_values(profile)):
        yield from _heavy_tail(profile)


def _mixed_case(profile: ColumnProfile) -> Iterator[Note]:
    """Say which frequent values differ only in case or spaces."""
    if profile.numbers is not None:
        return
    alike: dict[str, list[str]] = {}
    for each in profile.top(256):
        if len(each.value) > LONGEST:
            continue  # what was cut off may differ
        alike.setdefault(" ".join(each.value.casefold().split()), []).append(each.value)
    groups = [group for group in alike.values() if len(group) > 1]
    if groups:
        shown = "; ".join(", ".join(map(_quoted, sorted(group))) for group in groups[:_SHOWN])
        more = f" and {len(groups) - _SHOWN} more such groups" if len(groups) > _SHOWN else ""
        yield Note("mixed case", profile.name, f"values differ only in case or spaces, and count as different: {shown}{more}")


def _far_values(profile: ColumnProfile) -> Iterator[Note]:
    """Say that many rows have one value that lies far from all others, as marks for missing values do."""
    for each in _lumps(profile):
        yield Note(
            "far value", profile.name,
            f"{_bound(each)}{plural(each.count, 'row')} have the value {each.value}, far from the others: does it "
            f"stand for a missing one?",
        )  # fmt: skip


def _lumps(profile: ColumnProfile) -> Iterator[Counted]:
    """Yield frequent numbers that lie far from all others."""
    median, spread = profile.quantile(0.5), _spread(profile)
    if profile.role != "number" or profile.form.clock or median is None or spread is None or not spread > 0:
        return
    assert profile.numbers is not None  # there is a median
    far = [each for each in profile.top() if _HEAVY * spread < abs(float(each.value) - median) < math.inf]
    for sign, infinite in ((-1.0, profile.numbers.lowest), (1.0, profile.numbers.highest)):
        side = [each for each in far if (float(each.value) - median) * sign > 0]
        beyond = infinite + sum(each.count + (profile.top_error or 0) for each in side) + 0.5
        beyond /= max(profile.count - 1, 1)
        inner = profile.quantile(max(0.0, 1.0 - beyond if sign > 0 else min(1.0, beyond)))  # the next value on this side
        for each in side:
            alone = inner is not None and abs(inner - median) < _BETWEEN * abs(float(each.value) - median)
            most = each.count + (profile.top_error or 0) * each.at_least
            if alone and most >= _COPIES * profile.rows:
                yield each


def _infinite(profile: ColumnProfile) -> Iterator[Note]:
    """Say that values are infinite."""
    if profile.numbers is not None and profile.numbers.infinite:
        count = profile.numbers.infinite
        who = f"{count:,} of {plural(profile.rows, 'row')} {'has' if count == 1 else 'have'}"
        yield Note(
            "infinite values", profile.name,
            f"{who} an infinite value; mean and standard deviation are those of the finite ones",
        )  # fmt: skip


def _zeros_and_ones(profile: ColumnProfile) -> bool:
    """Return whether all values are 0 or 1, by the extremes of at most two different ones."""
    ends = profile.numbers and (profile.numbers.minimum, profile.numbers.maximum)
    return profile.distinct == 2 and ends == (0, 1)


def _heavy_tail(profile: ColumnProfile) -> Iterator[Note]:
    """Say that a few values lie far from all others."""
    if profile.role != "number":
        return
    low, inner_low, median, inner_high, high = (profile.quantile(share) for share in (0.01, 0.05, 0.5, 0.95, 0.99))
    spread = _spread(profile)
    if low is None or median is None or high is None or spread is None or not spread > 0:
        return
    far, end, inner = ("above", high, inner_high) if high - median >= median - low else ("below", low, inner_low)
    # Where the 5% or 95% point is as far out, or a frequent value is there, many rows have one and the same value: no tail.
    lump = inner == end or any(math.isclose(float(each.value), end, rel_tol=_ALIKE) for each in _lumps(profile))
    if abs(end - median) > _HEAVY * spread and math.isfinite(end) and not lump:
        yield Note(
            "heavy tail", profile.name,
            f"1% of the values are at {amount(end, 4)} or {far}, while half of them lie within "
            f"{amount(spread * _NORMAL_QUARTILES)} of one another; few rows decide its mean",
        )  # fmt: skip


def _bound(counted: Counted) -> str:
    return "at least " if counted.at_least else ""


def _count_as(number: int) -> str:
    return "counts as" if number == 1 else "count as"


def _shown(profile: ColumnProfile, value: str) -> str:
    return _quoted(value) if profile.numbers is None else value


def _quoted(value: str) -> str:
    return repr(value if len(value) <= 40 else f"{value[:40]}...")


def _percent(share: float) -> str:
    return f"{min(share, 0.9999):.2%}" if share > 0.995 else f"{share:.1%}".replace(".0%", "%")
