"""Tables to report on, and stand-ins for summaries whose every number is chosen by hand."""

from dataclasses import dataclass, field
from functools import reduce
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

import supersample as ss
from supersample import profile as profiles
from supersample.discrepancy.certificate import equal_random_rows
from supersample.profile import ColumnPlan, ColumnProfile
from supersample.records.encoding import ColumnNote
from supersample.summary import ColumnChange, PairChange
from supersample.summary.notes import Note
from supersample.summary.outcome import MmdPoint


def note(name: str, arrow_type: str, kind: str, width: int = 1) -> ColumnNote:
    """Return the note of a column."""
    return ColumnNote(name, arrow_type, kind, width, 1.0, "")


@dataclass(frozen=True)
class Comparison:
    pvalue: float
    mmd: float
    columns: tuple[ColumnChange, ...]
    changed: tuple[str, ...]
    left_rows: pa.Table
    right_rows: pa.Table
    n_left: int = 1_000
    n_right: int = 900
    pairs: tuple[PairChange, ...] = ()
    notes: tuple[Note, ...] = ()
    at_least: float = 0.0
    level: float = 0.05
    n_counting: int = 1
    kernel: Any = field(default_factory=lambda: ss.kernels.Gaussian(1.5))
    effective_rows: tuple[float, float] | None = (1_000.0, 900.0)
    dependence: tuple[float, float] = (1.0, 1.0)

    def corrected_in_words(self) -> tuple[str, ...]:
        return ("count as fewer",) if max(self.dependence) > 1.0 else ()

    def rejects(self, level: float) -> bool:
        return self.pvalue <= level

    def smaller_in_words(self) -> list[str]:
        return []

    def pairs_at(self, level: float) -> tuple[PairChange, ...]:
        return self.pairs


@dataclass
class Fake:
    prototypes: pa.Table
    criticisms: pa.Table
    background: pa.Table
    columns: tuple[ColumnNote, ...]
    n_seen: int = 581_012
    n_target: int | None = None
    mmd: float = 0.0021
    mmd_error: float = 0.0002
    uniform_mmd: float = 0.0024
    random_mmd: float = 0.0195
    energy: float = 0.97
    source: str = "rows.parquet"
    kernel: Any = field(default_factory=lambda: ss.kernels.Gaussian(1.5))
    mmd_path: tuple[MmdPoint, ...] = tuple(
        MmdPoint(rows, 0.1 * rows**-0.3, 0.01 * rows**-0.3, 0.0195) for rows in (1_000, 4_000, 20_000, 100_000, 581_012)
    )
    comparison: Comparison | None = None
    notes: tuple[Note, ...] = ()
    has_profile: bool = True
    feature_map: Any = field(default_factory=lambda: ss.features.Fourier(ss.kernels.Gaussian(1.5), 64, random_state=0))

    @property
    def as_good_as(self) -> float:
        return equal_random_rows(self.mmd, self.random_mmd, len(self.prototypes), self.n_seen)

    @property
    def column_profiles(self) -> tuple[ColumnProfile, ...] | None:
        """The profile of the background, as if it were all rows; None for a summary of an earlier version."""
        if not self.has_profile:
            return None
        rows = self.background.drop_columns(["_row", "_weight"]).combine_chunks()
        kinds = {each.name: each.kind for each in self.columns}
        plans = [ColumnPlan(each.name, each.type, kinds[each.name]) for each in rows.schema]
        return reduce(profiles.update, rows.to_batches(), profiles.init(plans)).columns

    def _ready(self) -> Any:
        """Return what says whether all rows count alike."""
        counted = all(column.kind != "weight" for column in self.columns)
        return SimpleNamespace(settled=SimpleNamespace(counts_alike=counted))

    def bound(self, delta: float = 0.05) -> float:
        return 0.31

    def compare(self, other: Any) -> Comparison:
        return self.comparison

    def encode(self, table: pa.Table) -> np.ndarray:
        blocks = []
        for note in self.columns:
            column = table.column(note.name)
            if note.kind == "number":
                blocks.append(np.nan_to_num(column.cast(pa.float64()).to_numpy())[:, None])
            elif note.kind == "vector":
                blocks.append(np.array(column.to_pylist(), dtype=float).reshape(len(column), note.width))
            elif note.kind in ("category", "boolean"):
                blocks.append(np.array([[len(str(value)) % 3] for value in column.to_pylist()], dtype=float).reshape(-1, 1))
        return np.hstack(blocks)


