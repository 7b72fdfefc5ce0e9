"""Slow, obvious twins: each says in the plainest way what the fast code must equal."""

import itertools
import math

import numpy as np
from scipy import optimize, stats

import supersample as ss


def gaussian(x, y, bandwidth):
    return math.exp(-sum(((a - b) / w) ** 2 for a, b, w in zip(x, y, bandwidth, strict=True)) / 2)


def laplacian(x, y, bandwidth):
    return math.exp(-sum(abs(a - b) / w for a, b, w in zip(x, y, bandwidth, strict=True)))


def cauchy(x, y, bandwidth):
    return 1 / (1 + _distance(x, y, bandwidth) ** 2)


def matern12(x, y, bandwidth):
    return math.exp(-_distance(x, y, bandwidth))


def matern32(x, y, bandwidth):
    t = math.sqrt(3) * _distance(x, y, bandwidth)
    return (1 + t) * math.exp(-t)


def matern52(x, y, bandwidth):
    t = math.sqrt(5) * _distance(x, y, bandwidth)
    return (1 + t + t * t / 3) * math.exp(-t)


def _distance(x, y, bandwidth):
    return math.sqrt(math.fsum(((a - b) / w) ** 2 for a, b, w in zip(x, y, bandwidth, strict=True)))


def square_of_one_plus_dot(left, right):
    """A user's own kernel function of two blocks."""
    return (1.0 + left @ right.T) ** 2


def kernels_with_twins(width):
    """Return (name, kernel, k(x, y) by hand) for every kernel the package offers, at this width."""
    same, each = [1.7] * width, [0.5 + 0.25 * (k % 5) for k in range(width)]
    makers = {
        "gaussian": (ss.kernels.Gaussian, gaussian),
        "laplacian": (ss.kernels.Laplacian, laplacian),
        "cauchy": (ss.kernels.Cauchy, cauchy),
        "matern12": (lambda b: ss.kernels.Matern(0.5, b), matern12),
        "matern32": (lambda b: ss.kernels.Matern(1.5, b), matern32),
        "matern52": (lambda b: ss.kernels.Matern(2.5, b), matern52),
    }
    for name, (make, value) in makers.items():
        yield name, make(1.7), lambda x, y, value=value: value(x, y, same)
        yield name + " per column", make(each), lambda x, y, value=value: value(x, y, each)
    yield (
        "sum",
        ss.kernels.Gaussian(1.7) + 0.5 * ss.kernels.Laplacian(each) + 2 * ss.kernels.Cauchy(1.7),
        lambda x, y: gaussian(x, y, same) + 0.5 * laplacian(x, y, each) + 2 * cauchy(x, y, same),
    )
    yield "user function", square_of_one_plus_dot, lambda x, y: (1 + math.fsum(a * b for a, b in zip(x, y, strict=True))) ** 2


def mmd2_double_loop(x, y, k, estimator="biased", weight_x=None, weight_y=None):
    """The definition: mean k(x, x') + mean k(y, y') - 2 mean k(x, y), without i = i' where unbiased."""

    def mean(left, right, a, b, skip):
        pairs = [(i, j) for i in range(len(left)) for j in range(len(right)) if not (skip and i == j)]
        weights = [a[i] * b[j] for i, j in pairs]
        return math.fsum(w * k(left[i], right[j]) for w, (i, j) in zip(weights, pairs, strict=True)) / math.fsum(weights)

    a, b = weight_x or [1.0] * len(x), weight_y or [1.0] * len(y)
    skip = estimator == "unbiased"
    return mean(x, x, a, a, skip) + mean(y, y, b, b, skip) - 2 * mean(x, y, a, b, False)


def walsh_hadamard(size):
    """The unnormalised Walsh-Hadamard matrix of a power of two."""
    matrix = np.ones((1, 1))
    while matrix.shape[0] < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


def fastfood_projections(factors, points):
    """S H G P H B x for each stacked block, by dense matrices in float64."""
    width = factors.signs.shape[1]
    padded = np.zeros((points.shape[0], width))
    padded[:, : points.shape[1]] = points * factors.scales
    H = walsh_hadamard(width)
    blocks = []
    for signs, order, gauss, lengths in zip(factors.signs, factors.order, factors.gauss, factors.lengths, strict=True):
        P = np.eye(width)[order]
        V = np.diag(lengths.astype(float)) @ H @ np.diag(gauss.astype(float)) @ P @ H @ np.diag(signs.astype(float))
        blocks.append(padded @ V.T)
    return np.concatenate(blocks, axis=1)


