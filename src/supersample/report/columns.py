"""One card for each column: what all rows hold, how the prototypes compare, and which columns go with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from supersample._text import amount
from supersample._typing import Floats
from supersample.profile import ColumnProfile, floats_of, texts_of
from supersample.profile import wording as said
from supersample.records.encoding import ColumnNote
from supersample.report import words
from supersample.report.cells import clean
from supersample.report.correlations import Classes, Link, links_of
from supersample.report.numbers import shares_of
from supersample.report.shapes import Shape, shape_of
from supersample.summary.notes import Note

__all__ = ["Bar", "ColumnCard", "Statistic", "cards_of", "shown_by_value"]

#: Cards on the page; further columns are counted.
MOST_CARDS = 500
#: Numbers with at most this many different values are shown value by value.
FEW = 12
#: Bars of a column, and of one whose distribution is drawn; the others are counted.
MOST_BARS, BESIDE_A_SHAPE = 8, 3
#: Frequent values are shown beside a distribution if they have at least this share of the rows.
FREQUENT = 0.05
#: Characters of a value.
LONGEST_VALUE = 60
#: Characters of the further notes on a column.
LONGEST_NOTE = 160


@dataclass(frozen=True)
class Statistic:
    """A statistic of all rows."""

    label: str
    value: str


@dataclass(frozen=True)
class Bar:
    """A frequent value, how often it occurs, and the shares of all rows and of the prototypes that have it."""

    value: str
    count: str
    share: float
    prototypes: float


@dataclass(frozen=True)
class ColumnCard:
    """What the page says of one column. missing and distinct are there to sort by; others: values without a bar."""

    name: str
    role: str
    type: str
    left_out: str
    kinds: tuple[str, ...]
    shape: Shape | None
    bars: tuple[Bar, ...]
    others: str
    statistics: tuple[Statistic, ...]
    prototypes: str
    links: tuple[Link, ...]
    missing: int
    distinct: int


def cards_of(
    columns: Sequence[ColumnProfile],
    order: Sequence[str],
    notes: tuple[Sequence[ColumnNote], Sequence[Note]],
    prototypes: pa.Table,
    sample: pa.Table,
) -> tuple[ColumnCard, ...]:
    """Make the cards of columns in an order.

    notes: how the columns are used, and what there is to say about them. sample: rows in which links between columns are found.
    """
    named = {column.name: column for column in columns}
    shown = [named[name] for name in order[:MOST_CARDS]]
    used = {note.name: note for note in notes[0]}
    kinds: dict[str | None, list[str]] = {}
    for note in notes[1]:
        kinds.setdefault(note.column, []).append(note.kind)
    links = _links(shown, sample)
    weights = shares_of(prototypes)
    return tuple(
        _card(
            column, used[column.name], tuple(kinds.get(column.name, ())), (_one(prototypes, column), weights),
            links.get(column.name, ()),
        )
        for column in shown
    )  # fmt: skip


def _card(
    column: ColumnProfile,
    note: ColumnNote,
    kinds: tuple[str, ...],
    prototypes: tuple[pa.Array, Floats],
    links: tuple[Link, ...],
) -> ColumnCard:
    """Make one card; the prototypes come with their weights."""
    by_value, (rows, weights) = shown_by_value(column), prototypes
    values = floats_of(column, rows) if column.numbers is not None else np.empty(0)
    # Only columns in the kernel are matched by the prototypes; of the others, those with a few values may still be.
    shape = None
    if not by_value and column.numbers is not None:
        shape = shape_of(column, values, weights) if note.used else shape_of(column, values[:0], weights[:0])
    bars = _bars(column, rows, weights, by_value)
    return ColumnCard(
        name=clean(column.name, 80),
        role=column.role,
        type=clean(column.type, 40),
        left_out="" if note.used or note.kind == "weight" else clean(note.note, LONGEST_NOTE) or "not in the kernel",
        kinds=tuple(kind for kind in kinds if kind != column.role),
        shape=shape,
        bars=bars,
        others=_others(column, len(bars)) if by_value and bars else "",
        statistics=_statistics(column),
        prototypes=_mean_of_prototypes(column, values, weights) if note.used else "",
        links=tuple(Link(clean(link.name, 40), link.measure, link.value) for link in links),
        missing=column.missing,
        distinct=column.distinct or 0,
    )


def _one(table: pa.Table, column: ColumnProfile) -> pa.Array:
    whole = table.column(column.name).combine_chunks()
    return whole if isinstance(whole, pa.Array) else whole.chunk(0)


def shown_by_value(column: ColumnProfile) -> bool:
    """Return whether a column is shown by its values, and not as a distribution."""
    if column.frequent is None or column.form.clock:
        return False
    if column.numbers is None or column.role == "category":
        return True
    return column.frequent.exact and column.frequent.hashes.size <= FEW


def _bars(column: ColumnProfile, prototypes: pa.Array, weights: Floats, by_value: bool) -> tuple[Bar, ...]:
    if column.frequent is None:
        return ()
    few = by_value and column.frequent.exact and column.numbers is not None
    found = list(column.top(FEW if few else MOST_BARS if by_value else BESIDE_A_SHAPE))
    if not by_value:
        found = [each for each in found if each.count >= FREQUENT * column.rows]
    if few and column.role == "number":
        found.sort(key=lambda each: float(each.value))
    drawn = np.array([*texts_of(column, prototypes), None], dtype=object)[:-1]  # never an array of their characters
    return tuple(
        Bar(
            clean(each.value.removesuffix(".0") if column.form.family == "real" else each.value, LONGEST_VALUE) or "(empty)",
            said.count_text(each),
            each.count / max(1, column.rows),
            float(weights[drawn == each.value].sum()),
        )
        for each in found
    )


def _others(column: ColumnProfile, n_bars: int) -> str:
    """Say how many different values have no bar."""
    if column.distinct is None or column.distinct <= n_bars:
        return ""
    if not column.distinct_error:
        return words.count(column.distinct - n_bars, "other value")
    return f"{said.distinct_text(column)} different values"


def _statistics(column: ColumnProfile) -> tuple[Statistic, ...]:
    rows = max(1, column.rows)
    found = [("missing", _part(column.missing, rows))]
    if column.unreadable:
        found.append(("not readable", _part(column.unreadable, rows)))
    found.append(("distinct", said.distinct_text(column)))
    few = {"boolean": 2, "constant": 1}.get(column.role, 0)
    if column.numbers is not None and column.role != "category" and (column.distinct or 0) > few:
        found += _of_numbers(column)
    if column.lengths is not None and column.count:
        found += _of_lengths(column)
    return tuple(Statistic(label, value) for label, value in found if value)


def _part(count: int, rows: int) -> str:
    return f"{count:,} ({words.percent(count / rows)})" if count else "0"


def _of_numbers(column: ColumnProfile) -> list[tuple[str, str]]:
    is_time = column.form.is_time
    first, last = ("first", "last") if is_time else ("min", "max")
    shares = {"5%": 0.05, "25%": 0.25, "median": 0.5, "75%": 0.75, "95%": 0.95}
    found = [(first, said.minimum_text(column))]
    found += [(label, said.quantile_text(column, share)) for label, share in shares.items()]
    found.append((last, said.maximum_text(column)))
    if column.mean is not None and not is_time:
        infinite = column.numbers is not None and column.numbers.infinite
        of = " of the finite values" if infinite else ""
        found += [(f"mean{of}", said.value_text(column, column.mean)), (f"sd{of}", said.sd_text(column))]
    return found + ([] if is_time else _of_signs(column))


def _of_signs(column: ColumnProfile) -> list[tuple[str, str]]:
    numbers = column.numbers
    if numbers is None:
        return []
    counts = {"zeros": numbers.zeros, "negative": numbers.negatives, "infinite": numbers.infinite}
    return [(label, _part(count, max(1, column.rows))) for label, count in counts.items() if count]


def _of_lengths(column: ColumnProfile) -> list[tuple[str, str]]:
    lengths = column.lengths
    assert lengths is not None
    assert lengths.longest is not None
    longest = words.count(lengths.longest, "character" if column.form.family == "text" else "number")
    if lengths.shortest == lengths.longest:
        found = [("length", longest)]
    else:
        average = amount(lengths.total / column.count)
        found = [("length", f"{lengths.shortest:,} to {longest}, {average} on average")]
    if column.norms is not None and column.mean is not None:
        spread = "" if column.sd is None else f", sd {amount(column.sd)}"
        found.append(("Euclidean length", f"mean {amount(column.mean)}{spread}"))
    return found


def _mean_of_prototypes(column: ColumnProfile, values: Floats, weights: Floats) -> str:
    if column.numbers is None or column.form.is_time or column.role != "number" or not np.isfinite(values).any():
        return ""
    finite = np.isfinite(values)
    with np.errstate(over="ignore"):
        mean = float(np.average(values[finite], weights=weights[finite]))
    return f"Mean of the prototypes: {said.value_text(column, mean)}."


def _links(columns: Sequence[ColumnProfile], sample: pa.Table) -> Mapping[str, tuple[Link, ...]]:
    numbers, labels = {}, {}
    for column in columns:
        if column.role in ("id", "constant", "weight", "text") or column.frequent is None:
            continue
        if column.numbers is not None and column.role != "category":
            numbers[column.name] = floats_of(column, _one(sample, column))
        else:
            labels[column.name] = _classes(texts_of(column, _one(sample, column)))
    return links_of(numbers, labels)


def _classes(texts: Sequence[str | None]) -> Classes:
    known: dict[str, int] = {}
    return np.array([-1 if text is None else known.setdefault(text, len(known)) for text in texts], dtype=np.int64)