def fake(rows: pa.Table, columns: tuple[ColumnNote, ...], prototypes: int = 30, criticisms: int = 6, **others: Any) -> Fake:
    """Make a summary of a table: its first rows are the prototypes, the next the criticisms, all of it the background."""
    n_rows = len(rows)
    positions = pa.array(range(1_000, 1_000 + n_rows))

    def part(low: int, high: int, **more: Any) -> pa.Table:
        chosen = rows.slice(low, high - low).append_column("_row", positions.slice(low, high - low))
        for name, values in more.items():
            chosen = chosen.append_column(name, pa.array(values))
        return chosen

    shares = np.arange(prototypes, 0, -1) / np.arange(1, prototypes + 1).sum()
    last = prototypes + criticisms
    witness = np.linspace(0.02, -0.01, criticisms)
    nearest = np.arange(criticisms) % max(1, prototypes)
    kinds = np.where(np.arange(criticisms) < criticisms // 2, "missed", "rare")
    return Fake(
        part(0, prototypes, _weight=shares, _share=np.roll(shares, 3)),
        part(prototypes, last, _kind=kinds, _share=np.full(criticisms, 0.021), _witness=witness, _nearest=nearest),
        part(0, n_rows, _weight=np.full(n_rows, 1 / n_rows)),
        columns,
        **others,
    )


def mixed_rows(n_rows: int = 400, seed: int = 0) -> tuple[pa.Table, tuple[ColumnNote, ...]]:
    """Make a table of numbers, words, switches, days and free text, with some values missing."""
    rng = np.random.default_rng(seed)
    days = np.datetime64("2024-01-01", "D") + rng.integers(0, 700, n_rows).astype("timedelta64[D]")
    towns = rng.choice(["Aberdeen", "Bath", "Cardiff", "Derry"], n_rows, p=[0.5, 0.3, 0.15, 0.05])
    fare = np.where(rng.random(n_rows) < 0.05, np.nan, rng.lognormal(2.5, 0.7, n_rows))
    table = pa.table(
        {
            "age": rng.normal(45, 15, n_rows).round(),
            "fare": pa.array(fare, from_pandas=True),
            "town": towns,
            "member": rng.random(n_rows) < 0.3,
            "joined": days,
            "stops": rng.integers(0, 5, n_rows),
            "remark": [f"Remark number {place}: nothing more to say about this one." for place in range(n_rows)],
        }
    )
    kinds = ("number", "number", "category", "boolean", "time", "number", "left out")
    notes = tuple(
        note(name, str(table.schema.field(name).type), kind, 0 if kind in ("left out", "time") else 1)
        for name, kind in zip(table.column_names, kinds, strict=True)
    )
    return table, notes


def messy_rows(n_rows: int, seed: int = 0) -> pa.Table:
    """Make a table with numbers in text, a heavy tail, long and hostile values, free text, gaps and constants: 30 columns."""
    rng = np.random.default_rng(seed)
    long = "one-word-that-is-never-broken" * 6
    columns = {
        "price": [f"${value:,.2f}" for value in rng.lognormal(3.5, 1.3, n_rows)],
        "discount": [f"{value}%" for value in rng.choice([0, 5, 12.5, 20], n_rows)],
        "amount": 20.0 + rng.pareto(1.1, n_rows) * 20.0,
        "count_of_items": rng.poisson(3.0, n_rows),
        "country": rng.choice(["US", "us", "DE", "<b>FR</b>", long], n_rows, p=[0.4, 0.2, 0.2, 0.1, 0.1]),
        "note": [
            f"note {place}: <i>{' '.join(rng.choice(['late', 'broken', 'refund', long], 9))}</i>" for place in range(n_rows)
        ],
        "rating": pa.array([None if place % 3 == 0 else place % 5 for place in range(n_rows)]),
        "shipped": np.datetime64("2024-01-01T00:00", "s") + rng.integers(0, 10**7, n_rows).astype("timedelta64[s]"),
        "order_id": np.arange(n_rows) * 3 + 700_000,
    }
    columns |= {f"same_{place}": np.full(n_rows, 7) for place in range(6)}
    columns |= {f"x_{place}": rng.normal(size=n_rows) for place in range(15)}
    return pa.table(columns)


def image_rows(n_rows: int, side: int, channels: int = 1, seed: int = 0) -> tuple[pa.Table, tuple[ColumnNote, ...]]:
    """Make a table of noisy square images and labels."""
    rng = np.random.default_rng(seed)
    length = side * side * channels
    pixels = rng.integers(0, 256, (n_rows, length), dtype=np.uint8)
    images = pa.FixedSizeListArray.from_arrays(pa.array(pixels.ravel()), length)
    table = pa.table({"image": images, "label": pa.array(rng.choice(list("abc"), n_rows))})
    return table, (note("image", str(images.type), "vector", length), note("label", "string", "category"))


def gained(rows: pa.Table) -> pa.Table:
    """Add what a comparison says of its rows."""
    said = {"_ratio": 20.7, "_count": 210, "_other": 10, "_known": "about", "_like": "age from 60 on"}
    for name, value in said.items():
        rows = rows.append_column(name, pa.array([value] * len(rows)))
    return rows


def changes(left: Fake, right: Fake) -> Comparison:
    """Make up a comparison in which the first two columns changed."""
    names = [note.name for note in left.columns if note.kind != "left out"]
    parts = 0.5 ** np.arange(1, len(names) + 1)
    columns = tuple(
        ColumnChange(name, float(part) / 2, 0.001 if place < 2 else 0.4, float(part / parts.sum()), 0.1, f"{name} moved")
        for place, (name, part) in enumerate(zip(names, parts, strict=True))
    )
    rows = [gained(side.criticisms.drop_columns(["_kind", "_share", "_nearest"])) for side in (left, right)]
    return Comparison(0.0004, 0.12, columns, tuple(names[:2]), rows[0], rows[1])
