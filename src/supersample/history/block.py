"""A block of a history: the rows of one span of time, by their sums, their profile, and a sample of at most 500 of them.

Rows come in the order of their arrival, and the block does not depend on how they were batched. Nothing is selected here:
blocks of a range are joined, and a selection is made when a result is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from supersample import profile as profiles
from supersample._checks import FURTHEST, require
from supersample._hashing import hash_words
from supersample._threads import one_blas_thread
from supersample._typing import Floats, Indices
from supersample.embedding import moments
from supersample.embedding.moments import Moments
from supersample.history.waves import Waves
from supersample.profile import Profile
from supersample.selection.stream import background, dependence, rare
from supersample.selection.stream.background import Background
from supersample.selection.stream.criticisms import Criticisms
from supersample.selection.stream.dependence import Dependence
from supersample.selection.stream.reservoir import Reservoir
from supersample.selection.stream.rows import Rows
from supersample.selection.stream.second_look import exchanged
from supersample.selection.stream.state import Stream
from supersample.summary.row_store import RowStore
from supersample.summary.state import Maps, Request, Running, column_plans, rows_of, unredacted

__all__ = ["ROWS", "Block", "add", "empty", "joined", "running"]

#: Rows of a block that are kept.
ROWS = 500


@dataclass(frozen=True)
class Block:
    """The rows of a span of time.

    start, end: the span. n_late: rows that came after it was closed. in_time: the held-out features of the others, each of
    weight one; that is what alarms look at. redacted: the profile of columns whose values are not kept, with rows that wait.
    """

    start: float
    end: float
    n_seen: int
    n_used: int
    n_late: int
    moments: Moments
    held_out: Moments
    in_time: Moments
    sample: Background
    dependence: Dependence
    profile: Profile
    redacted: Profile
    kept: RowStore

    def tick(self) -> tuple[float, Floats]:
        """Return how many rows came in time, and the sum of their features."""
        sums = self.in_time.sums()
        return float(self.in_time.n_seen), np.ldexp(sums[:-3], self.in_time.exponent)

    def check(self, maps: Maps, waves: Waves) -> None:
        """Refuse a block that no rows lead to."""
        encoding, plan = maps
        largest = FURTHEST * float(np.sqrt(plan.kernel.largest))
        n_features, n_held_out = plan.feature_map.n_features, plan.held_out.n_features
        require(self.n_used <= self.n_seen and self.n_late <= self.n_seen, "a block has impossible counts")
        self.moments.check(n_features, self.n_used, largest)
        self.held_out.check(n_held_out, self.n_used, largest)
        require(self.in_time.n_seen <= self.n_used, "a block has impossible counts")
        self.in_time.check(waves.n_features, self.in_time.n_seen, largest)
        self.sample.rows.check(encoding.width)
        require(not self.sample.waiting and (len(self.sample.rows) > 0) == (self.n_used > 0), "a block has no sample")
        self.sample.check()
        self.dependence.check(n_features, encoding.width, self.n_used, largest)
        self.profile.check()
        self.redacted.check()
        require(self.kept.positions.size == 0 or self.n_seen > int(self.kept.positions[-1]), "a block has rows of another")


def empty(request: Request, schema: pa.Schema, maps: Maps, waves: Waves, start: float, end: float) -> Block:
    """Return the block of a span without rows."""
    encoding, plan = maps
    return Block(
        start=start,
        end=end,
        n_seen=0,
        n_used=0,
        n_late=0,
        moments=moments.init(plan.feature_map.n_features),
        held_out=moments.init(plan.held_out.n_features),
        in_time=moments.init(waves.n_features),
        sample=background.init(encoding.width),
        dependence=dependence.init(plan.feature_map.n_features, encoding.group_widths()),
        profile=profiles.init(column_plans(encoding, schema)),
        redacted=unredacted(request, schema),
        kept=RowStore.none(schema),
    )


@one_blas_thread()
def add(block: Block, maps: Maps, waves: Waves, batch: pa.RecordBatch, salt: int, *, late: bool = False) -> Block:
    """Return the block after more rows in the order of their arrival, without values of redacted columns.

    late: whether they came after the block was closed. salt: of the hashes that draw the sample; every block of a history has
    its own.
    """
    rows = rows_of(maps.encoding, batch, block.n_seen).shifted(block.n_seen)
    some = np.flatnonzero(rows.mantissas > 0)
    used = rows if some.size == len(rows) else rows.take(some)
    features, held = (each.transform(used.points) for each in (maps.plan.feature_map, maps.plan.held_out))
    nothing = np.zeros(len(used))
    sample = background.settled(background.update(block.sample, used, ROWS, _draws(used.positions, salt)), ROWS)
    return replace(
        block,
        n_seen=block.n_seen + batch.num_rows,
        n_used=block.n_used + len(used),
        n_late=block.n_late + batch.num_rows * late,
        moments=moments.update(block.moments, features, used.weights),
        held_out=moments.update(block.held_out, held, used.weights, norms=nothing),
        in_time=block.in_time if late else moments.update(block.in_time, waves.transform(used.points), norms=nothing),
        sample=sample,
        dependence=dependence.update(block.dependence, features, used),
        profile=profiles.update(block.profile, batch),
        kept=block.kept.after(block.n_seen, batch, np.sort(sample.rows.positions)),
    )


def joined(blocks: Sequence[Block], most: int = ROWS) -> Block:
    """Return one block for the spans of several, in the order of time, with a sample of at most `most` rows."""
    if len(blocks) == 1:
        return blocks[0]
    half = len(blocks) // 2
    return _joined(joined(blocks[:half], most), joined(blocks[half:], most), most)


def _joined(left: Block, right: Block, most: int) -> Block:
    shifted = right.sample.shifted(left.n_seen)
    sample = background.merge(left.sample, shifted, most)
    return Block(
        start=min(left.start, right.start),
        end=max(left.end, right.end),
        n_seen=left.n_seen + right.n_seen,
        n_used=left.n_used + right.n_used,
        n_late=left.n_late + right.n_late,
        moments=moments.merge(left.moments, right.moments),
        held_out=moments.merge(left.held_out, right.held_out),
        in_time=moments.merge(left.in_time, right.in_time),
        sample=sample,
        dependence=dependence.merge(left.dependence, right.dependence),
        profile=profiles.merge(left.profile, right.profile),
        redacted=profiles.merge(left.redacted, right.redacted),
        kept=left.kept.merged(right.kept, left.n_seen, np.sort(sample.rows.positions)),
    )


@one_blas_thread()
def running(block: Block, request: Request, schema: pa.Schema, maps: Maps) -> Running:
    """Return the state of a summary of a block's rows: its points are chosen from the sample."""
    encoding, plan = maps
    settings, rows = request.settings, block.sample.rows
    n_features = plan.feature_map.n_features
    state = Stream(
        settings=settings,
        width=encoding.width,
        plan=plan,
        n_seen=block.n_seen,
        n_used=block.n_used,
        chunks=0,
        pending=Rows.none(encoding.width),
        moments=block.moments,
        held_out=block.held_out,
        reservoir=Reservoir.empty(settings.n_prototypes, encoding.width, n_features),
        criticisms=Criticisms.empty(settings.n_held_criticisms, encoding.width, n_features),
        background=block.sample,
        rare=rare.init(settings.n_rare, encoding.width),
        dependence=block.dependence,
    )
    if block.n_used:
        chosen = np.arange(len(rows)) < settings.n_prototypes
        first, others = rows.take(np.flatnonzero(chosen)), rows.take(np.flatnonzero(~chosen))
        in_order = rows.take(np.argsort(rows.positions))
        low = rare.of_rows(settings.n_rare, in_order, block.moments.mean(), block.n_used, plan.feature_map)
        reservoir = state.reservoir
        if len(others):
            reservoir = replace(exchanged(state, first, others), size=settings.n_prototypes)
        else:
            reservoir.fill(first, plan.feature_map.transform(first.points).astype(np.float32))
        state = replace(state, reservoir=reservoir, rare=low)
    return Running(request, schema, block.kept, encoding, state, (), plan, block.profile, block.redacted)


def _draws(positions: Indices, salt: int) -> Floats:
    """Return an exponential draw for each row, by a hash of its position."""
    words = hash_words(positions.view(np.uint64) ^ np.uint64(salt))
    return -np.log(((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)
