"""Sums of float64 without any rounding, in digits of 32 bits (as the small accumulator of Neal 2015)."""

import numba
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: The last digit counts 2^-1074 in a sum of values, the smallest float64, and its square in a sum of squares.
LAST_EXPONENT = -1074
#: Digits of a sum of values, and of a sum of squares.
VALUE_DIGITS = 66
SQUARE_DIGITS = 132

_MASK = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ONE = np.uint64(1)
_FRACTION = np.uint64((1 << 52) - 1)
_LEADING = np.uint64(1 << 52)
_EXPONENT_SHIFT = np.uint64(52)
_EXPONENTS = np.uint64(0x7FF)
_SIGN_SHIFT = np.uint64(63)


@numba.njit(cache=True, nogil=True, fastmath=False)
def add_exactly(values: Floats, repeats: Integers, totals: Integers, squares: Integers) -> None:
    """Add finite values to `totals` and their squares to `squares`: sums of digit[j] * 2^(32 j), in units of the last digit.

    repeats: how often each value is added; empty means once. Each time changes a digit by less than 2^33, so that no digit
    overflows in fewer than 2^30 additions.
    """
    repeated = repeats.size > 0
    for i in range(values.size):
        times = repeats[i] if repeated else np.int64(1)
        bits = np.float64(values[i]).view(np.uint64)
        mantissa = bits & _FRACTION
        place = np.int64((bits >> _EXPONENT_SHIFT) & _EXPONENTS)
        if place > 0:
            mantissa |= _LEADING
            place -= np.int64(1)
        sign = times * (np.int64(1) - np.int64(2) * np.int64(bits >> _SIGN_SHIFT))

        at = place >> 5
        shift = np.uint64(place & 31)
        rest = mantissa >> (_HALF - shift)
        totals[at] += sign * np.int64((mantissa << shift) & _MASK)
        totals[at + 1] += sign * np.int64(rest & _MASK)
        totals[at + 2] += sign * np.int64(rest >> _HALF)

        # (a 2^32 + b)^2 as four digits, each shifted, with what flows over added to the next one.
        a = mantissa >> _HALF
        b = mantissa & _MASK
        last = b * b
        middle = ((a * b) << _ONE) + (last >> _HALF)
        first = a * a + (middle >> _HALF)
        at = place >> 4
        shift = np.uint64((2 * place) & 31)
        flow = (last & _MASK) << shift
        squares[at] += times * np.int64(flow & _MASK)
        flow = ((middle & _MASK) << shift) + (flow >> _HALF)
        squares[at + 1] += times * np.int64(flow & _MASK)
        flow = ((first & _MASK) << shift) + (flow >> _HALF)
        squares[at + 2] += times * np.int64(flow & _MASK)
        flow = ((first >> _HALF) << shift) + (flow >> _HALF)
        squares[at + 3] += times * np.int64(flow & _MASK)
        squares[at + 4] += times * np.int64(flow >> _HALF)


@numba.njit(cache=True, nogil=True, fastmath=False)
def norms(offsets: Integers, values: Floats, out: Floats) -> None:
    """Fill out[i] with the Euclidean length of values[offsets[i]:offsets[i + 1]], summed from left to right."""
    for i in range(out.size):
        total = 0.0
        for k in range(offsets[i], offsets[i + 1]):
            total += values[k] * values[k]
        out[i] = np.sqrt(total)
