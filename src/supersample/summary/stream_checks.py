"""What must hold in a stream from a file: shapes that agree, numbers in the range that a stream can give them.

Weights are mantissas in [0.5, 1) times powers of two, so sums relative to the largest power lie between 0.5 and the number of
rows (`embedding/moments.py`); features are of the size of the root of k(x, x).
"""

import numpy as np
import numpy.typing as npt

from supersample._compiled.sums import FOLD
from supersample._typing import Floats, Indices
from supersample.embedding.moments import Moments
from supersample.features import FeatureMap, Landmark, Nystroem
from supersample.kernels import Kernel
from supersample.selection.pool import kernel_block
from supersample.selection.stream.background import Background
from supersample.selection.stream.criticisms import Criticisms
from supersample.selection.stream.lifecycle import CHUNK
from supersample.selection.stream.plan import WARM_UP, Plan
from supersample.selection.stream.projection_tree import Tree
from supersample.selection.stream.reservoir import Reservoir
from supersample.selection.stream.rows import Rows
from supersample.selection.stream.state import Stream

__all__ = ["FURTHEST", "MOST", "MOST_FEATURES", "require", "require_plan", "require_stream"]

Reals = npt.NDArray[np.float32] | npt.NDArray[np.float64]

#: No number of rows, chunks or points reaches this.
MOST = 1 << 62
#: Features, MMD and the like are never larger than this many times the root of k(x, x).
FURTHEST = 1e6
#: The features of a map are written for three rows when it is checked; what a stream does with more would not fit in memory.
MOST_FEATURES = 1 << 20
#: Powers of two of a float64, and of a time: that of an exponential draw over a weight.
_EXPONENTS, _TIMES = 1100, 2300
#: Powers of two of an exponential draw, from the smallest that the generator gives to the largest.
_LEAST_DRAW, _MOST_DRAW = -70, 10
_ROUNDING = 1e-6


def require(holds: bool, otherwise: str) -> None:
    """Refuse unless something holds."""
    if not holds:
        raise ValueError(otherwise)


def _within(values: Reals | Indices, limit: float | Floats) -> bool:
    """Say whether no value is larger in size, or none at all; the smallest int64 has no size in int64."""
    return bool(((values >= -limit) & (values <= limit)).all())


def require_plan(plan: Plan, reach: Floats) -> None:
    """Refuse maps that do not give finite features for rows whose coordinates are at most `reach` in size."""
    corners = np.stack([-reach, np.zeros_like(reach), reach])
    kernel = plan.kernel
    require(plan.held_out.kernel == kernel, "selection and judgement differ in their kernel")
    _require_kernel(kernel, corners)
    for each in (plan.feature_map, plan.held_out):
        require(1 <= each.n_features <= MOST_FEATURES, "the number of features is impossible")
        _require_landmarks(each)
        features = each.transform(corners)
        require(features.shape == (3, each.n_features), "a feature map is incomplete")
        _require_features(features, features.shape, kernel, "a feature map")


def require_stream(held: Stream, positions: Indices) -> None:
    """Refuse a stream that cannot be gone on with; `positions` are those of all its rows."""
    counts = (held.n_used, held.n_seen - held.n_used - len(held.pending), held.chunks)
    require(all(each >= 0 for each in counts) and max(held.n_seen, held.chunks) < MOST, "the numbers of rows are impossible")
    require(held.n_seen > (int(positions[-1]) if positions.size else -1), "rows stand beyond the end of the stream")
    require(len(held.pending) < (WARM_UP if held.plan is None else CHUNK), "more rows wait than can")
    sample, reservoir, criticisms = held.background, held.reservoir, held.criticisms
    require(reservoir.size == held.settings.n_prototypes, "the reservoir has another size than was asked for")
    require(criticisms.size == held.settings.n_criticisms, "the criticisms have another number than was asked for")
    parts = (held.pending, reservoir.rows, criticisms.rows, *(part.rows for part in (sample.kept, *sample.waiting)))
    for rows in parts:
        _require_rows(rows, held.width)
    n_features, n_held_out = (0, 0) if held.plan is None else (held.plan.feature_map.n_features, held.plan.held_out.n_features)
    begun = held.plan is not None and held.n_used > 0
    require(begun == (held.n_used > 0) == (len(reservoir.rows) > 0), "rows were taken in, and none is held")
    require(begun == any(len(part.rows) > 0 for part in (sample.kept, *sample.waiting)), "the background sample is missing")
    require(begun or len(criticisms.rows) == 0, "there are criticisms of nothing")
    largest = 1.0 if held.plan is None else FURTHEST * float(np.sqrt(held.plan.kernel.k0))
    _require_moments(held.moments, n_features, held.n_used, largest)
    _require_moments(held.held_out, n_held_out, held.n_used, largest)
    _require_background(sample)
    _require_reservoir(reservoir, n_features, None if held.plan is None else held.plan.kernel)
    _require_criticisms(criticisms, n_features, None if held.plan is None else held.plan.kernel)


