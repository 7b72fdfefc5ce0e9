"""A bet, row by row, that the mean of a stream has left that of a reference."""

import numba
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float32] | npt.NDArray[np.float64]


@numba.njit(cache=True, nogil=True, fastmath=False)
def bet(
    features: Reals,
    phases: Integers,
    means: Floats,
    slacks: Floats,
    scales: Floats,
    fades: Floats,
    stakes: Floats,
    recent: Floats,
    masses: Floats,
    wealth: Floats,
    line: float,
    evidence: Floats,
) -> int:
    """Play one round a row until the mean wealth of all players reaches `line`; return how many rows were played.

    Each player has a group of features, a memory (a recent mean, whose rows fade by a factor each) and a stake. A round pays
    f = (<g, phi - mean> - slack) / scale, g the unit vector of the recent mean of `phi - mean` of the rows before, in the
    group, and wealth W becomes (W + 1) (1 + stake f). phases: of each row, which has a row of `means` and `scales` (phases x
    groups), and one of `slacks`. recent: memories x dimensions. wealth: groups x memories x stakes. evidence: the mean wealth
    after each row, over `line`.
    """
    n, dimensions = features.shape
    groups = scales.shape[1]
    size = dimensions // groups
    for row in range(n):
        phase = phases[row]
        total = 0.0
        for memory in range(fades.size):
            for group in range(groups):
                along = 0.0
                norm = 0.0
                if masses[memory] > 0.0:
                    for k in range(group * size, (group + 1) * size):
                        g = recent[memory, k] / masses[memory]
                        norm += g * g
                        along += g * (np.float64(features[row, k]) - means[phase, k])
                paid = (along / np.sqrt(norm) - slacks[phase]) / scales[phase, group] if norm > 0.0 else 0.0
                for stake in range(stakes.size):
                    wealth[group, memory, stake] = (wealth[group, memory, stake] + 1.0) * (1.0 + stakes[stake] * paid)
                    total += wealth[group, memory, stake]
            masses[memory] = fades[memory] * masses[memory] + 1.0
            for k in range(dimensions):
                recent[memory, k] = fades[memory] * recent[memory, k] + np.float64(features[row, k]) - means[phase, k]
        evidence[row] = total / (wealth.size * line)
        if evidence[row] >= 1.0:
            return row + 1
    return int(n)
