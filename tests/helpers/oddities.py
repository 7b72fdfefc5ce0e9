"""Tables with planted rows that a good critic finds: single odd rows, and whole groups that few prototypes leave out."""

import numpy as np
import pyarrow as pa

#: Planted odd rows, and the kinds that they are of in turn.
N_ODD, KINDS = 20, ("far out", "disagree", "unseen")


def with_oddities(n_rows, seed):
    """Return a mixed table with twenty odd rows and their places.

    Eight numbers of which the first two are correlated (0.95), and a category of six values. Odd rows have one value far out,
    or the two correlated columns in disagreement, or a category that no other row has and shifted numbers.
    """
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, 8))
    numbers[:, 1] = 0.95 * numbers[:, 0] + np.sqrt(1 - 0.95**2) * numbers[:, 1]
    states = np.array(list("abcdef"))[rng.choice(6, n_rows, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])].astype(object)
    odd = np.sort(rng.choice(n_rows, N_ODD, replace=False))
    for place, row in enumerate(odd):
        kind = KINDS[place % 3]
        if kind == "far out":
            numbers[row, 2 + rng.integers(6)] = rng.choice([-1, 1]) * rng.uniform(7, 10)
        elif kind == "disagree":
            size = rng.uniform(3.5, 4.5)
            numbers[row, :2] = rng.permutation([size, -size])
        else:
            states[row] = "z"
            numbers[row] += 2.5
    columns = {f"x{k}": numbers[:, k] for k in range(8)}
    return pa.table({**columns, "state": pa.array(states.tolist())}), odd


def with_groups(n_rows, seed, groups=10, share=0.01):
    """Return a table of a broad cloud and small tight groups beside it, and the group of each row (-1: the cloud)."""
    rng = np.random.default_rng(seed)
    which = rng.choice(groups + 1, n_rows, p=[1 - groups * share, *[share] * groups]) - 1
    centres = rng.normal(size=(groups, 6))
    centres *= (rng.uniform(5.0, 6.5, size=groups) / np.linalg.norm(centres, axis=1))[:, None]
    points = rng.normal(size=(n_rows, 6))
    points[which >= 0] = centres[which[which >= 0]] + 0.3 * points[which >= 0]
    return pa.table({f"x{k}": points[:, k] for k in range(6)}), which
