"""How many different values a column has: HyperLogLog registers (Flajolet, Fusy, Gandouet and Meunier 2007) of their hashes.

A register holds the largest rank among the hashes that choose it, so registers depend on the set of values only, and those of
two data sets together are the larger of each pair. The estimate is the improved one of Ertl (2017, section 4), which needs no
tables and no switch between small and large numbers.
"""

import math

import numpy as np

from supersample._checks import require
from supersample._compiled import sketches
from supersample._compiled.sketches import MOST_RANK, REGISTER_BITS
from supersample._hashing import Hashes
from supersample._typing import Bytes

__all__ = ["ERROR", "add", "check", "estimate", "none"]

_SIZE = 1 << REGISTER_BITS
#: The relative standard error of an estimate, 1.04 / sqrt(registers): two estimates of three are within it.
ERROR = 1.04 / math.sqrt(_SIZE)


def none() -> Bytes:
    """Return the registers of no values."""
    return np.zeros(_SIZE, dtype=np.uint8)


def add(registers: Bytes, hashes: Hashes) -> Bytes:
    """Return the registers after more values; the given ones are not changed."""
    after = registers.copy()
    sketches.raise_registers(hashes, after)
    return after


def estimate(registers: Bytes) -> float:
    """Return the estimated number of different values, with a relative standard error of ERROR; infinite if no rank is left."""
    counts = np.bincount(registers, minlength=MOST_RANK + 1).tolist()
    z = _SIZE * _tau(1.0 - counts[MOST_RANK] / _SIZE)
    for count in counts[MOST_RANK - 1 : 0 : -1]:
        z = 0.5 * (z + count)
    z += _SIZE * _sigma(counts[0] / _SIZE)
    return _SIZE * _SIZE / (2.0 * math.log(2.0) * z) if z > 0.0 else math.inf


def check(registers: Bytes, n_values: int) -> None:
    """Refuse registers that this number of values cannot have set."""
    require(registers.shape == (_SIZE,) and int(registers.max()) <= MOST_RANK, "the registers have impossible ranks")
    used = int(np.count_nonzero(registers))
    require(used <= n_values and (used > 0) == (n_values > 0), "the registers are of another number of values")


def _sigma(x: float) -> float:
    """Return x + sum of x^(2^k) 2^(k - 1) over k >= 1, the part of the registers at zero; infinite if all are."""
    if x == 1.0:
        return math.inf
    power, total, before = 1.0, x, -1.0
    while total != before:
        x *= x
        before, total = total, total + x * power
        power += power
    return total


def _tau(x: float) -> float:
    """Return (1 - x - sum of (1 - x^(2^-k))^2 2^-k over k >= 1) / 3, the part of the registers at the largest rank."""
    if x in (0.0, 1.0):
        return 0.0
    power, total, before = 1.0, 1.0 - x, -1.0
    while total != before:
        x = math.sqrt(x)
        power *= 0.5
        before, total = total, total - (1.0 - x) ** 2 * power
    return total / 3.0
