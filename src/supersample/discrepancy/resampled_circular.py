"""Ensembles of circular discrepancies for many assignments of the pooled rows to two samples at once."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from supersample._compiled import circle
from supersample._random import Seed
from supersample._threads import BLOCK_ROWS, cut, map_blocks
from supersample._typing import Floats
from supersample.discrepancy.circular import Distance, over_frequencies, projection
from supersample.discrepancy.resampling import resampled_labels
from supersample.discrepancy.two_samples import TwoSamples, wave_map
from supersample.kernels import Kernel

__all__ = ["Labels", "observed_and_permuted", "resampled_ensembles"]

#: One row for each assignment: 1 for pooled rows that belong to the first sample, 0 for those of the second.
Labels = npt.NDArray[np.int8]

_FREQUENCIES_AT_A_TIME = 16
_LABELS_AT_A_TIME = 256
#: Bins of the search for a median.
_BINS = 1024


def observed_and_permuted(samples: TwoSamples, n_resamples: int, seed: Seed) -> Labels:
    """Return the given assignment of rows, then `n_resamples` random ones; a byte for each row and assignment."""
    sizes = (samples.x.shape[0], samples.y.shape[0])
    labels = np.empty((1 + n_resamples, samples.n), dtype=np.int8)
    labels[0] = np.arange(samples.n) < sizes[0]
    start = 0
    for first, _ in resampled_labels("permutation", sizes, n_resamples, BLOCK_ROWS, seed):
        labels[1:, start : start + first.shape[0]] = first.T
        start += first.shape[0]
    return labels


def resampled_ensembles(
    samples: TwoSamples,
    kernels: Sequence[Kernel],
    labels: Labels,
    *,
    distance: Distance,
    norm: float,
    method: str,
    n_features: int,
    seed: Seed,
) -> list[Floats]:
    """Return the ensemble of each assignment, kernel by kernel; O(n (d + log n + assignments) L) time.

    Angles are sorted once for each frequency: an assignment changes only which sample they count for.
    """
    compute: Callable[[Floats, Labels], Floats] = _mallows if distance == "mallows" else _sine
    found = []
    for kernel in kernels:
        rows, frequencies = projection(samples, wave_map(kernel, method, n_features, samples, seed))

        def work(part: slice, rows: Floats = rows, frequencies: Floats = frequencies) -> Floats:
            return compute(rows @ frequencies[:, part], labels)

        values = np.concatenate(map_blocks(work, cut(frequencies.shape[1], _FREQUENCIES_AT_A_TIME)))
        found.append(over_frequencies(values, norm, kernel.k0))
    return found


def _mallows(angles: Floats, labels: Labels) -> Floats:
    """Return the least work for each frequency and assignment."""
    n_rows, count = angles.shape
    m = int(labels[0].sum())
    common = math.gcd(m, n_rows - m)
    up, down = (n_rows - m) // common, m // common
    heights, bins = np.empty(n_rows, dtype=np.int64), np.empty(_BINS)
    values = np.empty((count, labels.shape[0]))
    wrapped = np.mod(angles, 2.0 * np.pi)
    for k in range(count):
        order = np.argsort(wrapped[:, k])
        places = wrapped[order, k]
        lengths = np.diff(places, append=places[0] + 2.0 * np.pi)
        circle.least_work(order, lengths, labels, up, down, heights, bins, values[k])
    return values / (float(up) * m)


def _sine(angles: Floats, labels: Labels) -> Floats:
    """Return the amplitude of the difference of the two mean sinusoids for each frequency and assignment."""
    count = angles.shape[1]
    m = int(labels[0].sum())
    n = angles.shape[0] - m
    waves = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    waves -= waves.mean(axis=0)  # centred sums over the second sample are the negative of those over the first
    values = np.empty((count, labels.shape[0]))
    for part in cut(labels.shape[0], _LABELS_AT_A_TIME):
        sums = labels[part].astype(np.float64) @ waves
        values[:, part] = np.hypot(sums[:, :count], sums[:, count:]).T
    return np.asarray(values * (1.0 / m + 1.0 / n))
