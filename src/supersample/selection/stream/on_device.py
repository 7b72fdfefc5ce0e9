"""The stream on a device: its state, and pure functions that take rows in there.

A block of rows is scored by one product with the features of the held points. Only the few rows that gain take part in swaps,
and these need inner products alone (`swaps_on_device`). Bandwidth and maps come from the first rows, which the host takes in,
and a result is read from a `Stream` of the host, so that the second look and the judgement are those of every stream.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supersample._typing import Floats
from supersample.device.arrays import Array, Home
from supersample.device.blocks import cut_for, item_bytes, require_room, total_bytes
from supersample.device.checks import refuse
from supersample.embedding.moments import Moments
from supersample.embedding.on_device import relative_weights, sums_of
from supersample.features import FeatureMap
from supersample.features.on_device import DeviceMap
from supersample.selection.stream import rare
from supersample.selection.stream.background_on_device import Times, start_background
from supersample.selection.stream.plan import CHUNK, Plan, Settings
from supersample.selection.stream.rows import Rows
from supersample.selection.stream.rows_on_device import RowsOnDevice
from supersample.selection.stream.state import Stream
from supersample.selection.stream.swaps_on_device import Held, offer

__all__ = ["StreamOnDevice", "as_stream", "of_stream", "refuse_options", "update"]

#: The share of all rows before it that a block has while these are few: mu moves from block to block only.
_SHARE, _LEAST = 8, 8
#: Numbers of the features of a block and of their products with the held points, and the least and most rows of a block.
_ELEMENTS, _FEWEST, _MOST = 1 << 28, 8 * CHUNK, 32 * CHUNK
#: A block takes at most this share of the device's memory, of all of it: what is free depends on how the rows come.
_BLOCK_SHARE = 8
#: Arrays of the points of a block, in the wide type, that are held while it is worked on.
_HELD_POINTS = 3


@dataclass(frozen=True)
class _Sums:
    """Sums of w phi and w^2 |phi|^2 on the device, and of w and w^2 here, relative to 2^exponent."""

    sums: Array
    weight: float
    squares: float
    exponent: int

    @classmethod
    def of(cls, moments: Moments, home: Home) -> "_Sums":
        """Bring sums of the host there."""
        values = moments.sums()
        sums = home.array(np.append(values[:-3], values[-1]))
        return cls(sums, float(values[-3]), float(values[-2]), moments.exponent)

    def with_rows(self, added: Array, relative: Floats | None, n_rows: int, exponent: int) -> "_Sums":
        """Return the sums with those of a block, whose weights are relative to another power of two; None: all are one."""
        top = max(self.exponent, exponent) if self.weight > 0 else exponent
        mine, theirs = (float(np.ldexp(1.0, max(each - top, -2000))) for each in (self.exponent, exponent))
        if relative is None:  # one is a half of 2^1
            theirs, weight, squares = 0.5 * theirs, float(n_rows), float(n_rows)
        else:
            weight, squares = float(relative.sum()), float(relative @ relative)
        held = self._scaled(self.sums, mine) + self._scaled(added, theirs)
        return _Sums(held, mine * self.weight + theirs * weight, mine**2 * self.squares + theirs**2 * squares, top)

    @staticmethod
    def _scaled(sums: Array, factor: float) -> Array:
        if factor == 1.0:
            return sums
        scaled = factor * sums
        scaled[-1] = factor * scaled[-1]
        return scaled

    def mean(self) -> Array:
        """Return mu."""
        return self.sums[:-1] / self.weight

    @property
    def effective_rows(self) -> float:
        """(sum w)^2 / sum w^2."""
        return self.weight**2 / self.squares if self.squares > 0 else 0.0

    def moments(self, home: Home, n_rows: int) -> Moments:
        """Return the same on the host."""
        values = home.floats(self.sums)
        totals = np.concatenate([values[:-1], [self.weight, self.squares, values[-1]]])
        nothing = np.zeros_like(totals)
        return Moments(totals, nothing, nothing.copy(), np.array([n_rows, 0, self.exponent, self.weight > 0], dtype=np.int64))


@dataclass(frozen=True)
class StreamOnDevice:
    """The state of a stream on a device.

    base: the stream of the host that it went on from; its plan, settings, background sample and rare rows are those of this
    one. Its moments and reservoir are not: they are here. waiting: rows that do not fill a block yet.
    """

    home: Home
    base: Stream
    n_seen: int
    n_used: int
    sums: _Sums
    held_out: _Sums
    held: Held
    waiting: RowsOnDevice
    maps: tuple[DeviceMap, DeviceMap]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the stream of the host, in which no row waits."""
        return of_stream, (as_stream(self), self.home, self.held.points.dtype)

    @property
    def settings(self) -> Settings:
        """The user's options."""
        return self.base.settings

    @property
    def plan(self) -> Plan:
        """The maps."""
        return self.base.fixed_plan

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.base.width

    @property
    def aim(self) -> None:
        """Another target than the stream itself: there is none."""
        return None


