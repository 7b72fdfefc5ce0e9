"""Label matrices, made block by block of rows: each column assigns the pooled rows to two samples.

A resampled statistic is computed from products of kernel or features with such a matrix.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import numpy.typing as npt

from supersample._random import Seed
from supersample._typing import Reals

__all__ = ["Resampling", "resampled_labels"]

Resampling = Literal["observed", "permutation", "bootstrap", "gaussian"]


def resampled_labels(
    how: Resampling, sizes: tuple[int, int], n_columns: int, block_rows: int, seed: Seed
) -> Iterator[tuple[Reals, Reals | None]]:
    """Yield, for each block of pooled rows, the count of each row in the first and in the second sample (rows x columns).

    observed: one column, the given samples.
    permutation: the pooled rows assigned at random without replacement; the second matrix is None, since it is one minus the
    first.
    bootstrap: both samples drawn with replacement from the pooled rows.
    gaussian: standard normal numbers, centred, and zeros: for simulating the limit of the null distribution.
    Only one block is held at a time: the number of its rows in each sample is drawn first, then which rows.
    """
    generator = seed.child(how).generator()
    m, n = sizes
    left = np.array([[m] * n_columns, [n] * n_columns])
    for start in range(0, m + n, block_rows):
        rows = min(block_rows, m + n - start)
        after = m + n - start - rows
        if how == "observed":
            labels = (np.arange(start, start + rows) < m).astype(np.float32)[:, None]
            yield labels, None
        elif how == "gaussian":
            if start == 0:
                centre = _column_means(seed.child(how).generator(), m + n, n_columns, block_rows)
            normal = generator.standard_normal((rows, n_columns), dtype=np.float32)
            yield normal - centre, np.zeros((rows, n_columns), np.float32)
        elif how == "permutation":
            mine = generator.hypergeometric(left[0], left[1], rows)
            left[0] -= mine
            left[1] -= rows - mine
            dealt = (np.arange(rows) < mine[:, None]).astype(np.int8)
            generator.permuted(dealt, axis=1, out=dealt)
            yield dealt.T.astype(np.float32), None
        else:
            here = [generator.binomial(left[sample], rows / (rows + after)) for sample in (0, 1)]
            left -= np.array(here)
            yield _draw(here[0], rows, generator), _draw(here[1], rows, generator)


def _column_means(generator: np.random.Generator, n: int, n_columns: int, block_rows: int) -> Reals:
    """Return the column means of the normal matrix that a generator in this state will give, block by block."""
    total = np.zeros(n_columns)
    for start in range(0, n, block_rows):
        rows = min(block_rows, n - start)
        total += generator.standard_normal((rows, n_columns), dtype=np.float32).sum(axis=0, dtype=np.float64)
    return (total / n).astype(np.float32)


def _draw(draws: npt.NDArray[np.int64], rows: int, generator: np.random.Generator) -> Reals:
    """Draw rows of column c draws[c] times, with replacement, and count each."""
    columns = np.repeat(np.arange(draws.size), draws)
    balls = generator.integers(0, rows, size=columns.size)
    counts = np.bincount(balls * draws.size + columns, minlength=rows * draws.size)
    return counts.reshape(rows, draws.size).astype(np.float32)
