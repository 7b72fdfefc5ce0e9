"""The clock of a stream, which one wrong time cannot move far, and row weights that halve with each half-life."""

import math

import numba
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: So many rows in a row must agree before the clock jumps.
AGREEING = 8
#: Half-lives behind the clock at which a row has no weight any more.
FAR_BEHIND = 64.0
#: The clock may be put back as long as it has seen no more rows than these.
EARLY = 100
#: So many rows in a row that go on from before a far jump put the clock back; one more where it jumped to, and it stays.
RETURNING = 64
#: A row so many usual steps of the clock ahead of it is far ahead; the usual step is a mean over about MEMORY rows.
STEPS, MEMORY = 12.0, 64.0


@numba.njit(cache=True, nogil=True, fastmath=False)
def move_clock(time: float, reach: float, places: Floats, counts: Integers) -> int:
    """Move the clock by a row's time; return 1 for a row that is ahead of it, -1 for one that put it back, else 0.

    places: the clock, and the latest two times of the rows in a row that disagree with it. counts: a number that the caller
    keeps there, rows in a row that disagree, rows with a time, rows that were ahead of the clock.
    A row more than `reach` ahead of the clock does not move it, until AGREEING rows in a row are ahead: then the clock jumps
    to the latest but one of them. Among the first EARLY rows it is put back in the same way, if AGREEING rows in a row lie
    more than FAR_BEHIND times `reach` behind.
    """
    if counts[2] == 0:
        places[0] = time
        counts[2] = 1
        return 0
    counts[2] += 1
    ahead = time - places[0]
    side = 1 if ahead > reach else 0
    if ahead < -FAR_BEHIND * reach and counts[2] <= EARLY:
        side = -1
    if side == 0:
        counts[1] = 0
        places[0] = max(places[0], time)
        return 0
    if counts[1] * side <= 0:
        counts[1] = 0
        places[1] = places[2] = -np.inf
    counts[1] += side
    places[2] = max(places[2], min(places[1], time))
    places[1] = max(places[1], time)
    agreed = counts[1] * side == AGREEING
    if agreed:
        places[0] = places[2]
        counts[1] = 0
    if side > 0:
        counts[3] += 1
        return 1
    return -1 if agreed else 0


@numba.njit(cache=True, nogil=True, fastmath=False)
def decayed(times: Floats, half_life: float, places: Floats, counts: Integers, mantissas: Floats, exponents: Integers) -> None:
    """Multiply weights mantissa * 2^exponent by 2^(time / half_life), in row order; the clock moves on with the rows.

    places, counts: as of `move_clock`; counts[0] is the exponent at time 0, counts[4] the rows without a time. A row ahead of
    the clock counts as one half-life ahead, and one without a time as of now. If the clock is put back, weights go on as if it
    had been right from the start.
    """
    for i in range(times.size):
        time = times[i]
        if np.isnan(time):
            counts[4] += 1
            time = places[0]
        else:
            if counts[2] == 0:
                counts[0] = -np.int64(math.floor(time / half_life))
            before = places[0]
            side = move_clock(time, half_life, places, counts)
            if side > 0:
                time = min(time, places[0] + half_life)
            elif side < 0:
                counts[0] += np.int64(math.floor(before / half_life) - math.floor(places[0] / half_life))
        if counts[2] == 0:  # no row had a time yet
            continue
        whole = math.floor(time / half_life)
        share = (time - whole * half_life) / half_life
        mantissa, shift = math.frexp(mantissas[i] * 2.0**share)
        if mantissa > 0.0:
            mantissas[i] = mantissa
            exponents[i] += np.int64(whole) + counts[0] + shift


@numba.njit(cache=True, nogil=True, fastmath=False)
def settle(time: float, before: float, far: float, places: Floats, counts: Integers) -> None:
    """Put the clock back if rows go on from before a far jump of it as if it had never been.

    A jump of more than FAR_BEHIND times `far` is in doubt until more than RETURNING rows have come near the clock or after it.
    Until then, RETURNING rows in a row that go on where it was before, and lie as far behind it now, put it back to the latest
    but one of them. Old rows that are read later do neither: the clock has not jumped, or they lie before the place it left.

    before: the clock before this row. places[5]: the clock before the jump in doubt; places[6], places[7]: the latest two times
    of rows in a row that go on from there. counts[5]: rows near the clock since, one more, 0 where nothing is in doubt;
    counts[6]: rows in a row that go on from before.
    """
    if counts[5] == 0:
        if places[0] - before > FAR_BEHIND * far:
            places[5] = before
            counts[5] = 1
            counts[6] = 0
        return
    if time >= places[0] - far:
        counts[6] = 0
        counts[5] = counts[5] + 1 if counts[5] <= RETURNING else 0
        return
    if time < places[5] - far or time >= places[0] - FAR_BEHIND * far:
        return
    if counts[6] == 0:
        places[6] = places[7] = places[5] - far
    counts[6] += 1
    places[7] = max(places[7], min(places[6], time))
    places[6] = max(places[6], time)
    if counts[6] == RETURNING:
        places[0] = places[7]
        counts[1] = counts[5] = counts[6] = 0


@numba.njit(cache=True, nogil=True, fastmath=False)
def place_rows(
    times: Floats,
    every: float,
    lateness: float,
    reach: float,
    places: Floats,
    counts: Integers,
    blocks: Integers,
    closed: Integers,
) -> None:
    """Say in which block each row belongs, and before which block all are closed once the row has come.

    places, counts: as of `move_clock`; counts[0] is the block before which all are closed, counts[4] the rows without a time,
    which belong to the block of the clock. A block is closed once the clock is `lateness` past its end. Where rows are far
    apart, a row is far ahead at STEPS usual steps of the clock only: places[4], of which places[3], the first of rows in a row
    that disagree, gives a first value when these agree. places[5:], counts[5:7]: as of `settle`; while a jump
    is in doubt, no block is closed. counts[7]: rows in a row, the
    latest ones, that came after their block was closed.
    """
    for i in range(times.size):
        if np.isnan(times[i]):
            counts[4] += 1
            blocks[i] = np.int64(math.floor(places[0] / every))
        else:
            blocks[i] = np.int64(math.floor(times[i] / every))
            first = counts[2] == 0
            before = places[0]
            far = max(reach, places[4])
            side = move_clock(times[i], far, places, counts)
            if side < 0 or first:
                counts[0] = np.int64(math.floor((places[0] - lateness) / every))
            elif side == 0:
                places[4] += (STEPS * (places[0] - before) - places[4]) / MEMORY
            elif counts[1] == 1:
                places[3] = times[i]
            elif counts[1] == 0:  # the first and the latest but one of those that agreed are AGREEING - 2 steps apart
                places[4] = max(places[4], STEPS / (AGREEING - 2) * (places[0] - places[3]))
            settle(times[i], before, far, places, counts)
            counts[7] = counts[7] + 1 if blocks[i] < counts[0] else 0
        if counts[5] == 0:
            counts[0] = max(counts[0], np.int64(math.floor((places[0] - lateness) / every)))
        closed[i] = counts[0]