def _require_kernel(kernel: Kernel, points: Floats) -> None:
    values = kernel_block(kernel, points, points)
    require(bool(np.isfinite(values).all()), "the kernel is not finite")
    require(bool((np.abs(values) <= kernel.k0 * (1.0 + _ROUNDING)).all()), "the kernel is larger than at its centre")


def _require_landmarks(given: FeatureMap) -> None:
    """Refuse parts of maps that are not made anew from a seed."""
    if isinstance(given, Landmark):
        spanned, waves, overlap = given.spanned, given.waves, given.overlap
        require(type(spanned) is Nystroem and waves.kernel == spanned.kernel, "the landmarks are incomplete")
        require(overlap.shape == (spanned.n_features, waves.n_features), "the landmarks are incomplete")
        require(overlap.dtype == waves.dtype == spanned.dtype, "the landmarks are of different types")
        require(_within(overlap, FURTHEST), "the landmarks are impossible")
        given = spanned
    if isinstance(given, Nystroem):
        require(given.landmarks.dtype == np.float64 and given.landmarks.ndim == 2, "the landmarks are incomplete")
        require(bool(np.isfinite(given.landmarks).all()), "the landmarks are not finite")
        require(1e-12 <= given.tolerance < 1, "the landmarks are impossible")
        # Eigenvalues under the tolerance, as a share of the largest, were left out; the largest is at least k(x, x).
        most = 2.0 / np.sqrt(given.tolerance * given.kernel.k0)
        require(given.whitening.shape[0] == given.landmarks.shape[0], "the landmarks are incomplete")
        require(_within(given.whitening, most), "the landmarks are impossible")


def _require_rows(rows: Rows, width: int) -> None:
    require(rows.points.shape == (rows.positions.size, width), "points and positions differ in number")
    require(rows.mantissas.shape == rows.exponents.shape == rows.positions.shape, "weights and positions differ in number")
    require(np.unique(rows.positions).size == rows.positions.size, "a row is held twice")
    require(bool(((rows.mantissas >= 0.5) & (rows.mantissas < 1.0)).all()), "weights are not positive numbers")
    require(_within(rows.exponents, _EXPONENTS), "weights are not positive numbers")


def _require_moments(held: Moments, n_features: int, n_used: int, largest: float) -> None:
    sums = (held.totals, held.errors, held.partials)
    require(all(each.shape == (n_features + 3,) for each in sums), "moments and features differ in number")
    require(all(bool(np.isfinite(each).all()) for each in sums), "the moments are not finite")
    require(held.counts.shape == (4,) and held.n_seen == n_used, "the moments are of another number of rows")
    require(0 <= held.counts[1] < FOLD and held.counts[3] == (n_used > 0), "the moments are of another number of rows")
    require(abs(held.exponent) <= _EXPONENTS, "the moments have an impossible scale")
    if n_used == 0:
        require(not any(bool(each.any()) for each in sums), "there are moments of no rows")
        return
    limits = np.full(n_features + 3, n_used * largest)
    limits[-3:] = n_used, n_used, n_used * largest * largest
    require(all(_within(each, limits) for each in sums), "the moments are too large")
    values = held.sums()
    weight, squares, norms = values[-3:]
    require(weight >= 0.4 and squares >= 0.2 and norms >= 0, "the moments have no weight")
    # Each weight is at most one, and by Cauchy and Schwarz (sum w)^2 <= n sum w^2.
    require(squares <= weight * (1.0 + _ROUNDING) <= n_used * (1.0 + _ROUNDING) ** 2, "the moments weigh too much")
    require(weight * weight <= n_used * squares * (1.0 + _ROUNDING), "the moments weigh too much")
    require(_within(values[:-3], weight * largest), "the moments are too large")


