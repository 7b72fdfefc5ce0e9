"""Rows as cards: their pictures, their most informative values, and why they are shown."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

import pyarrow as pa

from supersample.report.cells import clean, text_of
from supersample.report.pictures import Picture, PictureColumn

__all__ = ["Card", "Gallery", "Heading", "gallery_of", "headings"]

#: Values shown at once in a table, and beside a picture.
IN_A_TABLE, BESIDE_A_PICTURE = 8, 4
#: Bytes of the page for all further values; columns that do not fit are counted, not shown.
MOST_BYTES = 400_000
#: Bytes of markup around a value.
MARKUP = 40


@dataclass(frozen=True)
class Card:
    """One row: its position, its share, and its values in the order of the gallery's columns.

    nearest: the pictures of the prototype nearest to it, for comparison.
    """

    row: int
    share: float | None
    pictures: tuple[Picture, ...]
    values: tuple[str, ...]
    more: tuple[str, ...]
    why: str
    unusual: tuple[str, ...]
    nearest: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class Heading:
    """The name of a column, and whether it holds numbers (they are right-aligned)."""

    name: str
    is_number: bool


@dataclass(frozen=True)
class Gallery:
    """Cards with the same columns; n_rows counts all rows, shown or not; n_hidden counts the columns that no card shows."""

    columns: tuple[Heading, ...]
    more_columns: tuple[Heading, ...]
    cards: tuple[Card, ...]
    n_rows: int
    n_hidden: int

    @property
    def has_pictures(self) -> bool:
        """Whether any card shows an image."""
        return any(card.pictures for card in self.cards)


def gallery_of(
    table: pa.Table,
    order: Sequence[str],
    pictures: Sequence[PictureColumn],
    *,
    most: int,
    why: Callable[[int], str] = lambda _: "",
    unusual: Callable[[int], tuple[str, ...]] = lambda _: (),
    nearest: Callable[[int], tuple[Picture, ...]] = lambda _: (),
) -> Gallery:
    """Make the gallery of a table's first rows; columns of pictures are drawn, the others written in the order given."""
    drawn = {column.name for column in pictures}
    names = [name for name in order if name not in drawn]
    shown = table.slice(0, most)
    ahead = BESIDE_A_PICTURE if pictures else IN_A_TABLE
    first = {name: _written(shown, name) for name in names[:ahead]}
    rest = _that_fit(shown, names[ahead:])
    rows = shown.column("_row").to_pylist()
    shares = shown.column("_share").to_pylist() if "_share" in shown.column_names else [None] * len(rows)
    cards = []
    for place, (row, share) in enumerate(zip(rows, shares, strict=True)):
        images = [column.draw(shown.column(column.name)[place], f"row {row:,}") for column in pictures]
        cards.append(
            Card(
                row=row,
                share=share,
                pictures=tuple(image for image in images if image is not None),
                values=tuple(values[place] for values in first.values()),
                more=tuple(values[place] for values in rest.values()),
                why=why(place),
                unusual=unusual(place),
                nearest=nearest(place),
            )
        )
    n_hidden = len(names) - len(first) - len(rest)
    return Gallery(headings(table, first), headings(table, rest), tuple(cards), len(table), n_hidden)


def _written(table: pa.Table, name: str) -> list[str]:
    column = table.column(name)
    return [text_of(column[place]) for place in range(len(column))]


def _that_fit(table: pa.Table, names: Sequence[str]) -> dict[str, list[str]]:
    """Return columns as text, in order, as long as there is room for them on the page."""
    room, written = MOST_BYTES, {}
    for name in names:
        values = _written(table, name)
        room -= sum(MARKUP + len(escape(value).encode()) for value in (name, *values))
        if room < 0:
            break
        written[name] = values
    return written


def headings(table: pa.Table, names: Iterable[str], longest: int = 60) -> tuple[Heading, ...]:
    """Return the headings of some columns of a table; longer names are cut."""
    names = list(names)
    kinds = [table.schema.field(name).type for name in names]
    numeric = [pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) for kind in kinds]
    return tuple(Heading(clean(name, longest), bool(number)) for name, number in zip(names, numeric, strict=True))
