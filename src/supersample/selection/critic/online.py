"""Online Greedy: prototypes and criticisms row by row, storing all rows; the reference for the fast stream.

Section 3.1 of the draft Online Prototypes and Criticisms.
"""

from typing import Literal

import numpy as np

from supersample._random import as_seed
from supersample._threads import one_blas_thread
from supersample._typing import Floats, Indices, PointsLike, RandomState
from supersample._validation import check_count, check_flag, check_points
from supersample.errors import InputError
from supersample.kernels import Kernel, KernelLike, as_kernel
from supersample.kernels.bandwidth import Bandwidth
from supersample.selection.critic.batch import checked_diversity, mmd_path
from supersample.selection.greedy import greedy_criticisms, greedy_prototypes
from supersample.selection.pool import ExactPool, explain
from supersample.selection.result import Critique, Selection

__all__ = ["online_critic"]


@one_blas_thread()
def online_critic(
    X: PointsLike,
    prototypes: int,
    criticisms: int,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: Bandwidth = "median",
    regularizer: Literal["logdet"] | None = "logdet",
    diversity: float = 1.0,
    offer_displaced: bool = False,
    random_state: RandomState = None,
) -> Critique:
    """Choose prototypes and criticisms in one pass over X, by the exact kernel to all rows so far.

    Algorithm 3 of the draft Online Prototypes and Criticisms.

    The first rows are the first prototypes, the next ones the first criticisms. Each further row is offered to the prototypes:
    greedy J keeps the best of them and the row, with column means over the rows seen so far. If the row is kept, the prototype
    that it displaces is discarded. If not, the row is offered to the criticisms, of which greedy F keeps the best.
    O(n (d + 1)) for row n and O(N) memory beside X; for streams without end use `SuperSampler`.

    The draft starts its loop at row m + 1 in print and at row 2m + 1 in the text. The text is followed: by the printed loop the
    first criticisms are candidates again, and a row can be prototype and criticism at once.

    regularizer, diversity: see `critic`.
    offer_displaced: offer a displaced prototype to the criticisms, as our stream does; the draft discards it.

    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(200, 2))
    >>> found = online_critic(x, 5, 3, random_state=0)
    >>> len(found.prototypes), len(found.criticisms)
    (5, 3)
    """
    points = check_points(X, "X")
    rows = points.astype(np.float64)
    m = check_count(prototypes, "prototypes")
    c = check_count(criticisms, "criticisms", minimum=0)
    if m + c > rows.shape[0]:
        raise InputError(
            f"prototypes and criticisms must not be more than the rows of X together, got {m} + {c} for {rows.shape[0]} rows; "
            f"ask for fewer"
        )
    weight = checked_diversity(regularizer, diversity)
    resolved = as_kernel(kernel, bandwidth).resolve(rows, random_state=as_seed(random_state).child("bandwidth").sequence())
    resolved.check_on(rows)
    chosen, others = _pass(resolved, rows, m, c, weight, check_flag(offer_displaced, "offer_displaced"))
    pool = ExactPool(resolved, rows)
    means = pool.means()
    witness = means - np.mean([pool.column(int(index)) for index in chosen], axis=0)
    nearest, shares = explain(pool, np.full(rows.shape[0], 1.0 / rows.shape[0]), chosen, others)
    return Critique(
        Selection(chosen, points[chosen], np.full(m, 1.0 / m), mmd_path(pool, means, chosen), kernel=resolved),
        Selection(others, points[others], shares, np.empty(0), kernel=resolved),
        witness[others],
        nearest,
    )


def _pass(kernel: Kernel, rows: Floats, m: int, c: int, diversity: float, offer_displaced: bool) -> tuple[Indices, Indices]:
    held = np.arange(m)
    critics = np.arange(m, m + c)
    sums = np.zeros(rows.shape[0])  # sum over the rows seen of k(x_i, .), updated for the held points
    first = kernel(rows[: m + c])
    sums[: m + c] = first.sum(axis=1)
    for n in range(m + c, rows.shape[0]):
        to_seen = kernel(rows[n : n + 1], rows[: n + 1])[0]
        sums[n] = to_seen.sum()
        sums[held] += to_seen[held]
        sums[critics] += to_seen[critics]
        candidates = np.append(held, n)
        gram = kernel(rows[candidates])
        kept, _ = greedy_prototypes(gram.__getitem__, sums[candidates] / (n + 1.0), np.diag(gram).copy(), m)
        left_out = candidates[np.setdiff1d(np.arange(m + 1), kept)]
        held = candidates[np.sort(kept)]
        if c and (left_out[0] == n or offer_displaced):
            candidates = np.append(critics, left_out)
            critics = candidates[_best_critics(kernel, rows, candidates, held, sums[candidates] / (n + 1.0), c, diversity)]
    return held, critics


def _best_critics(
    kernel: Kernel, rows: Floats, candidates: Indices, held: Indices, means: Floats, count: int, diversity: float
) -> Indices:
    gram = kernel(rows[candidates])
    witness = means - kernel(rows[candidates], rows[held]).mean(axis=1)
    free = np.ones(candidates.size, dtype=np.bool_)
    own = np.diag(gram).copy()
    kept = greedy_criticisms(lambda some, others: gram[np.ix_(some, others)], witness, own, count, free, diversity=diversity)
    if kept.size < count:  # copies fill the remaining places: there is nothing better
        kept = np.append(kept, np.setdiff1d(np.arange(candidates.size), kept)[: count - kept.size])
    return np.sort(kept)
