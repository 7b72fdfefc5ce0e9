"""Rows as cards: their pictures, their most telling values, and why they are here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from supersample.report.cells import clean, text_of
from supersample.report.pictures import Picture, PictureColumn

__all__ = ["RESERVED", "Card", "Gallery", "gallery_of"]

#: Columns that the summary adds to those of the user.
RESERVED = ("_row", "_weight", "_witness", "_nearest")
#: Values shown at once in a table, and beside a picture.
IN_A_TABLE, BESIDE_A_PICTURE = 8, 4
#: Values of one gallery that the page holds at most; what is beyond is named, not shown.
MOST_VALUES = 12_000


@dataclass(frozen=True)
class Card:
    """One row: where it was, what it counts for, and what it holds, in the order of the gallery's columns."""

    row: int
    share: float | None
    pictures: tuple[Picture, ...]
    values: tuple[str, ...]
    more: tuple[str, ...]
    why: str
    unusual: tuple[str, ...]


@dataclass(frozen=True)
class Gallery:
    """Cards under one set of columns; n_rows counts those not shown too, hidden the columns that no card shows."""

    columns: tuple[str, ...]
    more_columns: tuple[str, ...]
    cards: tuple[Card, ...]
    n_rows: int
    hidden: tuple[str, ...]

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
) -> Gallery:
    """Make the gallery of a table's first rows; columns of pictures are drawn, the others written in the order given."""
    drawn = {column.name for column in pictures}
    names = [name for name in order if name not in drawn]
    ahead = BESIDE_A_PICTURE if pictures else IN_A_TABLE
    n_cards = min(most, len(table))
    room = MOST_VALUES // max(1, n_cards)
    first, rest, hidden = names[:ahead], names[ahead:room], names[max(ahead, room) :]
    cards = []
    for place in range(n_cards):
        row = int(table.column("_row")[place].as_py())
        images = [column.draw(table.column(column.name)[place], f"row {row:,}") for column in pictures]
        cards.append(
            Card(
                row=row,
                share=float(table.column("_weight")[place].as_py()) if "_weight" in table.column_names else None,
                pictures=tuple(image for image in images if image is not None),
                values=tuple(text_of(table.column(name)[place]) for name in first),
                more=tuple(text_of(table.column(name)[place]) for name in rest),
                why=why(place),
                unusual=unusual(place),
            )
        )
    return Gallery(_written(first), _written(rest), tuple(cards), len(table), _written(hidden))


def _written(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(clean(name, 60) for name in names)
