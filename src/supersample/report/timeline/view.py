"""Everything the page of a history shows, as plain data: no markup here, and nothing is computed after this."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from supersample import profile as profiles
from supersample.errors import InputError
from supersample.history.alarm import Alarm
from supersample.history.history import History, notes_of, state_of
from supersample.history.rules import Rules
from supersample.history.timeline import Timeline
from supersample.report import words
from supersample.report.cells import clean
from supersample.report.timeline import words as said
from supersample.report.timeline.alarms import MOST_CARDS, AlarmCard, cards_of_alarms, named_by
from supersample.report.timeline.courses import Course, courses_of
from supersample.report.timeline.embedded import Preset, embedded
from supersample.report.timeline.moments import axis_words, length_words, moment, short
from supersample.report.timeline.overview import Overview, Steps, late_steps, overview_of
from supersample.report.timeline.scale import TimeScale, scale_of
from supersample.report.timeline.spans import Span, spans_of
from supersample.report.timeline.words import Standing
from supersample.report.view import Fact, NoteGroup, note_groups

__all__ = ["HistoryView", "Mark", "standing_of", "view_of_history"]

#: Alarms that have a button which compares before and after.
_BUTTONS = 3
#: The least distance of two numbers above the axis, as a share of it.
_APART = 0.08
#: How far from a quarter of the axis its label may stand, and moments that are good labels, the best first, in seconds.
_NEAR, _ROUND = 0.06, (86_400.0, 43_200.0, 21_600.0, 3_600.0, 1_800.0, 900.0, 60.0)


@dataclass(frozen=True)
class Mark:
    """An alarm on the axis: places of the change and of the interval that it lies in, and words for it.

    flag: whether there is room for its number above the chart.
    """

    number: int
    kind: str
    place: float
    low: float
    high: float
    words: str
    flag: bool


@dataclass(frozen=True)
class HistoryView:
    """What the page of a history shows.

    labels: places on the axis, from 0 to 1, with their times. late: rows that came late, along time; None without any.
    embedded: what the script compares two ranges by.
    """

    title: str
    source: str
    headline: str
    since: str
    promise: str
    facts: tuple[Fact, ...]
    notes: tuple[NoteGroup, ...]
    labels: tuple[tuple[float, str], ...]
    axis: str
    every: str
    overview: Overview
    volume: bool
    counted: bool
    late: Steps | None
    n_late: int
    n_open: int
    marks: tuple[Mark, ...]
    alarms: tuple[AlarmCard, ...]
    about_alarms: str
    scale: TimeScale
    spans: tuple[tuple[float, float], ...]
    thinned: str
    courses: tuple[Course, ...]
    n_columns: int
    about_line: str
    embedded: dict[str, Any]
    small_print: tuple[Fact, ...]


def view_of_history(history: History, title: str | None = None) -> HistoryView:
    """Gather what the page of a history shows."""
    state, source = state_of(history), history.source
    spans, rules = spans_of(state), state.rules
    if not spans:
        raise InputError("the history holds no rows, so there is nothing to show; update it with some first")
    whole = profiles.without_rare(reduce(profiles.merge, (each.profile for each in spans)), state.request.options.min_count)
    scale = scale_of([(each.start, each.end) for each in spans])
    courses, n_columns = courses_of(spans, whole, named_by(state.alarms), rules.time)
    alarms, standing, n_late = cards_of_alarms(state.alarms, rules), standing_of(state), sum(each.late for each in spans)
    places = tuple((scale.at(each.start), scale.at(each.end)) for each in spans)
    return HistoryView(
        title=clean(title or source, 120),
        source=clean(source, 120),
        headline=said.headline(standing),
        since=said.since(standing),
        promise=said.promise(rules),
        facts=_facts(state, spans),
        notes=note_groups(notes_of(state)),
        labels=_labels(spans, scale, rules),
        axis=" ".join(filter(None, [said.about_evidence(rules), axis_words(rules, is_even=scale.is_even)])),
        every=length_words(rules.every, rules),
        overview=overview_of(state.ticks, rules.every, scale),
        volume=rules.volume,
        counted=rules.time is None,
        late=late_steps(spans, scale, rules.every) if n_late else None,
        n_late=n_late,
        n_open=len(state.open),
        marks=_marks(state.alarms, scale, rules),
        alarms=alarms,
        about_alarms=said.about_alarms(len(alarms), len(state.alarms)),
        scale=scale,
        spans=places,
        thinned=_thinned(spans),
        courses=courses,
        n_columns=n_columns,
        about_line=said.about_line(rules),
        embedded=embedded(
            spans, courses, scale, rules, _presets(spans, state), float(state.lookout.content.factors[0])
        ),
        small_print=_small_print(state),
    )  # fmt: skip


def standing_of(state: Timeline) -> Standing:
    """Return how a history stands."""
    with_rows, ticks = np.flatnonzero(state.ticks.sizes > 0), state.ticks
    # After a gap without rows the evidence is what it was before.
    evidence = float(ticks.evidence[with_rows[-1]]) if with_rows.size else 0.0
    volume = float(ticks.volume[-1]) if ticks.volume.size else 0.0
    spans = [(each.start, each.end) for each in state.blocks]
    spans += [(each.block.start, each.block.end) for each in state.open.values()]
    return Standing(
        rules=state.rules,
        start=min(start for start, _ in spans),
        end=max(end for _, end in spans),
        alarms=state.alarms,
        evidence=evidence,
        volume=volume,
        looking=state.lookout.content.limits.size > 0,
        n_closed=state.lookout.n_ticks,
    )


def _facts(state: Timeline, spans: Sequence[Span]) -> tuple[Fact, ...]:
    rules, lengths = state.rules, [each.end - each.start for each in state.blocks] or [state.rules.every]
    least, most = (length_words(each, rules) for each in (min(lengths), max(lengths)))
    held = sum(each.n_blocks for each in spans)
    kinds = [alarm.kind for alarm in state.alarms]
    facts = [
        Fact("rows seen" if state.n_seen != 1 else "row seen", words.count(state.n_seen)),
        Fact("blocks held" if held != 1 else "block held", words.count(held), least if least == most else f"{least} to {most}"),
        Fact("changes of content", words.count(kinds.count("content")), "what rows hold, or how columns go together"),
    ]
    if rules.volume:
        facts.append(Fact("changes of volume", words.count(kinds.count("volume")), "how many rows a block has"))
    if rules.time is not None:
        facts.append(Fact("late rows", words.count(state.n_late), "after their block was closed; alarms did not see them"))
    return tuple(facts)


def _labels(spans: Sequence[Span], scale: TimeScale, rules: Rules) -> tuple[tuple[float, str], ...]:
    """Label the ends of the axis, and near its quarters the roundest start of a block: of a day, half a day, an hour."""
    starts = np.array([each.start for each in spans])
    places = scale.place(starts)
    steps = _ROUND if rules.clock else tuple(10.0**power for power in range(15, -1, -1))
    roundness = [next((place for place, step in enumerate(steps) if start % step == 0), len(steps)) for start in starts]
    found = {0.0: short(spans[0].start, rules), 1.0: short(spans[-1].end, rules)}
    for wanted in (0.25, 0.5, 0.75):
        near = np.flatnonzero(np.abs(places - wanted) <= _NEAR)
        if near.size:
            best = min(near.tolist(), key=lambda each: (roundness[each], abs(places[each] - wanted)))
            found[float(places[best])] = short(float(starts[best]), rules)
    return tuple(sorted(found.items()))


def _marks(alarms: Sequence[Alarm], scale: TimeScale, rules: Rules) -> tuple[Mark, ...]:
    """Place alarms on the axis; the latest ones have their number above it as long as there is room."""
    marks: list[Mark] = []
    taken: list[float] = []
    for number, alarm in reversed(list(enumerate(alarms, start=1))):
        place, low, high = (scale.at(each) for each in (alarm.change, *alarm.between))
        flag = number > len(alarms) - MOST_CARDS and all(abs(place - other) >= _APART for other in taken)
        taken += [place] if flag else []
        text = f"{alarm.kind} changed at {moment(alarm.change, rules)}: {clean(alarm.in_words(), 120)}"
        marks.append(Mark(number, alarm.kind, place, low, high, text, flag))
    return tuple(reversed(marks))


def _presets(spans: Sequence[Span], state: Timeline) -> list[Preset]:
    """Return pairs of ranges that are worth a look: before and after the latest changes, and the two halves."""
    changes = sorted({alarm.change for alarm in state.alarms if alarm.kind == "content"})
    starts = [each.start for each in spans]

    def first_from(time: float) -> int:
        return int(np.searchsorted(starts, time))

    found: list[Preset] = []
    for place in range(len(changes) - 1, max(-1, len(changes) - 1 - _BUTTONS), -1):
        low = first_from(changes[place - 1]) if place else 0
        middle = first_from(changes[place])
        high = first_from(changes[place + 1]) if place + 1 < len(changes) else len(spans)
        if low < middle < high:
            name = f"Before and after {moment(changes[place], state.rules)}"
            found.append((name, (low, middle), (middle, high)))
    half = max(1, min(len(spans) - 1, first_from((spans[0].start + spans[-1].end) / 2)))
    return [*found, ("First and second half", (0, half), (min(half, len(spans) - 1), len(spans)))]


def _thinned(spans: Sequence[Span]) -> str:
    """Say that blocks are shown together, where they are."""
    held, most = sum(each.n_blocks for each in spans), max(each.n_blocks for each in spans)
    if most == 1:
        return ""
    return f"The history holds {held:,} blocks; up to {most:,} neighbours are shown together, never across a change."


def _small_print(state: Timeline) -> tuple[Fact, ...]:
    rules, factor = state.rules, float(state.lookout.content.factors.max())
    kind = "exact" if rules.exact else "asymptotic"
    means = "whatever the distribution of the rows, if they are independent" if rules.exact else "for blocks of many rows"
    facts = [
        Fact("Time", clean(rules.time, 60) if rules.time else "the number of rows", "what blocks are cut by"),
        Fact("Blocks", length_words(rules.every, rules), "as they come in; older ones are joined, never across a change"),
        Fact("Season", length_words(rules.season, rules) if rules.season else "none", "after which the stream repeats itself"),
        Fact("Run length", words.count(round(rules.run_length), "block"), "between false alarms, at least, on average"),
        Fact("Guarantee", kind, f"the run length holds {means}"),
        Fact("Dependence", words.amount(factor), "times fewer rows count, since rows depend on those before them"),
        Fact("Kernel", clean(words.shortened(repr(state.maps.plan.kernel)), 200), "says how alike two rows are"),
    ]
    if rules.time is not None:
        late = length_words(rules.lateness, rules) if rules.lateness else "none"
        facts.insert(2, Fact("Lateness", late, "for which a block still takes rows after its end, before it is looked at"))
    if rules.keep is not None:
        facts.insert(2, Fact("Kept", length_words(rules.keep, rules), "after which blocks are dropped"))
    return tuple(facts)
