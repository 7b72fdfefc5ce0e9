"""The inner loop of annealed swaps in feature space."""

import numba
import numpy as np
import numpy.typing as npt

Singles = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def anneal(
    features: Singles,
    pull: Singles,
    chosen: Indices,
    taken: Flags,
    order: Indices,
    places: Indices,
    slots: Singles,
    steps: Singles,
    chances: Singles,
    reach: float,
    anywhere: float,
    hot: float,
    cold: float,
) -> int:
    """Propose swaps one after the other, and make those that lower |pull|^2 or are allowed by chance; return their number.

    Proposal t: the point y of a slot is replaced by x, which stands near it in `order` (`step_to`); slots and steps are
    uniforms. It changes pull = sum_l phi(y_l) - M mu by v = phi(x) - phi(y), and lowers |pull|^2 by -(2 v.pull + |v|^2). It is
    made if that is above -temperature * chances[t], for chances exponentially distributed; the temperature falls from hot to
    cold by equal factors. O(D) for each proposal.
    """
    width = features.shape[1]
    cooling = (cold / hot) ** (1.0 / slots.size)
    temperature = hot
    made = 0
    for t in range(slots.size):
        temperature *= cooling
        slot = np.int64(slots[t] * np.float32(chosen.size))
        if slot >= chosen.size:
            slot = np.int64(chosen.size - 1)
        y = chosen[slot]
        x = order[step_to(places[y], steps[t], order.size, reach, anywhere)]
        if taken[x]:
            continue
        new = features[x]
        old = features[y]
        along = np.float32(0.0)
        length = np.float32(0.0)
        for k in range(width):
            v = new[k] - old[k]
            along += v * pull[k]
            length += v * v
        if np.float64(length) + 2.0 * np.float64(along) >= temperature * np.float64(chances[t]):
            continue
        for k in range(width):
            pull[k] += new[k] - old[k]
        taken[y] = False
        taken[x] = True
        chosen[slot] = x
        made += 1
    return made


@numba.njit(cache=True, nogil=True, fastmath=False)
def step_to(place: int, uniform: float, size: int, reach: float, anywhere: float) -> int:
    """Return a place by a uniform: any of them with probability `anywhere`, else 1 + (reach times a uniform cubed) away.

    Where that is before the first or after the last, it is as far on the other side, or that end.
    """
    if uniform < anywhere:
        return min(int(uniform / anywhere * size), size - 1)
    rest = (uniform - anywhere) / (1.0 - anywhere)
    part = 2.0 * rest if rest < 0.5 else 2.0 * rest - 1.0
    step = 1 + int(reach * part * part * part)
    to = place - step if rest < 0.5 else place + step
    if to < 0:
        to = place + step
    elif to >= size:
        to = place - step
    return min(max(to, 0), size - 1)