def _require_background(sample: Background) -> None:
    limit = sample.next_mantissa, sample.next_exponent
    require(limit[0] == np.inf or 0 < limit[0] < 1, "the background sample is impossible")
    require(abs(limit[1]) <= _TIMES, "the background sample is impossible")
    for part in (sample.kept, *sample.waiting):
        times, powers = part.mantissas, part.exponents
        require(times.shape == powers.shape == part.rows.positions.shape, "the background sample is incomplete")
        require(bool(((times >= 0) & (times < 1)).all()) and _within(powers, _TIMES), "the background sample is impossible")
        draws = powers + part.rows.exponents
        drawn = (times == 0) | ((draws >= _LEAST_DRAW) & (draws <= _MOST_DRAW))
        require(bool(drawn.all()), "times of the background sample do not belong to their weights")
        late = (powers > limit[1]) | ((powers == limit[1]) & (times > limit[0]))
        require(limit[0] == np.inf or not bool(late.any()), "the background sample has rows that were left out")


def _require_features(features: Reals, shape: tuple[int, ...], kernel: Kernel | None, whose: str) -> None:
    require(features.shape == shape, f"{whose} has other features than its map")
    largest = 0.0 if kernel is None else FURTHEST * float(np.sqrt(kernel.k0))
    require(_within(features, largest), f"{whose} has impossible features")


def _require_reservoir(held: Reservoir, n_features: int, kernel: Kernel | None) -> None:
    require(len(held.rows) <= held.size and 0 <= held.basis_at < MOST, "the reservoir is impossible")
    _require_features(held.features, (len(held.rows), n_features), kernel, "the reservoir")
    require(held.basis.ndim == 2 and held.basis.shape[1] == n_features, "the reservoir has a basis of other features")
    require(_within(held.basis, 1.0 + 1e-3), "the reservoir has an impossible basis")
    require(held.histogram.ndim == 1 and held.histogram.size > 0, "the histogram is impossible")
    require(bool(((held.histogram >= 0) & (held.histogram < MOST >> 12)).all()), "the histogram is impossible")
    if held.tree is not None:
        _require_tree(held.tree, len(held.rows), n_features)


def _require_tree(held: Tree, n_points: int, n_features: int) -> None:
    """Refuse a tree whose lists would be followed out of their bounds, or for ever: compiled loops do not look."""
    inner = held.splits.size
    shapes = (held.directions.shape, held.splits.shape, held.first.shape, held.leaves.shape, held.following.shape)
    expected = ((inner, n_features), (inner,), (inner + 1,), (n_points,), (n_points,))
    require(shapes == expected and inner & (inner + 1) == 0 and n_points > 0, "the tree is incomplete")
    require(all(_within(each, FURTHEST**3) for each in (held.directions, held.splits)), "the tree is impossible")
    require(0 <= held.swaps < MOST and 0 <= held.builds < MOST, "the tree is impossible")
    require(bool(((held.leaves >= 0) & (held.leaves <= inner)).all()), "the tree is impossible")
    heads, tails = np.flatnonzero(held.first != -1), np.flatnonzero(held.following != -1)
    begun, followed = held.first[heads], held.following[tails]
    after = np.concatenate([begun, followed])
    require(np.array_equal(np.sort(after), np.arange(n_points)), "the leaves of the tree do not hold each point once")
    whose = np.concatenate([heads, held.leaves[tails]])
    require(np.array_equal(held.leaves[after], whose), "the leaves of the tree are mixed up")
    end = np.append(held.following, -1)  # from the last place, and from -1, there is no way on
    for _ in range(n_points.bit_length()):
        end = end[end]
    require(bool((end == -1).all()), "the leaves of the tree have no end")


def _require_criticisms(held: Criticisms, n_features: int, kernel: Kernel | None) -> None:
    count = len(held.rows)
    require(count <= held.size, "there are more criticisms than were asked for")
    _require_features(held.features, (count, n_features), kernel, "the criticisms")
    require(held.gram.shape == (count, count), "the criticisms have a Gram matrix of another size")
    if kernel is not None:
        exact = kernel_block(kernel, held.rows.points, held.rows.points)
        near = np.abs(held.gram - exact) <= _ROUNDING * kernel.k0
        require(bool(near.all()), "the criticisms have another Gram matrix than their kernel gives")
