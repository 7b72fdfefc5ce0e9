"""What a SuperSampler tells of the rows that it has seen: the attributes that end with an underscore."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from supersample._locking import one_at_a_time
from supersample._typing import Floats, Indices, Points
from supersample.features import FeatureMap
from supersample.kernels import Kernel
from supersample.selection.stream.missed_and_rare import KINDS
from supersample.summary.sampled import Sampled

__all__ = ["Readings"]


class Readings:
    """The readings of one moment, `_now`, which a sampler replaces as a whole and never changes."""

    _now: Sampled

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return int(self._named("n_features_in_").state.width)

    @property
    def feature_names_in_(self) -> npt.NDArray[Any]:
        """The names of the columns, if the rows came with names."""
        names = self._named("feature_names_in_").names
        if names is None:
            raise AttributeError("feature_names_in_: the rows came without names of columns")
        return names

    @property
    def prototypes_(self) -> Points:
        """The points kept."""
        now = self._read()
        return now.as_given(now.selected.rows.points)

    @property
    def prototype_indices_(self) -> Indices:
        """Their positions in the stream, counting from 0, rows of weight zero included."""
        now = self._read()
        return now.follow(now.selected.rows.positions)

    @property
    def weights_(self) -> Floats:
        """The weights of the prototypes in averages: at least a tenth of 1 / M each.

        They are 1 / M where nothing else was nearer, and where the kernel values of so many would take too long.
        """
        return self._read().weights

    @property
    def include_weights_(self) -> Floats:
        """The weights of the points of `include`; with those of the prototypes they sum to one."""
        now = self._read()
        return now.follow(now.selected.weights[len(now.selected.rows) :])

    @property
    def criticisms_(self) -> Points:
        """The points that the prototypes do not show; copies are left out."""
        now = self._read()
        return now.as_given(now.selected.criticisms.points)

    @property
    def criticism_indices_(self) -> Indices:
        """Their positions in the stream."""
        now = self._read()
        return now.follow(now.selected.criticisms.positions)

    @property
    def criticism_kind_(self) -> npt.NDArray[np.str_]:
        """The kind of each criticism: "missed", "rare" or "witness"."""
        return np.array(KINDS)[self._read().selected.kinds]

    @property
    def criticism_witness_(self) -> Floats:
        """E k(x, .) less the prototypes' mean of k(s, .) at each criticism: positive where these have too little mass.

        For missed and rare points, the mean is by `weights_`, and the prototypes' own mean witness is taken off.
        """
        now = self._read()
        return now.follow(now.selected.witness)

    @property
    def criticism_nearest_(self) -> Indices:
        """The place in prototypes_ of the prototype nearest to each criticism."""
        now = self._read()
        return now.follow(now.selected.nearest)

    @property
    def criticism_share_(self) -> Floats:
        """The share of the data nearer to each criticism than to any prototype, estimated from the background sample."""
        now = self._read()
        return now.follow(now.selected.shares)

    @property
    def n_seen_(self) -> int:
        """Rows seen."""
        check_is_fitted(self)
        return int(self._now.state.n_seen)

    @property
    def effective_rows_(self) -> float:
        """(sum w)^2 / sum w^2: how many rows of equal weight tell as much as those seen."""
        return self._read().selected.moments.effective_rows

    @property
    def mmd_(self) -> float:
        """MMD between prototypes and data by held-out features; for kernels with a spectrum it is exact up to 5,000 rows.

        It is that of the weighted prototypes, with the points of `include` where there are any.
        """
        return self._read().certificate.mmd

    @property
    def mmd_error_(self) -> float:
        """Its standard error: MMD lies within two of them 95 times in 100. Of exact values, a bound on rounding."""
        return self._read().certificate.error

    @property
    def uniform_mmd_(self) -> float:
        """The held-out MMD of the prototypes, and of the points of `include`, with equal weights."""
        return self._read().uniform_mmd

    @property
    def random_mmd_(self) -> float:
        """The held-out MMD of random rows of the target or data: as many as prototypes and points of `include` together."""
        return self._read().random_mmd

    @property
    def energy_(self) -> float:
        """The share of E k(x, x) that the landmarks of the feature map span."""
        return self._read().energy

    @property
    def kernel_(self) -> Kernel:
        """The kernel with its bandwidth."""
        return self._read().selected.plan.kernel

    @property
    def feature_map_(self) -> FeatureMap:
        """The features that the selection minimises MMD in."""
        return self._read().selected.plan.feature_map

    @property
    def comparisons_(self) -> Indices:
        """How many rows were compared with how many held points."""
        return self._read().selected.histogram.copy()

    def _held(self) -> Sampled:
        check_is_fitted(self)
        return self._now

    @one_at_a_time
    def _read(self) -> Sampled:
        """Return this moment with its result; a second thread waits and does not compute it again."""
        now = self._held()
        _ = now.selected
        return now

    def _named(self, name: str) -> Sampled:
        """Return this moment for an attribute that is not there before there are rows."""
        if not hasattr(self, "_now"):
            raise AttributeError(f"{name}: the sampler has seen no rows yet; call fit or partial_fit first")
        return self._now
