"""Two summaries that were not made like each other, brought to one encoding and one feature map to be compared.

Both are learned from the background samples of the two together, so neither side's choice decides. Columns that only one side
has, or that the sides take for different things, are not compared; notes say so.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from supersample import profile as profiles
from supersample._random import Seed
from supersample._text import plural
from supersample._typing import Floats
from supersample.embedding import moments
from supersample.embedding.moments import scale_weights
from supersample.errors import InputError, MismatchError
from supersample.kernels import Gaussian, Kernel
from supersample.profile import ColumnPlan, ColumnProfile, Profile
from supersample.profile.groups import GROUPED
from supersample.records.encoding import ColumnNote, ColumnOptions, Encoding, learn
from supersample.records.encoding.cycle import Cycle
from supersample.selection.stream.background import Background, Timed
from supersample.selection.stream.lifecycle import Stream
from supersample.selection.stream.plan import WARM_UP, Plan, Settings, make_plan
from supersample.selection.stream.rows import Rows
from supersample.summary.notes import Note
from supersample.summary.row_store import RowStore
from supersample.summary.shared_columns import Column, Side, converted, one_batch, shared_columns, side_of
from supersample.summary.state import Running, same_maps

__all__ = ["APART", "Ground", "brought_together"]

#: The kind of the note that says that two summaries were not made like each other.
APART = "made apart"
#: The seed of the feature map: the same two summaries always give the same answer.
_SEED = Seed(20241128)


#: Columns that the note names.
_NAMED = 5


class Ground(NamedTuple):
    """Two states with one encoding and one plan, for comparison only, and what there is to know about it.

    Their streams hold the background samples and nothing else, and their moments are those of the samples. drawn: the columns
    whose values are counted in the samples, not in all rows.
    """

    left: Running
    right: Running
    notes: tuple[Note, ...]
    drawn: frozenset[str]

    @property
    def columns(self) -> tuple[ColumnNote, ...]:
        """How each column that is compared is used."""
        return self.left.encoding.notes

    def samples(self) -> tuple[pa.Table, pa.Table]:
        """Return the background samples in the columns that are compared, with positions and shares, as `encode` takes them."""
        tables = []
        for state in (self.left, self.right):
            rows = state.stream.background
            table = state.kept.at(rows.rows.positions).append_column("_row", pa.array(rows.rows.positions))
            tables.append(table.append_column("_weight", pa.array(rows.shares())))
        return tables[0], tables[1]

    def encode(self, rows: pa.Table) -> Floats:
        """Return rows of the samples as points of the kernel."""
        return self.left.encoding.points(one_batch(rows))


def brought_together(left: Running, right: Running) -> Ground:
    """Return both with one encoding and plan; raise MismatchError if there is no column to compare.

    The result does not depend on which side is called left. O(B (width + D)) for B background rows.
    """
    sides = side_of(left), side_of(right)
    columns, notes = shared_columns(sides)
    tables = [converted(each, columns) for each in sides]
    samples = [_sampled(side, table) for side, table in zip(sides, tables, strict=True)]
    shares = [each.held.background.shares() for each in sides]
    order = (0, 1) if _mark(samples[0]) <= _mark(samples[1]) else (1, 0)
    encoding, left_out = _learned(sides, columns, pa.concat_tables([samples[each] for each in order]))
    points = [encoding.points(one_batch(each)) for each in samples]
    plan = _planned(_kernel(sides, encoding), [points[each] for each in order], [shares[each] for each in order])
    made = _profiles(sides, columns, samples, encoding)
    states = []
    for place, side in enumerate(sides):
        kept = RowStore(side.state.kept.positions, tables[place])
        held = _resampled(side.held, plan, points[place], shares[place])
        states.append(
            replace(side.state, schema=tables[place].schema, kept=kept, encoding=encoding, stream=held, profile=made[place])
        )
    return Ground(states[0], states[1], (_said(sides), *notes, *left_out), _drawn(sides, made))


def _sampled(side: Side, table: pa.Table) -> pa.Table:
    return RowStore(side.state.kept.positions, table).at(side.held.background.rows.positions).combine_chunks()


def _mark(table: pa.Table) -> bytes:
    """Return a digest of a table, by which two are put in order."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return hashlib.blake2b(sink.getvalue()).digest()


