"""The alarms of a history as cards: when, how sure, what changed, and rows of before and after."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from supersample.history.alarm import Alarm
from supersample.history.rules import Rules
from supersample.records.sources import RESERVED
from supersample.report import words
from supersample.report.cells import clean
from supersample.report.gallery import Gallery, gallery_of
from supersample.report.pictures import PictureColumn, picture_columns
from supersample.report.timeline.moments import moment
from supersample.summary.comparison import gain_in_words

__all__ = ["AlarmCard", "cards_of_alarms", "named_by"]

#: Alarms with a card, those of them with rows, rows of each side, and changes that are listed.
MOST_CARDS, MOST_WITH_ROWS, MOST_ROWS, MOST_CHANGES = 100, 20, 6, 12


@dataclass(frozen=True)
class AlarmCard:
    """One alarm. changes: columns, or pairs of them, and what changed. before, after: rows that show it; None without any."""

    number: int
    kind: str
    title: str
    when: str
    size: str
    changes: tuple[tuple[str, str], ...]
    n_more: int
    before: Gallery | None
    after: Gallery | None


def named_by(alarms: Sequence[Alarm]) -> list[str]:
    """Return the columns that alarms name, those of the latest first."""
    named = ((*each.changed, *(name for pair in each.changed_pairs for name in pair.columns)) for each in reversed(alarms))
    return [name for names in named for name in names]


def cards_of_alarms(alarms: Sequence[Alarm], rules: Rules) -> tuple[AlarmCard, ...]:
    """Return the cards of the latest alarms, the latest first."""
    shown = list(enumerate(alarms, start=1))[-MOST_CARDS:][::-1]
    with_rows = [alarm for _, alarm in shown if alarm.before is not None and alarm.after is not None][:MOST_WITH_ROWS]
    tables = [side for alarm in with_rows for side in (alarm.before, alarm.after)]
    pictures = picture_columns([_own(each) for each in tables], 2 * MOST_ROWS * len(with_rows)) if tables else ()
    cards = []
    for number, alarm in shown:
        changes = [(each.name, each.what) for each in alarm.columns if each.name in alarm.changed]
        changes += [(each.names, each.what) for each in alarm.changed_pairs]
        rows = any(alarm is each for each in with_rows)
        sides = [
            _gallery(side, when, pictures, alarm) if rows and side is not None else None
            for side, when in ((alarm.before, "Before"), (alarm.after, "After"))
        ]
        cards.append(
            AlarmCard(
                number=number,
                kind=alarm.kind,
                title=moment(alarm.change, rules),
                when=_when(alarm, rules),
                size=_size(alarm),
                changes=tuple((clean(name, 60), clean(what, 200)) for name, what in changes[:MOST_CHANGES]),
                n_more=max(0, len(changes) - MOST_CHANGES),
                before=sides[0],
                after=sides[1],
            )
        )
    return tuple(cards)


def _when(alarm: Alarm, rules: Rules) -> str:
    first, last = (moment(each, rules) for each in alarm.between)
    end = moment(alarm.at - 1.0 if rules.time is None else alarm.at, rules)
    noticed = f"with {end}" if rules.time is None else f"when the block that ends at {end} was closed"
    return f"It lies between {first} and {last}, and was noticed {noticed}."


def _size(alarm: Alarm) -> str:
    line = f"The evidence was {words.times(alarm.evidence)} times the alarm threshold."
    if alarm.kind == "volume":
        rows = f"{words.amount(alarm.mmd)} times as many rows as before" if alarm.mmd > 0 else "no rows"
        return f"{f'From then on there were {rows}' if math.isfinite(alarm.mmd) else 'Before it there were no rows'}. {line}"
    return f"MMD {words.amount(alarm.mmd)} between rows before and after. {line}"


def _own(table: pa.Table) -> pa.Table:
    return table.select([name for name in table.column_names if name not in RESERVED])


def _gallery(table: pa.Table, when: str, pictures: Sequence[PictureColumn], alarm: Alarm) -> Gallery:
    """Return the rows of a side, with the columns that changed first; nothing is said of rows that do not stand out."""
    own = [name for name in table.column_names if name not in RESERVED]
    named = [name for name in dict.fromkeys(named_by([alarm])) if name in own]
    shown, said = table.slice(0, MOST_ROWS), [""] * len(table)
    if "_ratio" in table.column_names:
        gains = shown.select([name for name in table.column_names if name in RESERVED]).to_pylist()
        said = [_why(each, when) for each in gains]
    # Where they stand in the blocks that were compared says nothing.
    shown = shown.select(own).append_column("_row", pa.array(range(len(shown)), type=pa.int64()))
    order = [*named, *(name for name in own if name not in named)]
    return gallery_of(shown, order, pictures, most=MOST_ROWS, why=said.__getitem__)


def _why(row: dict[str, Any], when: str) -> str:
    if row["_ratio"] is None:
        return ""
    return f"{when} the change, rows like it are {clean(gain_in_words(row), 300)}."
