"""One mixture of the reservoir paper, figures 1 and 3: every method's points as the stream goes on, and how good they are."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

import supersample as ss
from benchmarks.drained import drained
from benchmarks.papers.reservoir_data import Mixture, averages, random_mixture
from benchmarks.papers.reservoir_printed import PERIODS, printed_points
from supersample._typing import Points

__all__ = ["MEASURES", "D", "M", "Trial", "fourier_map", "mixture_stream", "trial"]

Floats = npt.NDArray[np.float64]

#: Points kept and Fourier features of the paper.
M, D = 100, 200
MEASURES = ("MMD in the features", "true MMD", "x", "x²", "x³", "sin |x|")
_RANDOM_SUBSETS = 100


class Trial(NamedTuple):
    """What one mixture gives; measures are in the order of MEASURES.

    curves: for "printed" and "printed tree" Algorithm 2 to the letter, with the paper's features, for "exact" and "tree" the
    package's stream, for "second look" what SuperSampler shows with exact search, for "all" the data so far, each an array
    (n x measure). ends: measures of what there is only one of, at the end. kernel_error: the
    largest error of the exact embedding's kernel values.
    """

    curves: dict[str, Floats]
    ends: dict[str, Floats]
    comparisons: dict[str, float]
    kernel_error: float


class ExactEmbedding:
    """The mean embedding for a Gaussian kernel in the plane, without random features.

    exp(-t^2 / 2) = sum_k w_k cos(k h t), the trapezoidal rule for its Fourier integral, errs by less than 1e-10 for |t| <= T
    once 2 pi / h >= T + 7 and the sum reaches k h = 7. The kernel is a product over the two axes, so the mean of its features
    is one product of two n x q matrices: MMD by the exact kernel between N and M points for O(N q^2), not O(N^2).
    """

    def __init__(self, bandwidth: float, points: Floats) -> None:
        reach = float(np.ptp(points, axis=0).max()) / bandwidth
        step = 2.0 * np.pi / (reach + 7.0)
        self.frequencies = step * np.arange(np.ceil(7.0 / step) + 1.0)
        self.roots = np.sqrt(step / np.sqrt(2.0 * np.pi) * np.exp(-0.5 * self.frequencies**2))
        self.roots[1:] *= np.sqrt(2.0)
        self.bandwidth = bandwidth

    def mean(self, points: Floats) -> Floats:
        """Return the mean features of some points; squared differences sum to MMD^2."""
        total: Floats = np.zeros((2 * self.roots.size, 2 * self.roots.size))
        for start in range(0, len(points), 10_000):
            left, right = (self._waves(column) for column in points[start : start + 10_000].T)
            total += left.T @ right
        return total / len(points)

    def _waves(self, values: Floats) -> Floats:
        angles = values[:, None] / self.bandwidth * self.frequencies
        return np.hstack([self.roots * np.cos(angles), self.roots * np.sin(angles)])


class Judge:
    """All measures of a set of points against the end of the stream and the truth of the mixture."""

    def __init__(self, mixture: Mixture, data: Floats, phi: ss.features.FeatureMap, bandwidth: float) -> None:
        self.phi = phi
        self.exact = ExactEmbedding(bandwidth, data)
        self.truth = mixture.expectations()
        self.goals = (self._features(data), self.exact.mean(data))

    def __call__(self, chosen: Points) -> Floats:
        """Return the measures, in the order of MEASURES."""
        points: Floats = chosen.astype(np.float64, copy=False)
        found = (self._features(points), self.exact.mean(points))
        distances = [float(np.linalg.norm(here - goal)) for here, goal in zip(found, self.goals, strict=True)]
        errors = [float(np.sqrt(np.mean((a - b) ** 2))) for a, b in zip(averages(points), self.truth, strict=True)]
        return np.array([*distances, *errors])

    def _features(self, points: Floats) -> Floats:
        return np.asarray(self.phi.transform(points).mean(axis=0, dtype=np.float64))


def mixture_stream(seed: int, n: int) -> tuple[Mixture, Floats]:
    """Return the mixture of a trial and its stream."""
    rng = np.random.default_rng([1, seed])
    mixture = random_mixture(rng)
    return mixture, mixture.draw(n, rng)


def fourier_map(data: Floats, seed: int, size: int = M, form: Literal["paired", "phase"] = "paired") -> ss.features.Fourier:
    """Return D random waves with the paper's bandwidth, the median distance of the first M points; "phase" is its own form.

    SuperSampler(features="fourier") makes the same map from its first 5,000 rows; one of our own is the same at all n.
    """
    kernel = ss.kernels.Gaussian(ss.kernels.median_distance(data[:size]))
    return ss.features.Fourier(kernel, D, form=form, origin=data[:size].mean(axis=0), random_state=seed)


def trial(seed: int, places: Sequence[int]) -> Trial:
    """Run all methods on one mixture, reading them at `places`, the last of which is the length N of the stream."""
    mixture, data = mixture_stream(seed, places[-1])
    phi = fourier_map(data, seed)
    judge = Judge(mixture, data, phi, ss.kernels.median_distance(data[:M]))
    curves: dict[str, list[Floats]] = {name: [] for name in ("exact", "tree", "second look")}
    waves = fourier_map(data, seed, form="phase")
    printed = Judge(mixture, data, waves, ss.kernels.median_distance(data[:M]))
    rows = waves.transform(data).astype(np.float64)
    for name, tree in (("printed", None), ("printed tree", (seed, PERIODS["100 accepted"]))):
        curves[name] = [printed(data[held]) for held in printed_points(rows, M, tree, places)]
    ends: dict[str, Floats] = {}
    comparisons: dict[str, float] = {}
    searches: tuple[Literal["exact", "tree"], ...] = ("exact", "tree")
    for search in searches:
        sampler = ss.SuperSampler(M, features=phi, search=search, random_state=seed)
        for start, stop in zip((0, *places[:-1]), places, strict=True):
            sampler.partial_fit(data[start:stop])
            curves[search].append(judge(drained(sampler).reservoir.rows.points))
            if search == "exact":
                curves["second look"].append(judge(sampler.prototypes_))
        if search == "tree":
            ends["tree, second look"] = judge(sampler.prototypes_)
        counts = sampler.comparisons_
        comparisons[search] = float(counts @ np.arange(counts.size) / counts.sum())
    ends["auto"] = judge(ss.SuperSampler(M, kernel=phi.kernel, random_state=seed).fit(data).prototypes_)
    ends["herding"] = judge(data[herding(phi.transform(data), M)])
    rng = np.random.default_rng([2, seed])
    drawn = np.array([judge(data[rng.choice(len(data), M, replace=False)]) for _ in range(_RANDOM_SUBSETS)])
    ends["random"] = np.concatenate([drawn[:, :2].mean(axis=0), np.median(drawn[:, 2:], axis=0)])
    few = data[:50]
    spectrum = np.array([judge.exact.mean(point[None]).ravel() for point in few])
    error = float(np.abs(spectrum @ spectrum.T - phi.kernel(few)).max())
    every = {name: np.array(values) for name, values in curves.items()}
    every["all"] = np.array([judge(data[:n]) for n in places])
    return Trial(every, ends, comparisons, error)


def herding(features: npt.NDArray[np.float32], count: int) -> npt.NDArray[np.int64]:
    """Choose rows by kernel herding against the mean of all (Chen et al. 2010): x = argmax w.phi(x), then w += mu - phi(x)."""
    mean = features.mean(axis=0, dtype=np.float64)
    pull, chosen = mean.copy(), np.empty(count, dtype=np.int64)
    for place in range(count):
        chosen[place] = np.argmax(features @ pull.astype(np.float32))
        pull += mean - features[chosen[place]]
    return chosen
