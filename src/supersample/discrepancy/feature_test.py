"""A two-sample test by mean features only, for samples whose rows are no longer available."""

from typing import NamedTuple

import numpy as np

from supersample._threads import one_blas_thread
from supersample._typing import Floats
from supersample.discrepancy import weighted_chi2
from supersample.discrepancy.result import QUANTILES

__all__ = ["Embedded", "FeatureTest", "compare_embedded"]

#: A spread below this share of the largest squared feature is rounding: the rows are all equal.
_NO_SPREAD = 1e-12


class Embedded(NamedTuple):
    """What is stored of a sample: its mean features, and the features of some rows with their shares of the sample.

    effective_rows: (sum w)^2 / sum w^2 of all rows. ratios: weight of each kept row over the mean weight of a row drawn in
    proportion to weight; 1 if all weights are equal. squared_norm: E |phi|^2 over all rows, or None to use the kept rows.
    """

    mean: Floats
    effective_rows: float
    features: Floats
    shares: Floats
    ratios: Floats
    squared_norm: float | None = None


class FeatureTest(NamedTuple):
    """MMD^2 between two samples in features, its p-value, and the weights of chi^2_1 under the null."""

    statistic: float
    pvalue: float
    null_weights: Floats

    @property
    def null_mean(self) -> float:
        """The mean of MMD^2 under the null."""
        return float(self.null_weights.sum())

    def null_quantiles(self) -> dict[float, float]:
        """Return the quantiles of MMD^2 under the null; in narrow tables each takes as long as the rest of the test."""
        if self.null_weights.size == 0:
            return dict.fromkeys(QUANTILES, 0.0)
        return {level: weighted_chi2.quantile(level, self.null_weights) for level in QUANTILES}


@one_blas_thread()
def compare_embedded(left: Embedded, right: Embedded) -> FeatureTest:
    """Test whether two samples have the same mean features.

    Under the null, |mu_x - mu_y|^2 tends to sum_l lambda_l chi^2_1 with lambda the eigenvalues of the covariance of
    mu_x - mu_y. With equal weights that is (1/m + 1/n) C with C the pooled covariance of the features (Zhao and Meng 2015,
    section 5, the spectral null); otherwise the sum of sum_i (w_i / W)^2 (phi_i - mu)(phi_i - mu)^T over both samples. Both are
    computed from the kept rows, and the sum of the eigenvalues from all rows where it is known. O(B D^2 + D^3).
    """
    difference = left.mean - right.mean
    statistic = float(difference @ difference)
    values = _null_weights(left, right)
    if values is None:
        return FeatureTest(statistic, 1.0, np.empty(0))
    return FeatureTest(statistic, weighted_chi2.survival(statistic, values), values)


def _null_weights(left: Embedded, right: Embedded) -> Floats | None:
    """Return the eigenvalues of the covariance of the difference of means; None if the rows do not vary."""
    sides = (left, right)
    sizes = np.array([each.effective_rows for each in sides])
    parts = sizes / sizes.sum()
    centre = parts[0] * left.mean + parts[1] * right.mean
    factors = parts * (1.0 / sizes).sum() if all(bool((each.ratios == 1.0).all()) for each in sides) else 1.0 / sizes
    covariance = np.zeros((centre.size, centre.size))
    trace = 0.0
    for each, factor in zip(sides, factors, strict=True):
        rows = each.features - centre
        weights = each.shares * each.ratios
        weights /= weights.sum()
        mine = rows.T @ (weights[:, None] * rows)
        total = float(np.trace(mine))
        if each.squared_norm is not None and bool((each.ratios == 1.0).all()):
            gap = each.mean - centre
            total = max(each.squared_norm - float(each.mean @ each.mean) + float(gap @ gap), 0.0)
        covariance += factor * mine
        trace += factor * total
    largest = max(float(np.abs(each.features).max(initial=0.0)) for each in sides) ** 2
    own = float(np.trace(covariance))
    if not (own > _NO_SPREAD * largest / sizes.min() and trace > 0):
        return None
    # The mean takes one degree of freedom.
    correction = sizes.sum() / max(sizes.sum() - 1.0, 1.0)
    values = np.maximum(np.linalg.eigvalsh(covariance), 0.0)
    return np.asarray(values * (correction * trace / own))