def _learned(sides: tuple[Side, Side], columns: Sequence[Column], both: pa.Table) -> tuple[Encoding, list[Note]]:
    """Learn one encoding from both samples; columns that are a label on either side stay out of the kernel."""
    blocks = [block for side in sides for block in side.blocks.values()]
    options = ColumnOptions(
        columns={each.name: each.weight for each in columns},
        types={each.name: each.role for each in columns},
        times="cycle" if any(isinstance(each, Cycle) for each in blocks) else "level",
    )
    try:
        found = learn(both, options)
    except InputError as error:
        raise MismatchError(f"the two summaries have no column that can be compared: {error}") from error
    labels = {block.name for side in sides for block in side.state.encoding.aside}
    if all(block.name in labels for block in found.blocks):
        labels = set()
    weighed = sides[0].state.encoding.weight_column or sides[1].state.encoding.weight_column
    notes = [
        Note("left out of both", each.name, f"{each.note}, so it is not compared") for each in found.notes if not each.used
    ]
    encoding = replace(
        found,
        blocks=tuple(each for each in found.blocks if each.name not in labels),
        aside=tuple(each for each in found.blocks if each.name in labels),
        weight_column=weighed,
    )
    return encoding, notes


def _kernel(sides: tuple[Side, Side], encoding: Encoding) -> Kernel:
    """Return the kernel that both were asked for, if it is one and fits the columns in common, else a Gaussian."""
    asked = [each.state.request.settings.kernel for each in sides]
    try:
        asked[0].check_width(encoding.width)
    except InputError:
        return Gaussian("median")
    return asked[0] if asked[0] == asked[1] else Gaussian("median")


def _planned(kernel: Kernel, points: Sequence[Floats], shares: Sequence[Floats]) -> Plan:
    """Return bandwidth and feature maps, from as many rows of both as a summary takes."""
    both, weights = np.concatenate(points), np.concatenate([_relative(each) for each in shares])
    chosen = _SEED.child("rows").generator().permutation(len(both))[:WARM_UP]
    rows = Rows(both[chosen], np.arange(chosen.size), *scale_weights(weights[chosen]))
    return make_plan(Settings(n_prototypes=1, kernel=kernel, seed=_SEED), rows)


def _relative(shares: Floats) -> Floats:
    """Return shares relative to their mean, each by itself: 1 for rows that count alike."""
    return np.ones_like(shares) if np.ptp(shares) == 0 else shares / float(shares @ shares)


def _resampled(held: Stream, plan: Plan, points: Floats, shares: Floats) -> Stream:
    """Return a stream that holds its background sample and nothing else, as points of another encoding."""
    rows = Rows(points, held.background.rows.positions, *scale_weights(_relative(shares)))
    features = plan.feature_map.transform(points)
    times = np.zeros(len(rows))
    return replace(
        held,
        width=points.shape[1],
        plan=plan,
        pending=Rows.none(points.shape[1]),
        moments=moments.update(moments.init(plan.feature_map.n_features), features, rows.weights),
        background=Background(Timed(rows, times, times.astype(np.int64))),
    )


