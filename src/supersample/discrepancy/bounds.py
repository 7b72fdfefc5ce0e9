"""Upper bounds on the MMD between a selection and the data, or the data's population, that hold with a chosen probability."""

from typing import Any, NamedTuple

import numpy as np

from supersample._threads import one_blas_thread
from supersample._typing import Floats
from supersample._validation import check_flag, choose
from supersample.embedding.moments import Moments
from supersample.errors import InputError
from supersample.features import FeatureMap
from supersample.features.random_fourier import RandomFourier
from supersample.selection.pool import embedded
from supersample.selection.stream.background import Background

__all__ = ["BoundInputs", "bernstein", "checked_bound", "distance_to_population", "distance_to_rows", "theorem_one"]

#: Rows of the background that a bound uses: their kernel matrix is computed for it.
_MOST_ROWS = 5000
#: Relative difference of the effective number of rows and their number, by rounding.
_ROUNDING = 1e-9


class BoundInputs(NamedTuple):
    """Weighted points, and what is known of the rows that they represent.

    moments: of the held-out features, over all rows. background: settled. effective_rows: as how many independent rows of equal
    weight they count.
    """

    points: Floats
    weights: Floats
    held_out: FeatureMap
    moments: Moments
    background: Background
    effective_rows: float


@one_blas_thread()
def checked_bound(inputs: BoundInputs, delta: Any, kind: Any = "auto", population: Any = False) -> float:
    """Return the bound that a user asked for, or raise an error that says why there is none.

    For the population, half of `delta` goes to each of its two steps, all of it to the second if the first is exact.
    """
    if isinstance(delta, bool) or not isinstance(delta, int | float | np.integer | np.floating) or not 0 < delta < 1:
        raise InputError(f"delta must lie between 0 and 1, got {delta!r}; 0.05 gives a bound that holds 95 times in 100")
    how = choose(kind, "kind", ("auto", "background", "bernstein", "theorem"))
    to_population = check_flag(population, "population")
    kernel, held_out = inputs.held_out.kernel, inputs.held_out
    if not isinstance(held_out, RandomFourier):
        raise InputError(f"bound needs a kernel with random Fourier features, which {kernel!r} has not; use mmd instead")
    sample, n_rows = min(len(inputs.background.rows), _MOST_ROWS), inputs.moments.n_seen
    equal = inputs.moments.effective_rows >= (1.0 - _ROUNDING) * n_rows
    if how == "auto":
        how = "background" if equal or sample >= n_rows else "bernstein"
    exact = how == "background" and sample >= n_rows
    chance = float(delta) / 2.0 if to_population and not exact else float(delta)
    if how == "background":
        if not (equal or exact):
            raise InputError("kind='background' needs rows of equal weight, or at most 5,000 rows; use kind='bernstein'")
        found = _to_background(inputs, sample) + (0.0 if exact else distance_to_rows(kernel.k0, sample, n_rows, chance))
    else:
        chosen = inputs.weights @ held_out.transform(inputs.points).astype(np.float64)
        terms = held_out.terms((inputs.moments.mean() - chosen) ** 2)
        most = 4.0 * kernel.k0 * held_out.largest_weight(inputs.points.shape[1])
        found = (bernstein if how == "bernstein" else theorem_one)(terms, most, chance)
    if to_population:
        found += distance_to_population(kernel.k0, inputs.effective_rows, chance)
    return min(found, 2.0 * float(np.sqrt(kernel.k0)))  # no MMD is larger


def theorem_one(terms: Floats, most: float, delta: float) -> float:
    """Return the bound of Theorem 1 of Paige, Sejdinovic and Wood 2016, with its constant for weighted pairs of features.

    MMD^2 <= mean t + most sqrt(log(1/delta) / (2 n)) with probability 1 - delta, for n independent terms between 0 and `most`
    whose expected mean is MMD^2 (Hoeffding 1963). A frequency with weight r has t = k0 r |mean exp(iwx) - mean exp(iwy)|^2, at
    most 4 k0 R for weights up to R. With D = 2n features this is k0 sqrt(16 R^2 log(1/delta) / D); the paper has the constant
    128 for D cosines with random phases and weights 1. It needs points that do not depend on the frequencies.

    >>> theorem_one(np.zeros(64), 4.0, np.exp(-8.0))  # 4 sqrt(8 / 128) = 1
    1.0
    """
    return float(np.sqrt(terms.mean() + most * np.sqrt(np.log(1.0 / delta) / (2.0 * terms.size))))


