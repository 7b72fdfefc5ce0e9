"""Batch prototypes and criticisms: all candidates in memory (Kim, Khanna and Koyejo 2016)."""

from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from supersample._random import Seed, as_seed
from supersample._threads import one_blas_thread
from supersample._typing import Floats, Indices, PointsLike, RandomState
from supersample._validation import check_count, check_points, choose
from supersample.device.arrays import Home, follow, home_of, is_device_array, working
from supersample.device.checks import check_device_points, spread_rows
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.features import FeatureMap, Fourier, Nystroem
from supersample.kernels import Kernel, KernelLike, as_kernel
from supersample.kernels.bandwidth import Bandwidth
from supersample.measures import Empirical
from supersample.selection.batch.assemble import Picked
from supersample.selection.batch.candidates import ExactCandidates, as_measure
from supersample.selection.batch.columns import LARGE, FeatureColumns
from supersample.selection.batch.estimated_mmd import held_out_squares
from supersample.selection.batch.foresight import Foresight
from supersample.selection.batch.herding import herd_points
from supersample.selection.greedy import greedy_criticisms, greedy_prototypes
from supersample.selection.pool import Codes, ExactPool, FeaturePool, Pool, explain, is_rounded
from supersample.selection.result import Critique, Selection

__all__ = ["checked_diversity", "critic", "mmd_path"]

#: Up to this many rows the exact column means take about a second.
_EXACT_ROWS = 20_000
#: Rows whose mean is the origin of features.
_ORIGIN_ROWS = 1000
#: Rows that a kernel function is tested on.
_TRIED = 50
#: Rows whose kernel values are held at a time.
_PART = 16_384


@one_blas_thread()
def critic(
    X: PointsLike,
    prototypes: int,
    criticisms: int,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: Bandwidth = "median",
    regularizer: Literal["logdet"] | None = "logdet",
    diversity: float = 1.0,
    labels: npt.ArrayLike | None = None,
    method: Literal["auto", "exact", "features"] = "auto",
    n_features: int = 512,
    random_state: RandomState = None,
) -> Critique:
    """Choose prototypes that represent X, and criticisms that show what the prototypes miss (Kim, Khanna and Koyejo 2016).

    Equations are those of the draft Online Prototypes and Criticisms. Prototypes are chosen greedily by J(S): each is the row
    that lowers the MMD to X most (eq. 2). Criticisms are chosen from the other rows greedily by sum |w(c)| + log det K_CC
    (eq. 3), where w(x) = mean_i k(x_i, x) - mean_s k(s, x) is the witness: large where data and prototypes differ most; the log
    det keeps criticisms apart. No N x N matrix is held. Ties go to the lowest row.

    regularizer: None leaves the log det out. diversity: the weight of the log det. Witness values are small if the prototypes
    are good; with diversity 1, as in the paper, the log det decides nearly alone, and criticisms are above all far from each
    other. With 0.001 to 0.01 both count.

    labels: one for each row; the kernel of rows with different labels is 0, so each class is summarised by itself ("local").

    method: "exact" computes all N^2 kernel values once, O(N^2 d); "features" replaces them by inner products of `n_features`
    random features, O(N d D); "auto" is exact up to 20,000 rows. The log det is always exact.

    >>> import numpy as np
    >>> from supersample.kernels import Gaussian
    >>> x = np.concatenate([np.zeros((50, 1)), np.full((49, 1), 3.0), [[9.0]]]) + np.linspace(0, 0.1, 100)[:, None]
    >>> found = critic(x, 2, 2, kernel=Gaussian(0.5))
    >>> np.sort(found.prototypes.points[:, 0]).round(), found.criticisms.points.max().round()
    (array([0., 3.]), np.float64(9.0))
    """
    with working(home_of(X=X)):
        options = (regularizer, diversity, labels, method, n_features)
        return _critic(X, prototypes, criticisms, as_kernel(kernel, bandwidth), options, as_seed(random_state))


