"""The methods under comparison, timed, and the exact objectives that judge them."""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import supersample as ss
from benchmarks.drained import drained

__all__ = ["Choice", "Judge", "batch", "drafted", "kernel_of", "nearest_error", "online", "streamed"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class Choice(NamedTuple):
    """Rows chosen as prototypes and as criticisms, and the seconds of CPU that it took, which other work hardly changes."""

    prototypes: Indices
    criticisms: Indices
    seconds: float


def kernel_of(points: Floats) -> ss.kernels.Gaussian:
    """Return the one kernel that all methods share: bandwidth by the median distance of 1,000 rows."""
    return ss.kernels.Gaussian(ss.kernels.median_distance(points, random_state=0))


def batch(points: Floats, kernel: ss.kernels.Kernel, prototypes: int, criticisms: int, labels: Indices | None = None) -> Choice:
    """Choose by greedy J and F over all rows, with exact kernel values; `labels` for the local kernel."""
    return _critique(lambda: ss.critic(points, prototypes, criticisms, kernel=kernel, labels=labels, method="exact"))


def online(points: Floats, kernel: ss.kernels.Kernel, prototypes: int, criticisms: int) -> Choice:
    """Choose by Online Greedy (Algorithm 3 of the draft)."""
    return _critique(lambda: ss.online_critic(points, prototypes, criticisms, kernel=kernel))


def streamed(points: Floats, kernel: ss.kernels.Kernel, prototypes: int, criticisms: int, seed: int) -> Choice:
    """Choose by SuperSampler as it comes, second look included."""
    start = time.process_time()
    sampler = ss.SuperSampler(prototypes, criticisms, regularizer="logdet", kernel=kernel, random_state=seed).fit(points)
    shown = sampler.prototype_indices_, sampler.criticism_indices_
    return Choice(*shown, time.process_time() - start)


def drafted(points: Floats, kernel: ss.kernels.Kernel, prototypes: int, criticisms: int, n_features: int, seed: int) -> Choice:
    """Choose by the draft's faster algorithm: the stream on random Fourier features, without a second look."""
    start = time.process_time()
    sampler = ss.SuperSampler(
        prototypes,
        criticisms,
        regularizer="logdet",
        kernel=kernel,
        features="fourier",
        n_features=n_features,
        random_state=seed,
    ).fit(points)
    held = drained(sampler)
    passed = time.process_time() - start
    return Choice(held.reservoir.rows.positions, held.criticisms.rows.positions, passed)


def _critique(choose: Callable[[], ss.Critique]) -> Choice:
    start = time.process_time()
    found = choose()
    return Choice(found.prototypes.indices, found.criticisms.indices, time.process_time() - start)


class Judge:
    """The exact objectives of eqs. 2 and 3 of the draft for any choice from the rows; O(N^2 d) once, O(N) memory."""

    def __init__(self, points: Floats, kernel: ss.kernels.Kernel) -> None:
        self.points, self.kernel = points, kernel
        blocks = range(0, len(points), 1000)
        self.means: Floats = np.concatenate([kernel(points[start : start + 1000], points).mean(axis=1) for start in blocks])

    def J(self, prototypes: Indices) -> float:  # noqa: N802  the paper's letter
        """Return 2 mean_S z - mean_SS k: the squared MMD to all rows, but for sign and a constant."""
        return float(2.0 * self.means[prototypes].mean() - self.kernel(self.points[prototypes]).mean())

    def F(self, criticisms: Indices, prototypes: Indices) -> float:  # noqa: N802  the paper's letter
        """Return sum_C |w| + log det K_CC, w the witness of these prototypes."""
        return sum(self.parts_of_f(criticisms, prototypes))

    def parts_of_f(self, criticisms: Indices, prototypes: Indices) -> tuple[float, float]:
        """Return sum_C |w|, and log det K_CC."""
        theirs = self.kernel(self.points[criticisms], self.points[prototypes]).mean(axis=1)
        spread = np.linalg.slogdet(self.kernel(self.points[criticisms]))[1]
        return float(np.abs(self.means[criticisms] - theirs).sum()), float(spread)


def nearest_error(prototypes: Floats, labels: Indices, points: Floats, truth: Indices) -> float:
    """Return how often the label of the nearest prototype is wrong."""
    squares = (prototypes**2).sum(axis=1) - 2.0 * points @ prototypes.T
    return float(np.mean(labels[squares.argmin(axis=1)] != truth))