def printed_linear(x, y, k):
    """MMD-linear: the mean of h over pairs of consecutive rows (Gretton et al. 2012, Lemma 14); the last odd row is unused."""
    pairs = min(len(x), len(y)) // 2
    return math.fsum(_h(k, x[2 * i], y[2 * i], x[2 * i + 1], y[2 * i + 1]) for i in range(pairs)) / pairs


def printed_btest(x, y, k):
    """B-test: the mean of h over ordered pairs, for each block of floor(sqrt(n)) consecutive rows (Zaremba et al. 2013)."""
    size = max(2, math.isqrt(min(len(x), len(y))))
    values = []
    for start in range(0, min(len(x), len(y)) // size * size, size):
        rows = range(start, start + size)
        terms = [_h(k, x[a], y[a], x[b], y[b]) for a in rows for b in rows if a != b]
        values.append(math.fsum(terms) / len(terms))
    return values


def _h(k, x, y, x2, y2):
    """h((x, y), (x', y')) = k(x, x') + k(y, y') - k(x, y') - k(x', y)."""
    return k(x, x2) + k(y, y2) - k(x, y2) - k(x2, y)


def circular_work(x, y, weight_x=None, weight_y=None):
    """Least work to move one sample of angles into another along the circle: the transport linear programme."""
    a = np.full(len(x), 1 / len(x)) if weight_x is None else np.asarray(weight_x) / np.sum(weight_x)
    b = np.full(len(y), 1 / len(y)) if weight_y is None else np.asarray(weight_y) / np.sum(weight_y)
    apart = np.abs(np.subtract.outer(x, y)) % (2 * np.pi)
    cost = np.minimum(apart, 2 * np.pi - apart)
    moves_out = np.kron(np.eye(len(x)), np.ones(len(y)))
    moves_in = np.kron(np.ones(len(x)), np.eye(len(y)))
    plan = optimize.linprog(cost.ravel(), A_eq=np.vstack([moves_out, moves_in]), b_eq=np.concatenate([a, b]))
    return plan.fun


def circular_ensemble_of(angles, first, norm):
    """The ensemble with the Mallows distance, a linear programme a frequency; angles: rows x frequencies, first: rows of x."""
    works = [circular_work(column[first], column[~first]) for column in angles.T]
    return max(works) if norm == np.inf else np.mean(np.power(works, norm)) ** (1 / norm)


def enumerated_pvalue(statistic, m, n):
    """The exact permutation p-value: the share of all assignments of m + n rows whose statistic reaches the first one's."""
    values = [statistic(np.isin(np.arange(m + n), chosen)) for chosen in itertools.combinations(range(m + n), m)]
    return float(np.mean(np.array(values) >= values[0] * (1 - 1e-9)))


def mean_features(features, weights=None):
    """The weighted mean of feature rows, each column summed exactly."""
    rows = features.astype(np.float64)
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    total = math.fsum(weights)
    return np.array([math.fsum(weights * column) / total for column in rows.T])


def exact_sum_of_float32(values):
    """Sum float32 numbers of size up to 1 without any rounding: as integers, in units of 2^-60 split in two halves."""
    scaled = np.ldexp(values.astype(np.float64), 30)
    high = np.floor(scaled)
    low = np.ldexp(scaled - high, 30)
    return math.ldexp(int(high.astype(np.int64).sum()), -30) + math.ldexp(int(np.rint(low).astype(np.int64).sum()), -60)


def weighted_chi2_survival(x, weights, n_draws, rng):
    """P(sum_l weights_l chi^2_1 > x) by Monte Carlo, and its standard error."""
    draws = rng.standard_normal((n_draws, len(weights))) ** 2 @ np.asarray(weights)
    share = float(np.mean(draws > x))
    return share, math.sqrt(max(share * (1 - share), 1 / n_draws) / n_draws)


def permutation_pvalue_of_two_values(ones_x, m, ones_y, n):
    """The exact permutation p-value where every row is one of two points: |share in x - share in y| decides."""
    pooled = ones_x + ones_y
    observed = abs(ones_x * n - ones_y * m)
    counts = range(max(0, pooled - n), min(pooled, m) + 1)
    return sum(stats.hypergeom.pmf(c, m + n, pooled, m) for c in counts if abs(c * n - (pooled - c) * m) >= observed)


def binomial_band(n, level, confidence):
    """The smallest interval of counts, cut at equal tails, that holds a binomial(n, level) count with this probability."""
    tail = (1 - confidence) / 2
    return int(stats.binom.ppf(tail, n, level)), int(stats.binom.isf(tail, n, level))
