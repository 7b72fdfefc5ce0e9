"""Weights for a background sample under which it has the mean features of the whole stream."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from supersample._threads import cut, map_blocks, n_workers
from supersample._typing import Features, Floats, Reals
from supersample.features import FeatureMap
from supersample.kernels import Kernel
from supersample.selection.pool import embedded
from supersample.selection.stream.background import Background

__all__ = ["Control", "Target", "calibrate", "moving", "target_of"]

#: Ridge, as a share of the mean variance of a feature. Without it, directions with little variance in the sample lead to
#: extreme weights on real data (docs/decisions/005).
_RIDGE = 1e-3
#: A variance below this share of the squared mean is rounding: the rows are all equal, and the shares stay as they are.
_NO_SPREAD = 1e-10
#: Rows whose covariance is summed at a time.
_PART = 1280
#: Products of the covariance beyond which they are in float32; their digits suffice beside the ridge.
_MANY = 1 << 33


def calibrate(features: Features, shares: Floats, mean: Floats) -> Floats:
    """Return weights near `shares` with weighted mean feature vector near `mean`; they sum to one and may be a little negative.

    c_i = shares_i (1 + (phi_i - m).(C + ridge)^-1 (mean - m)), with m and C the mean and covariance of the sample under
    `shares`: the smallest relative change that moves the sample's mean to the stream's (a regression estimator in survey
    terms). The sample then represents the stream nearly as well as the stream's own embedding: its error lies in the part of
    the kernel that the features do not capture. O(B D^2).
    """
    found = moving(features, shares, mean)
    if found is None:
        return shares
    centre, slope = found
    rows = features.astype(np.float64)
    rows -= centre
    return np.asarray(shares * (1.0 + rows @ slope))


def moving(features: Features, shares: Floats, mean: Floats) -> tuple[Floats, Floats] | None:
    """Return m and (C + ridge)^-1 (mean - m); None where the sample has no spread."""
    rows = features.astype(np.float64)
    centre = shares @ rows
    rows -= centre
    parts = cut(rows.shape[0], _PART)
    narrow: type[Any] = np.float32 if rows.size * rows.shape[1] > _MANY else np.float64

    def work(part: slice) -> Floats:
        some: Reals = rows[part].astype(narrow, copy=False)
        return np.asarray(some.T @ (shares[part, None].astype(narrow) * some), dtype=np.float64)

    covariance = np.zeros((rows.shape[1], rows.shape[1]))
    for some in cut(len(parts), n_workers()):  # few matrices at a time
        for each in map_blocks(work, parts[some]):
            covariance += each
    trace = float(np.trace(covariance))
    if not trace > _NO_SPREAD * float(centre @ centre):
        return None
    covariance[np.diag_indices_from(covariance)] += _RIDGE * trace / covariance.shape[0]
    return centre, np.asarray(np.linalg.solve(covariance, mean - centre))


class Target(NamedTuple):
    """The stream as the second look sees it: points with weights under which they have the mean features of all rows.

    complete: whether they are all rows of the stream; then their features are not needed, and there are none.
    """

    points: Floats
    weights: Floats
    features: Features
    shares: Floats
    mean: Floats
    complete: bool

    def of(self, sample: Background) -> "Target":
        """Return the target of the first rows of the sample that it was made of; itself, if these are all."""
        count, shares = len(sample.rows), sample.shares()
        if count == self.shares.size:
            return self
        weights = calibrate(self.features[:count], shares, self.mean)
        return Target(self.points[:count], weights, self.features[:count], shares, self.mean, complete=False)

    def halves(self) -> Iterator["Target"]:
        """Yield every other point, weighted in the same way, and the rest."""
        for start in (0, 1):
            part = slice(start, None, 2)
            shares = self.shares[part] / self.shares[part].sum()
            weights = calibrate(self.features[part], shares, self.mean)
            yield Target(self.points[part], weights, self.features[part], shares, self.mean, complete=False)


class Control(NamedTuple):
    """A target, its mean kernel value, and E k(target, .) at some points.

    It is near the stream, and so a control variate for estimates of the MMD between the points and the stream.
    complete: whether it is the stream itself. rounding: of its squares, as a share of k(x, x).
    """

    points: Floats
    weights: Floats
    energy: float
    pull: Floats
    complete: bool = False
    rounding: float = 1e-10

    def square(self, kernel: Kernel, points: Floats, weights: Floats) -> float:
        """Return the exact MMD^2 between the target and the weighted points."""
        return float(self.energy + weights @ (embedded(kernel, points, points, weights) - 2.0 * self.pull))


def target_of(sample: Background, feature_map: FeatureMap, mean: Floats) -> Target:
    """Return a settled background sample, weighted so that it has these mean features.

    A sample of all rows has them as it is: the two means differ only by the rounding of features in blocks of other sizes.
    """
    points, shares = sample.rows.points, sample.shares()
    if not np.isfinite(sample.next_mantissa):
        return Target(points, shares, np.empty((len(points), 0)), shares, mean, complete=True)
    features = feature_map.transform(points)
    return Target(points, calibrate(features, shares, mean), features, shares, mean, complete=False)