def _profiles(
    sides: tuple[Side, Side], columns: Sequence[Column], samples: Sequence[pa.Table], encoding: Encoding
) -> tuple[Profile | None, Profile | None]:
    """Return profiles that can be compared: of all rows, or of the samples where those of all rows cannot."""
    if encoding.weight_column is not None:
        return None, None
    centres = dict(encoding.centres)
    plans = [ColumnPlan(each.name, each.type, each.role, None, centres.get(each.name, 0.0)) for each in columns]
    drawn = [reduce(profiles.update, each.to_batches(), profiles.init(plans)) for each in samples]
    found: tuple[list[ColumnProfile], list[ColumnProfile]] = ([], [])
    for column in columns:
        of_all = [None if each.state.profile is None else each.state.profile[column.name] for each in sides]
        pair = _comparable(of_all[0], of_all[1], drawn[0][column.name], drawn[1][column.name])
        for out, each in zip(found, pair, strict=True):
            out.append(each)
    return Profile(tuple(found[0])), Profile(tuple(found[1]))


def _drawn(sides: tuple[Side, Side], made: tuple[Profile | None, Profile | None]) -> frozenset[str]:
    """Return the columns whose numbers and values in the profiles made are not those of all rows."""
    before, now = sides[0].state.profile, made[0]
    if before is None or now is None:
        return frozenset() if now is None else frozenset(each.name for each in now.columns)
    return frozenset(each.name for each in now.columns if each.numbers is not before[each.name].numbers)


def _comparable(
    left: ColumnProfile | None, right: ColumnProfile | None, drawn_left: ColumnProfile, drawn_right: ColumnProfile
) -> tuple[ColumnProfile, ColumnProfile]:
    """Return the profiles of all rows, with what the samples say of numbers whose histograms are about different centres."""
    if left is None or right is None or (left.values, left.reading) != (right.values, right.reading):
        return drawn_left, drawn_right
    exact = all(each.frequent is not None and each.frequent.exact for each in (left, right))
    grouped = left.group_counts is not None and right.group_counts is not None
    if left.numbers is None or exact or grouped or left.centre == right.centre:
        return left, right
    pairs = ((left, drawn_left), (right, drawn_right))
    both = [replace(each, numbers=drawn.numbers, frequent=drawn.frequent, registers=drawn.registers) for each, drawn in pairs]
    return both[0], both[1]


def _counted(sides: tuple[Side, Side]) -> str:
    """Say which values are counted in all rows: those of categories too, unless a side was made by an earlier version."""
    columns = [each for side in sides if side.state.profile is not None for each in side.state.profile.columns]
    many = any(each.frequent is not None and each.role in GROUPED and each.group_counts is None for each in columns)
    return "values of which there are up to 256" if many else "categories, and other values of which there are up to 256"


def _said(sides: tuple[Side, Side]) -> Note:
    """Say that the two were not made alike, and what is lost by it."""
    why, advice = "the two were not made like each other", "make one like the other (like=, --like)"
    differing = _types_that_differ(sides)
    if differing and same_maps(sides[0].held, sides[1].held):
        why, advice = f"the two have columns of different types, {', '.join(differing[:_NAMED])}", "give both the same types"
    sizes = [len(each.held.background.rows) for each in sides]
    if all(size >= each.held.n_seen for size, each in zip(sizes, sides, strict=True)):
        return Note(APART, None, f"{why}; nothing is lost, since both keep all their rows")
    weighed = not all(each.state.counts_alike for each in sides)
    counted = "" if weighed else f"; missing values, and {_counted(sides)}, are counted in all rows"
    what = "everything is" if weighed else "numbers, texts, pairs of columns and all columns jointly are"
    return Note(
        APART,
        None,
        f"{why}, so {what} compared by random samples of {sizes[0]:,} and "
        f"{plural(sizes[1], 'row')}, and smaller changes may go unseen{counted}. To compare all rows, {advice}",
    )


def _types_that_differ(sides: tuple[Side, Side]) -> list[str]:
    """Return the columns that both have, and of which they have different types."""
    left, right = (each.state.schema for each in sides)
    types = ((name, left.field(name).type, right.field(name).type) for name in left.names if name in right.names)
    return [f"{name} ({mine} and {other})" for name, mine, other in types if mine != other]