def of_stream(state: Stream, home: Home, dtype: Any) -> StreamOnDevice:
    """Bring a stream whose plan is fixed to a device. dtype: that of its rows."""
    refuse_options(state.settings, home)
    plan = state.fixed_plan
    maps = (plan.feature_map.on_device(home, state.width), plan.held_out.on_device(home, state.width))
    pending = state.pending
    waiting = RowsOnDevice(home.array(pending.points, dtype), pending.positions, pending.weights)
    if bool((pending.mantissas == 0.5).all()) and bool((pending.exponents == 1).all()):
        waiting = replace(waiting, weights=None)
    base = replace(state, pending=Rows.none(state.width), dependence=None)
    held = Held.of(state.reservoir, home, dtype)
    sums, held_out = (_Sums.of(each, home) for each in (state.moments, state.held_out))
    return StreamOnDevice(home, base, state.n_seen, state.n_used, sums, held_out, held, waiting, maps)


def refuse_options(settings: Settings, home: Home) -> None:
    """Refuse what has no form there."""
    for name, given in (("include", settings.include), ("min_distance", settings.min_distance)):
        if given is not None:
            refuse(home, f"{name} of SuperSampler", "leave it out, or pass NumPy arrays")
    if settings.search == "tree":
        refuse(home, "search='tree'", "leave search out: every row is compared with all points at once")
    if settings.regularizer is not None:
        refuse(home, f"regularizer={settings.regularizer!r}", "leave it out, or pass NumPy arrays")


def update(state: StreamOnDevice, rows: RowsOnDevice, n_rows: int, reach: float) -> StreamOnDevice:
    """Return the stream after more rows of positive weight; `n_rows` counts those of weight 0, too.

    reach: the largest coordinate of all. The given state does not change.
    """
    rows = replace(rows, positions=rows.positions + state.n_seen)
    state = replace(state, n_seen=state.n_seen + n_rows)
    far = state.maps[0].is_far(reach)
    copied = 2 * state.width * item_bytes(state.home, rows.points.dtype)
    # Joining copies rows: never all of a large array.
    for part in cut_for(state.home, rows.positions.size, copied, state.width, "the copy of one row"):
        joined = state.waiting.joined(rows.part(part.start, part.stop), state.home)
        state = _take_in(replace(state, waiting=joined), far=far, whole_only=True)
    return state


