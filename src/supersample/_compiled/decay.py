"""Weights of rows that lose half of their weight with each half-life, by a clock that no single row can put wrong."""

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


@numba.njit(cache=True, nogil=True, fastmath=False)
def decayed(times: Floats, half_life: float, places: Floats, counts: Integers, mantissas: Floats, exponents: Integers) -> None:
    """Multiply weights mantissa * 2^exponent by 2^(time / half_life), in row order; the clock moves on with the rows.

    places: the clock, and the latest two times of the rows in a row that disagree with it. counts: offset of the exponents,
    rows in a row that disagree, rows with a time, rows that were ahead of the clock, rows without a time.
    A row more than one half-life ahead of the clock counts as one half-life ahead, and does not move it further, until
    AGREEING rows in a row are ahead: then the clock jumps to the latest but one of them. Among the first EARLY rows it is put
    back in the same way, if AGREEING rows in a row lie FAR_BEHIND it. A row without a time counts as of now.
    """
    for i in range(times.size):
        time = times[i]
        if np.isnan(time):
            counts[4] += 1
            time = places[0]
        elif counts[2] == 0:
            places[0] = time
            counts[0] = -np.int64(math.floor(time / half_life))
            counts[2] = 1
        else:
            counts[2] += 1
            ahead = time - places[0]
            side = 1 if ahead > half_life else 0
            if ahead < -FAR_BEHIND * half_life and counts[2] <= EARLY:
                side = -1
            if side == 0:
                counts[1] = 0
                places[0] = max(places[0], time)
            else:
                if counts[1] * side <= 0:
                    counts[1] = 0
                    places[1] = places[2] = -np.inf
                counts[1] += side
                places[2] = max(places[2], min(places[1], time))
                places[1] = max(places[1], time)
                if counts[1] * side == AGREEING:
                    if side < 0:  # as if the clock had been right from the start
                        counts[0] += np.int64(math.floor(places[0] / half_life) - math.floor(places[2] / half_life))
                    places[0] = places[2]
                    counts[1] = 0
                if side > 0:
                    counts[3] += 1
                    time = min(time, places[0] + half_life)
        if counts[2] == 0:  # no row had a time yet
            continue
        whole = math.floor(time / half_life)
        share = (time - whole * half_life) / half_life
        mantissa, shift = math.frexp(mantissas[i] * 2.0**share)
        if mantissa > 0.0:
            mantissas[i] = mantissa
            exponents[i] += np.int64(whole) + counts[0] + shift