def bernstein(terms: Floats, most: float, delta: float) -> float:
    """Return the bound by the empirical variance V of the terms (Maurer and Pontil 2009, Theorem 11).

    MMD^2 <= mean t + sqrt(2 V log(2/delta) / n) + 7 most log(2/delta) / (3 (n - 1)) with probability 1 - delta, under the
    conditions of `theorem_one`; the terms need not have one distribution. The terms of a good selection are far below their
    limit, so that the last part dominates. It falls with 1 / n, the bound of Theorem 1 with 1 / sqrt(n).

    >>> bernstein(np.zeros(64), 4.0, 2.0 * np.exp(-27.0 / 4.0))  # 7 * 4 * (27 / 4) / (3 * 63) = 1
    1.0
    """
    n, log = terms.size, float(np.log(2.0 / delta))
    variance = float(terms.var(ddof=1))
    return float(np.sqrt(terms.mean() + np.sqrt(2.0 * variance * log / n) + 7.0 * most * log / (3.0 * (n - 1))))


def distance_to_rows(k0: float, sample: int, n_rows: int, delta: float) -> float:
    """Return a bound on the MMD between `sample` of `n_rows` rows, drawn uniformly without replacement, and all of them.

    With m = sample, N = n_rows and u = N - m it is (1 + sqrt(2 log(1/delta))) sqrt(k0 / m) u / sqrt((u - 1/2) (N - 1/2)).
    The 1 stands for the mean distance: the mean square is at most (k0 / m) u / (N - 1). The rest is by McDiarmid 1989. If the
    j-th row drawn is replaced by another, the expected distance changes by at most (2 sqrt(k0) / m) u / (N - j): not at all if
    the other row is drawn later, which fails with probability u / (N - j). The sum of these squares over j is at most
    (4 k0 / m) u^2 / ((u - 1/2) (N - 1/2)).

    >>> distance_to_rows(1.0, 5_000, 10**12, np.exp(-0.5))  # 2 / sqrt(5000)
    0.02828...
    """
    left = n_rows - sample
    shrink = left / float(np.sqrt((left - 0.5) * (n_rows - 0.5)))
    return distance_to_population(k0, sample, delta) * shrink


def distance_to_population(k0: float, rows: float, delta: float) -> float:
    """Return a bound on the MMD between so many independent rows and the population that they are drawn from.

    (1 + sqrt(2 log(1/delta))) sqrt(k0 / rows): the mean is at most sqrt(k0 / rows), and one row changes the distance by at most
    2 sqrt(k0) / rows (McDiarmid 1989). With weights that do not depend on the rows, `rows` is (sum w)^2 / sum w^2.

    >>> distance_to_population(1.0, 100, np.exp(-2.0))  # (1 + 2) / 10
    0.30000...
    """
    return (1.0 + float(np.sqrt(2.0 * np.log(1.0 / delta)))) * float(np.sqrt(k0 / rows))


def _to_background(inputs: BoundInputs, sample: int) -> float:
    """Return the exact MMD between the weighted points and the first rows of the background."""
    kernel, points, weights = inputs.held_out.kernel, inputs.points, inputs.weights
    rows = inputs.background.rows.points[:sample]  # in the order of their random times: fewer are a uniform sample, too
    shares = inputs.background.shares()[:sample]
    shares = shares / shares.sum()
    energy = shares @ embedded(kernel, rows, rows, shares)
    across = embedded(kernel, points, rows, shares)
    return float(np.sqrt(max(energy + weights @ (embedded(kernel, points, points, weights) - 2.0 * across), 0.0)))
