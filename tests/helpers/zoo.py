"""Named hard distributions: each function draws n rows with a generator it is given."""

import numpy as np


def blobs(n, rng, epsilon=1.0):
    """Zhao and Meng 2015, figures 3, 4 and 7: a 5 x 5 grid of Gaussians; epsilon is the ratio of each one's eigenvalues.

    The centres lie 5 apart, the long axis at 45 degrees, as in benchmarks/papers/fastmmd_data.py: the MMD is largest at the
    paper's bandwidth of 1.
    """
    centres = 5.0 * rng.integers(0, 5, size=(n, 2))
    along, across = rng.standard_normal((2, n)) * np.sqrt([[epsilon], [1.0]])
    return centres + np.column_stack([along - across, along + across]) / np.sqrt(2.0)


def normal(n, rng, width=2):
    return rng.standard_normal((n, width))


def tied_grid(n, rng, width=2):
    """Three values a column: nine different rows in two columns, however many are drawn."""
    return rng.integers(0, 3, size=(n, width)).astype(np.float64)


def two_points(n, rng):
    """Rows (0) and (1): the most heavily tied data there is."""
    return rng.integers(0, 2, size=(n, 1)).astype(np.float64)


def far_from_origin(n, rng):
    return 1e6 + rng.standard_normal((n, 3))


def constant_column(n, rng):
    return np.column_stack([rng.standard_normal(n), np.full(n, 7.0), rng.standard_normal(n)])


def heavy_tails(n, rng):
    """Cauchy coordinates: no mean, now and then a row a thousand times as far out as the others."""
    return rng.standard_cauchy((n, 2))


def tiny(n, rng):
    return 1e-30 * rng.standard_normal((n, 2))


def huge(n, rng):
    return 1e30 * rng.standard_normal((n, 2))


def duplicates(n, rng):
    """Five different rows, each many times over, in random order."""
    few = np.random.default_rng(5).standard_normal((5, 4))
    return few[rng.integers(0, len(few), size=n)]


def mixed_scales(n, rng):
    return rng.standard_normal((n, 4)) * [1e-6, 1.0, 1e3, 1e6]


def wide(n, rng):
    return rng.standard_normal((n, 40))


_DRAWS = (blobs, normal, tied_grid, two_points, far_from_origin, constant_column)
_MORE_DRAWS = (heavy_tails, tiny, huge, duplicates, mixed_scales, wide)
ZOO = {draw.__name__: draw for draw in _DRAWS + _MORE_DRAWS}
