"""The scan for a change: every boundary between segments of a stream, after each tick; segments are joined as they age."""

import numba
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@numba.njit(cache=True, nogil=True, fastmath=False)
def join_old(sums: Floats, sizes: Floats, ticks: Integers, count: int, most: int) -> int:
    """Join the two oldest segments of a length while there are more than `most` of it; return how many segments are left.

    Segments stand in the order of time, the oldest first. sums: segments x phases x D; sizes: segments x phases.
    """
    length = 1
    while True:
        first = -1
        found = 0
        for place in range(count):
            if ticks[place] == length:
                if found == 0:
                    first = place
                found += 1
        if found <= most or first + 1 >= count or ticks[first + 1] != length:
            return count
        sums[first] += sums[first + 1]
        sizes[first] += sizes[first + 1]
        ticks[first] += ticks[first + 1]
        for place in range(first + 1, count - 1):
            sums[place] = sums[place + 1]
            sizes[place] = sizes[place + 1]
            ticks[place] = ticks[place + 1]
        count -= 1
        length *= 2


@numba.njit(cache=True, nogil=True, fastmath=False)
def evidence_at(
    newer: Floats, newer_sizes: Floats, total: Floats, total_sizes: Floats, limits: Floats, least: float, gap: Floats
) -> float:
    """Return the largest T^2 / limit of a group of features for one boundary, 0 where a side is empty.

    T^2 = H |gap|^2, gap the mean over phases of the difference of the two sides' means, weighted by
    h = n m / (n + m), and H the sum of h. Features stand in groups of equal size, one for each row of `limits`, which has one
    column for each power of two of H, from 1 on. A group whose gap is below `least` does not count. gap: H times the gap.
    """
    weight = 0.0
    gap[:] = 0.0
    for phase in range(total_sizes.size):
        n = newer_sizes[phase]
        m = total_sizes[phase] - n
        if n > 0.0 and m > 0.0:
            h = n * m / (n + m)
            weight += h
            for k in range(gap.size):
                gap[k] += h * (newer[phase, k] / n - (total[phase, k] - newer[phase, k]) / m)
    if weight <= 0.0:
        return 0.0
    level = 0
    power = 2.0
    while power <= weight and level + 1 < limits.shape[1]:
        level += 1
        power *= 2.0
    size = gap.size // limits.shape[0]
    best = 0.0
    for group in range(limits.shape[0]):
        square = 0.0
        for k in range(group * size, (group + 1) * size):
            square += gap[k] * gap[k]
        square /= weight * weight
        if square >= least * least:
            best = max(best, weight * square / limits[group, level])
    return best


@numba.njit(cache=True, nogil=True, fastmath=False)
def add_segment(sums: Floats, sizes: Floats, total: Floats, total_sizes: Floats) -> None:
    """Add a segment to a total, phase by phase; most segments are short and have few of the phases."""
    for phase in range(sizes.size):
        if sizes[phase] > 0.0:
            for k in range(sums.shape[1]):
                total[phase, k] += sums[phase, k]
            total_sizes[phase] += sizes[phase]


@numba.njit(cache=True, nogil=True, fastmath=False)
def add_residual(residual: Floats, squares: Floats, counts: Integers, held: Floats, busy: Integers) -> None:
    """Add a tick's residual to sums over 1, 2, 4, ... ticks: squares of each feature, how many, and blocks that wait."""
    for level in range(counts.size):
        for k in range(residual.size):
            squares[level, k] += residual[k] * residual[k]
        counts[level] += 1
        if busy[level] == 0:
            held[level] = residual
            busy[level] = 1
            return
        residual += held[level]
        busy[level] = 0


@numba.njit(cache=True, nogil=True, fastmath=False)
def scan(
    tick_sums: Floats,
    tick_sizes: Floats,
    phases: Integers,
    sums: Floats,
    sizes: Floats,
    ticks: Integers,
    count: int,
    most: int,
    limits: Floats,
    least: float,
    squares: Floats,
    counts: Integers,
    held: Floats,
    busy: Integers,
    evidence: Floats,
    best: Integers,
) -> tuple[int, int]:
    """Add ticks to the segments and look at every boundary after each, until one has more evidence than 1.

    tick_sums, tick_sizes, phases: one row a tick. evidence, best: of each tick, the largest evidence of a boundary, and the
    segment after that boundary. Empty `limits`: ticks are added and nothing is looked at. squares, counts, held, busy: sums of
    recursive residuals, as of `add_residual`: a tick's mean less that of the rows of its phase before it, scaled so that it
    has the covariance of one row. Returns how many ticks were taken, the one with enough evidence included, and how many
    segments there are.
    """
    n_phases, dimensions = sums.shape[1], sums.shape[2]
    total = np.empty((n_phases, dimensions))
    total_sizes = np.empty(n_phases)
    newer = np.empty((n_phases, dimensions))
    newer_sizes = np.empty(n_phases)
    gap = np.empty(dimensions)
    for tick in range(tick_sizes.size):
        phase = phases[tick]
        n = tick_sizes[tick]
        total[:] = 0.0
        total_sizes[:] = 0.0
        for place in range(count):
            add_segment(sums[place], sizes[place], total, total_sizes)
        if n > 0.0 and total_sizes[phase] > 0.0:
            m = total_sizes[phase]
            scale = np.sqrt(n * m / (n + m))
            for k in range(dimensions):
                gap[k] = scale * (tick_sums[tick, k] / n - total[phase, k] / m)
            add_residual(gap, squares, counts, held, busy)
        sums[count] = 0.0
        sizes[count] = 0.0
        sums[count, phase] = tick_sums[tick]
        sizes[count, phase] = n
        ticks[count] = 1
        total[phase] += tick_sums[tick]
        total_sizes[phase] += n
        count = join_old(sums, sizes, ticks, count + 1, most)
        evidence[tick] = 0.0
        best[tick] = -1
        if limits.size == 0:
            continue
        newer[:] = 0.0
        newer_sizes[:] = 0.0
        for place in range(count - 1, 0, -1):
            add_segment(sums[place], sizes[place], newer, newer_sizes)
            found = evidence_at(newer, newer_sizes, total, total_sizes, limits, least, gap)
            if found > evidence[tick]:
                evidence[tick] = found
                best[tick] = place
        if evidence[tick] > 1.0:
            return tick + 1, count
    return tick_sizes.size, count