def _critic(X: PointsLike, prototypes: int, criticisms: int, kernel: Kernel, options: tuple[Any, ...], seed: Seed) -> Critique:
    regularizer, diversity, labels, method, n_features = options
    home = home_of(X=X)
    points: Any = check_points(X, "X") if home is None else check_device_points(X, "X", home)
    n = int(points.shape[0])
    m = check_count(prototypes, "prototypes")
    c = check_count(criticisms, "criticisms", minimum=0)
    if m + c > n:
        raise InputError(
            f"prototypes and criticisms must not be more than the rows of X together, got {m} + {c} for {n} rows; ask for fewer"
        )
    weight = checked_diversity(regularizer, diversity)
    how = choose(method, "method", ("auto", "exact", "features"))
    codes = _codes(labels if home is None or not is_device_array(labels) else home.host(labels), n)
    rows = points.astype(np.float64) if home is None else points
    resolved = kernel.resolve(rows, random_state=seed.child("bandwidth").sequence())
    resolved.check_on(rows if home is None else spread_rows(points, _TRIED, home))
    exact = how == "exact" or (how == "auto" and n <= _EXACT_ROWS)
    measure = as_measure(None, rows)
    assert isinstance(measure, Empirical)
    feature_map = None if exact else _feature_map(resolved, measure, check_count(n_features, "n_features"), seed)
    pool = _pool(resolved, rows, feature_map, codes, seed, home)
    means, chosen, sums = _prototypes(pool, m)
    witness = means - sums / m
    free = np.ones(n, dtype=np.bool_)
    free[chosen] = False
    others = greedy_criticisms(pool.block, witness, pool.diagonals(), c, free, diversity=weight)
    shown = witness[others] if exact else _exact_witness(pool, chosen, others)
    path = mmd_path(pool, means, chosen) if exact else _held_out_path(resolved, measure, chosen, codes, seed)
    nearest, shares = explain(pool, np.full(n, 1.0 / n), chosen, others)
    first = _selection(points, chosen, np.full(m, 1.0 / m), path, resolved, home)
    second = _selection(points, others, shares, np.empty(0), resolved, home)
    return Critique(first, second, follow(home, shown), follow(home, nearest))


def _pool(
    kernel: Kernel, rows: Any, feature_map: FeatureMap | None, codes: Codes | None, seed: Seed, home: Home | None
) -> Pool:
    """Return all rows, with their kernel exact or by features."""
    if home is not None:
        from supersample.selection.critic.on_device import PoolOnDevice  # not needed on the host

        return PoolOnDevice(kernel, rows, home, feature_map, seed, codes)
    return ExactPool(kernel, rows, codes) if feature_map is None else FeaturePool(feature_map, rows, codes)


def _selection(points: Any, chosen: Indices, weights: Floats, path: Floats, kernel: Kernel, home: Home | None) -> Selection:
    """Return chosen rows, lying where the rows do."""
    if home is None:
        return Selection(chosen, points[chosen], weights, path, kernel=kernel)
    there = home.array(chosen)
    some = home.xp.take(points, there, axis=0)
    return Selection(there, some, home.array(weights), home.array(path), kernel=kernel)


def _prototypes(pool: Pool, count: int) -> tuple[Floats, Indices, Floats]:
    """Return z, the prototypes, and the sum of their columns; those of many wide rows are chosen as `herd` chooses them."""
    if not isinstance(pool, ExactPool | FeaturePool):  # where the rows lie
        means = pool.means()
        return means, *pool.prototypes(means, count)
    if isinstance(pool, ExactPool) and pool.codes is None and is_rounded(pool.points, pool.points):
        space = ExactCandidates(pool.kernel, pool.points, Empirical.holding(pool.points), rounded=True)
        held = Picked(space, None, count)
        herd_points(space, held, count, replace=False, refine=False)
        chosen = np.array(held.indices, dtype=np.int64)
        return space.z, chosen, pool.embed(chosen, np.ones(count))
    means, foretold = pool.means(), None
    if isinstance(pool, FeaturePool) and pool.codes is None and pool.features.size > LARGE:
        ahead = Foresight(FeatureColumns(pool.features), means, pool.diagonal, replace=False)
        foretold = partial(ahead.column, most=count)
    return means, *greedy_prototypes(pool.column, means, pool.diagonal, count, foretold)