def as_stream(state: StreamOnDevice) -> Stream:
    """Return the stream of the host that has taken in the same rows, those that wait included."""
    with state.home.working():
        done = _take_in(state, far=_is_far(state), whole_only=False)
        reservoir = done.held.on_host(done.home)
        moments, held_out = (each.moments(done.home, done.n_used) for each in (done.sums, done.held_out))
    return replace(
        done.base, n_seen=done.n_seen, n_used=done.n_used, moments=moments, held_out=held_out, reservoir=reservoir,
        chunks=done.base.chunks + -(-(done.n_used - done.base.n_used) // CHUNK),
    )  # fmt: skip


def _is_far(state: StreamOnDevice) -> bool:
    points = state.waiting.points
    return int(points.shape[0]) > 0 and state.maps[0].is_far(float(state.home.xp.max(state.home.xp.abs(points))))


def _size(state: StreamOnDevice, most: int, n_used: int, sums: _Sums) -> int:
    """Return the rows of the next block: it depends on the rows before it, not on how they came."""
    recent = n_used if state.base.decay is None else int(min(n_used, sums.effective_rows))
    return min(most, max(_LEAST, recent // _SHARE))


def _most_rows(state: StreamOnDevice) -> int:
    """Return the most rows of a block, by the size of the device."""
    fitting = _ELEMENTS // (state.plan.feature_map.n_features + state.settings.n_prototypes)
    by_memory = max(_LEAST, total_bytes(state.home) // (_BLOCK_SHARE * _row_bytes(state)))
    return min(max(_FEWEST, min(fitting, _MOST)), by_memory)


def _row_bytes(state: StreamOnDevice) -> int:
    """Return what a row of a block takes: its coordinates, both kinds of features, and its products with the held points.

    The features of the block before, by which its rows still take their places, are held meanwhile.
    """
    home, chosen_by = state.home, state.maps[0]
    points = _HELD_POINTS * state.width * item_bytes(home, home.wide)
    products = 2 * state.settings.n_prototypes * item_bytes(home, home.single)
    before = chosen_by.n_features * (item_bytes(home, chosen_by.dtype) + item_bytes(home, home.single))
    return sum(each.row_bytes for each in state.maps) + points + products + before


def _require_room(state: StreamOnDevice, most: int, n_rows: int) -> None:
    """Refuse rows whose blocks do not fit beside what is held now, before the first of them is taken in."""
    size = min(n_rows, _size(state, most, state.n_used + n_rows, state.sums))
    remedy = "free some, or ask for fewer features or prototypes"
    require_room(state.home, size * _row_bytes(state), f"a block of {size:,} rows of SuperSampler", remedy)


@dataclass(frozen=True)
class _Prepared:
    """A block, its features, and the sums with it: all that does not ask which points are held."""

    rows: RowsOnDevice
    features: Array
    norms: Array
    sums: _Sums
    held_out: _Sums
    mean: Array


def _prepared(state: StreamOnDevice, rows: RowsOnDevice, sums: _Sums, held_out: _Sums, *, far: bool) -> _Prepared:
    """Start to compute the features of a block. sums, held_out: those of all rows before it."""
    home, n_rows = state.home, rows.positions.size
    features = state.maps[0].features(rows.points, far=far)
    exponent, relative = relative_weights(rows.weights)
    there = None if relative is None else home.send(relative)
    norms = _norms(state.plan.feature_map, features, home)
    sums = sums.with_rows(sums_of(state.maps[0], features, there, norms), relative, n_rows, exponent)
    judged = state.maps[1].features(rows.points, far=far)
    nothing = home.zeros(n_rows)  # the lengths of held-out features are not asked for
    held_out = held_out.with_rows(sums_of(state.maps[1], judged, there, nothing), relative, n_rows, exponent)
    return _Prepared(rows, features, norms, sums, held_out, sums.mean())


def _take_in(state: StreamOnDevice, *, far: bool, whole_only: bool) -> StreamOnDevice:
    """Take in the rows that wait, block by block.

    What the host has to do for a block (swaps, background sample) is done while the device computes the features of the next.
    """
    home, waiting, count = state.home, state.waiting, state.waiting.positions.size
    times, most = _times(state), _most_rows(state)
    if count >= (_size(state, most, state.n_used, state.sums) if whole_only else 1):
        _require_room(state, most, count)
    base, n_used, start = state.base, state.n_used, 0

    def block_after(start: int, sums: _Sums, held_out: _Sums) -> _Prepared | None:
        size = _size(state, most, state.n_used + start, sums)
        if start == count or (count - start < size and whole_only):
            return None
        return _prepared(state, waiting.part(start, min(count, start + size)), sums, held_out, far=far)

    sums, held_out = state.sums, state.held_out
    block = block_after(0, sums, held_out)
    held = state.held if block is None else state.held.copy(home)
    while block is not None:
        sums, held_out = block.sums, block.held_out
        n_rows = block.rows.positions.size
        start, n_used = start + n_rows, n_used + n_rows
        decided = offer(held, block.rows, block.features, block.norms, block.mean, home)
        drawn = times.following(n_rows)
        sampled = start_background(base.background, block.rows, drawn, base.settings.n_background, home)
        scored = _start_rare(base, block, n_used, home)
        following = block_after(start, sums, held_out)
        base = replace(base, background=sampled(), rare=scored())
        held = decided()
        block = following
    rest = waiting.part(start, count)
    if start:  # a view would keep all rows
        rest = replace(rest, points=home.xp.asarray(rest.points, copy=True), positions=rest.positions.copy())
    return replace(state, base=base, n_used=n_used, sums=sums, held_out=held_out, held=held, waiting=rest)


def _times(state: StreamOnDevice) -> Times:
    """Return the draws of the background sample for the rows that wait."""
    settings, past = state.settings, state.n_used - state.base.n_used
    seed = settings.seed.child("stream").child(settings.stream).child("background")
    return Times(seed, state.base.chunks + past // CHUNK, past % CHUNK, state.waiting.positions.size)


def _norms(feature_map: FeatureMap, features: Array, home: Home) -> Array:
    """Return |phi|^2 of rows."""
    constant = feature_map.squared_norm
    if constant is None:
        return home.xp.sum(features * features, axis=1)
    return constant * home.xp.ones(int(features.shape[0]), dtype=features.dtype, device=home.device)


def _start_rare(base: Stream, block: _Prepared, n_used: int, home: Home) -> Callable[[], rare.Rare]:
    """Start to compute the densities of a block; the function that is returned offers it to the rows of low density."""
    if not base.settings.n_rare:
        return lambda: base.rare
    mean = home.xp.astype(block.mean, block.features.dtype)
    densities, mean_there = home.fetch(block.features @ mean), home.fetch(block.mean)

    def offered() -> rare.Rare:
        density, host_mean = (np.array(each(), dtype=np.float64) for each in (densities, mean_there))
        phi = base.fixed_plan.feature_map
        low = rare.offer(base.rare, density, lambda some: block.rows.of_host(some, home), host_mean, n_used, phi)
        return rare.settled(low)

    return offered
