"""Moments of rows that lie on a device: features and their sums are computed there, and D + 3 numbers come back."""

from typing import Any

import numpy as np

from supersample._typing import Floats
from supersample.device.arrays import Array
from supersample.embedding.moments import Moments, ScaledWeights
from supersample.features.on_device import DeviceMap

__all__ = ["moments_of", "moments_of_sums", "relative_weights", "sums_of"]


#: Rows that are summed in the type of the features.
_FEW = 64


def moments_of(feature_map: DeviceMap, points: Array, weights: ScaledWeights | None = None) -> Moments:
    """Return the moments of rows, with sums in float64. O(n (d + 1) D) on the device."""
    home = feature_map.home
    n_rows = int(points.shape[0])
    exponent, relative = relative_weights(weights)
    far = feature_map.is_far(float(home.xp.max(home.xp.abs(points))))
    total = home.zeros(feature_map.n_features + 1)
    for part in feature_map.blocks(n_rows):
        some = None if relative is None else home.array(relative[part])
        total = total + sums_of(feature_map, feature_map.features(points[part, :], far=far), some)
    return moments_of_sums(home.floats(total), relative, n_rows, exponent)


def sums_of(feature_map: DeviceMap, features: Array, weights: Array | None, norms: Array | None = None) -> Array:
    """Return sum w phi and sum w^2 |phi|^2 of a block of rows, one array of the wide type; without weights, all are one.

    norms: |phi|^2 of the rows, if already computed.
    """
    xp, wide = feature_map.xp, feature_map.home.wide
    norms = xp.astype(xp.sum(features * features, axis=1) if norms is None else norms, wide)
    if weights is None:
        return xp.concat([_column_sums(xp, features, wide), xp.sum(norms)[None]])
    return xp.concat([weights @ xp.astype(features, wide), (weights * weights) @ norms[:, None]])


def _column_sums(xp: Any, features: Array, wide: Any) -> Array:
    """Sum rows, a few of them in their own type and those sums in the wide one: a copy in the wide type would take longer."""
    n_rows, width = (int(size) for size in features.shape)
    whole = n_rows - n_rows % _FEW
    rest = xp.sum(xp.astype(features[whole:, :], wide), axis=0)
    if whole == 0:
        return rest
    parts = xp.sum(xp.reshape(features[:whole, :], (whole // _FEW, _FEW, width)), axis=1)
    return rest + xp.sum(xp.astype(parts, wide), axis=0)


def relative_weights(weights: ScaledWeights | None) -> tuple[int, Floats | None]:
    """Return an exponent, and the weights divided by that power of two, the largest of them below one."""
    if weights is None:
        return 1, None
    some = weights.mantissas > 0
    exponent = int(weights.exponents[some].max()) if bool(some.any()) else 0
    return exponent, np.ldexp(weights.mantissas, np.maximum(weights.exponents - exponent, -2000))


def moments_of_sums(sums: Floats, relative: Floats | None, n_rows: int, exponent: int) -> Moments:
    """Return moments with these sums of features and squared norms, for weights relative to 2^exponent; None: all are one."""
    if relative is None:
        weight, squares = 0.5 * n_rows, 0.25 * n_rows
        sums = sums * 0.5
        sums[-1] *= 0.5
    else:
        weight, squares = float(relative.sum()), float(relative @ relative)
    totals = np.concatenate([sums[:-1], [weight, squares, sums[-1]]])
    counts = np.array([n_rows, 0, exponent if weight > 0 else 0, weight > 0], dtype=np.int64)
    return Moments(totals, np.zeros_like(totals), np.zeros_like(totals), counts)
