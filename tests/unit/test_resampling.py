"""Label matrices: every column deals as many rows to each sample as it must, each row as often as any other."""

import numpy as np
import pytest

from supersample._random import Seed
from supersample.discrepancy.resampling import resampled_labels

M, N, COLUMNS = 13, 37, 4000


def dealt(how, block_rows, columns=COLUMNS):
    pairs = list(resampled_labels(how, (M, N), columns, block_rows, Seed(3)))
    first = np.concatenate([first for first, _ in pairs])
    second = [second for _, second in pairs]
    return first, 1 - first if second[0] is None else np.concatenate(second)


@pytest.mark.parametrize("block_rows", [1, 7, 10, 49, 50, 1000])
@pytest.mark.parametrize("how", ["permutation", "bootstrap"])
def test_every_column_deals_the_sizes_of_the_samples(how, block_rows):
    first, second = dealt(how, block_rows)
    assert first.shape == second.shape == (M + N, COLUMNS)
    assert (first.sum(axis=0) == M).all()
    assert (second.sum(axis=0) == N).all()
    assert min(first.min(), second.min()) == 0
    if how == "permutation":
        assert first.max() == 1


@pytest.mark.parametrize("block_rows", [7, 1000])
@pytest.mark.parametrize("how", ["permutation", "bootstrap"])
def test_rows_and_pairs_of_rows_are_dealt_evenly(how, block_rows):
    """Means over 4,000 columns within 5.5 standard errors, for 50 rows and 1,225 pairs: fails one seed in 20,000."""
    first, _ = dealt(how, block_rows)
    share = M / (M + N)
    variance = share * (1 - share) if how == "permutation" else M * (1 / (M + N)) * (1 - 1 / (M + N))
    assert np.abs(first.mean(axis=1) - share).max() < 5.5 * np.sqrt(variance / COLUMNS)
    covariance = np.cov(first)
    # The counts of a column have a fixed sum, so two rows are correlated by -1 / (rows - 1), wherever the blocks were cut.
    expected = -variance / (M + N - 1)
    apart = covariance[~np.eye(M + N, dtype=bool)]
    assert np.abs(apart - expected).max() < 5.5 * variance / np.sqrt(COLUMNS)


def test_observed_is_the_samples_as_they_came():
    first, second = dealt("observed", 7, columns=1)
    assert first[:, 0].tolist() == [1.0] * M + [0.0] * N
    assert second[:, 0].tolist() == [0.0] * M + [1.0] * N


@pytest.mark.parametrize("block_rows", [7, 50])
def test_gaussian_labels_are_centred_normal_numbers(block_rows):
    first, second = dealt("gaussian", block_rows)
    assert np.abs(first.mean(axis=0)).max() < 1e-6
    # Centred on the mean of 50, the variance is 49 / 50; five standard errors of 200,000 numbers.
    assert abs(first.var() - 0.98) < 5 * np.sqrt(2 / first.size)
    assert not second.any()
