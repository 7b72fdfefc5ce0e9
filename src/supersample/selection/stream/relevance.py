"""The rows of a stream that look like its target: a random sample in which they are not lost among the others.

The density of the target, relative to a mixture of a little of it and the stream, is fitted by least squares in the features
(Yamada et al. 2011), with the covariance of a uniform sample of the stream and of rows of the target:

    r(x) = 1 + (phi(x) - m).(C + ridge)^-1 (mu - m),   mu the target's mean features, m and C those of the mixture.

Rows are drawn by exponential times (Efraimidis and Spirakis 2006) in proportion to its square, so that where 1% of the stream
is like the target much of the sample still is: the fit is smooth, and the square undoes some of that. It decides which rows
are looked at, and nothing else: a poor fit costs quality, never truth.
"""

from dataclasses import dataclass, replace

import numpy as np

from supersample._checks import require
from supersample._stored import FLOATS, NUMBER, instance_of, stored
from supersample._typing import Features, Floats
from supersample.features import FeatureMap
from supersample.selection.stream import background
from supersample.selection.stream.aim import Aim
from supersample.selection.stream.background import Background
from supersample.selection.stream.calibration import moving
from supersample.selection.stream.rows import Rows

__all__ = ["Relevance", "init", "is_due", "merge", "renewed", "update"]

#: Limits of r for the draw: rows that are less likely in the target than in the stream are all alike, since there the fit is
#: mostly noise; the range of times in files is limited.
_LEAST, _MOST = 1.0, 128.0
#: The share of the target in the mixture: without it, the covariance rests on the few rows of the sample that are like it.
_MIXED = 0.02
#: Rows of the uniform sample that it is fitted on.
_ROWS = 5000


@stored("Relevance", {"slope": FLOATS, "offset": NUMBER, "sample": instance_of(Background)})
@dataclass(frozen=True)
class Relevance:
    """r(x) = offset + slope.phi(x), and the rows drawn by it."""

    slope: Floats
    offset: float
    sample: Background

    def shifted(self, by: int, size: int) -> "Relevance":
        """Return the same rows at positions `by` rows later."""
        return replace(self, sample=background.settled(self.sample, size).shifted(by))

    def check(self, n_features: int) -> None:
        """Refuse a fit in other features."""
        require(self.slope.shape == (n_features,) and bool(np.isfinite(self.slope).all()), "the relevance is impossible")
        require(bool(np.isfinite(self.offset)), "the relevance is impossible")
        self.sample.check()


def init(width: int, n_features: int) -> Relevance:
    """Return a sample of no rows, by which all rows are alike."""
    return Relevance(np.zeros(n_features), 1.0, background.init(width))


def is_due(chunks: int) -> bool:
    """Return whether the relevance is fitted again with this chunk: whenever the number of chunks has doubled."""
    return (chunks & (chunks + 1)) == 0


def renewed(state: Relevance, seen: Background, aim: Aim, feature_map: FeatureMap) -> Relevance:
    """Return the same rows, with the relevance fitted on a settled uniform sample of the stream and on the target."""
    sample, wanted, goal = seen.first(_ROWS), aim.sample.first(_ROWS), aim.moments.mean()
    shares = np.concatenate([(1.0 - _MIXED) * sample.shares(), _MIXED * wanted.shares()])
    found = moving(feature_map.transform(np.concatenate([sample.rows.points, wanted.rows.points])), shares, goal)
    if found is None:
        return replace(state, slope=np.zeros(goal.size), offset=1.0)
    centre, slope = found
    return replace(state, slope=slope, offset=float(1.0 - centre @ slope))


def update(state: Relevance, rows: Rows, features: Features, size: int, times: Floats) -> Relevance:
    """Return the sample after more rows. times: an exponential draw for each."""
    likeness = np.clip(features @ state.slope + state.offset, _LEAST, _MOST) ** 2
    return replace(state, sample=background.update(state.sample, rows, size, times / likeness))


def merge(left: Relevance, right: Relevance, size: int) -> Relevance:
    """Return the rows of both, still to be fitted to both."""
    return replace(left, sample=background.merge(left.sample, right.sample, size))