def checked_diversity(regularizer: Any, diversity: Any) -> float:
    """Return the weight of the log det that the two arguments ask for."""
    if regularizer is not None:
        choose(regularizer, "regularizer", ("logdet",))
    if isinstance(diversity, bool) or not isinstance(diversity, int | float | np.integer | np.floating):
        raise InputTypeError(f"diversity must be a number, got {type(diversity).__name__}; 1 is the paper's")
    if not 0 <= diversity < np.inf:
        raise InputError(f"diversity must be 0 or a positive number, got {diversity!r}; 1 is the paper's")
    return 0.0 if regularizer is None else float(diversity)


def mmd_path(pool: Pool, means: Floats, chosen: Indices) -> Floats:
    """Return MMD between all points of the pool and the first one, two, ... chosen ones."""
    energy = float(means.mean())
    gram = pool.block(chosen, chosen)
    sizes = np.arange(1, chosen.size + 1)
    within = np.array([gram[:size, :size].sum() for size in sizes]) / sizes**2
    across = np.cumsum(means[chosen]) / sizes
    return np.asarray(np.sqrt(np.maximum(energy + within - 2.0 * across, 0.0)))


def _codes(labels: npt.ArrayLike | None, n: int) -> npt.NDArray[np.int64] | None:
    if labels is None:
        return None
    array: npt.NDArray[Any] = np.asarray(labels)
    if array.shape != (n,):
        raise MismatchError(f"labels must be one-dimensional with one label for each of the {n} rows, got shape {array.shape}")
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    except TypeError as error:
        raise InputTypeError(
            f"labels must be of one kind, so that they can be told apart: {error}; fill missing ones"
        ) from error


def _exact_witness(pool: Pool, chosen: Indices, others: Indices) -> Floats:
    """Return the witness of the exact kernel at some points, so that shown values do not depend on the selecting features."""
    n = pool.points.shape[0]
    total = np.zeros(others.size)
    for part in np.array_split(np.arange(n), 1 + n // _PART):
        total += pool.block(part, others).sum(axis=0)
    return np.asarray(total / n - pool.block(chosen, others).mean(axis=0))


def _feature_map(kernel: Kernel, measure: Empirical, n_features: int, seed: Seed) -> FeatureMap:
    state = seed.child("features").sequence()
    if kernel.has_spectrum:
        first = measure.rows_at(np.arange(min(_ORIGIN_ROWS, measure.weights.size)))
        return Fourier(kernel, n_features, origin=first.mean(axis=0), random_state=state)
    return Nystroem.from_sample(kernel, measure.points, n_features, random_state=state)


def _held_out_path(kernel: Kernel, measure: Empirical, chosen: Indices, codes: Codes | None, seed: Seed) -> Floats:
    """Return the MMD path by held-out features; with labels, each class by itself, weighted by its share."""
    if codes is None:
        table = np.tril(np.ones((chosen.size, chosen.size))) / np.arange(1, chosen.size + 1)[:, None]
        found = held_out_squares(kernel, measure, measure.rows_at(chosen), table, seed.child("held-out"))
        return np.asarray(np.sqrt(np.maximum(found.squares, 0.0)))
    rows, labels = measure.points, codes
    table = np.tril(np.ones((chosen.size, chosen.size))) / np.arange(1, chosen.size + 1)[:, None]
    squares = np.zeros(chosen.size)
    for code in np.unique(labels):
        members, mine = np.flatnonzero(labels == code), labels[chosen] == code
        share = members.size / labels.size
        points, weights = rows[chosen[mine]], table[:, mine] / share
        if not mine.any():
            points, weights = rows[members[:1]], np.zeros((chosen.size, 1))
        of_class = held_out_squares(kernel, Empirical(rows[members]), points, weights, seed.child("held-out"))
        squares += share**2 * of_class.squares
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
