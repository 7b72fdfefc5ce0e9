"""The mixture of twenty Gaussians, points chosen from pools of it, and random functions with their integrals."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import supersample as ss

__all__ = ["KERNEL", "STYLE", "Bumps", "Pool", "choose", "in_model", "mixture", "narrow", "one_width", "smooth", "weights_of"]

Floats = npt.NDArray[np.float64]

#: The kernel of Chen, Welling and Smola (2010), which the paper takes over.
KERNEL = ss.kernels.Gaussian(0.5)

#: How each method is drawn.
STYLE: dict[str, dict[str, Any]] = {
    "random": {"color": "#CC79A7", "linestyle": ":", "label": "independent draws"},
    "herding": {"color": "#0072B2", "linestyle": "--", "label": "herding"},
    "herding, BQ weights": {"color": "#009E73", "linestyle": "-.", "label": "herding, BQ weights"},
    "SBQ": {"color": "#D55E00", "linestyle": "-", "label": "SBQ"},
}


class Bumps(NamedTuple):
    """f(x) = sum_i heights_i exp(-(x - centres_i)^T shapes_i^-1 (x - centres_i) / 2)."""

    heights: Floats
    centres: Floats
    shapes: Floats

    def __call__(self, points: Floats) -> Floats:
        """Return f at each row."""
        differences = points[:, None] - self.centres
        return np.asarray(np.exp(-0.5 * _forms(differences, self.shapes)) @ self.heights)

    def integral(self, measure: ss.measures.GaussianMixture) -> float:
        """Return the mean of f under a mixture: each bump and component give a Gaussian again."""
        total = 0.0
        for weight, mean, covariance in zip(measure.weights, measure.means, measure.covariances, strict=True):
            summed = self.shapes + covariance
            scale = np.sqrt(np.linalg.det(self.shapes) / np.linalg.det(summed))
            values = np.exp(-0.5 * _forms((mean - self.centres)[None], summed))[0]
            total += float(weight * (self.heights * scale) @ values)
        return total


def mixture(data: Path) -> ss.measures.GaussianMixture:
    """Read the original mixture of the two papers."""
    stored = json.loads((data / "herding_mixture.json").read_text(encoding="utf-8"))
    return ss.measures.GaussianMixture(stored["weights"], stored["means"], stored["covariances"])


class Pool(NamedTuple):
    """Candidates, the points chosen from them by each method, and their MMD paths."""

    candidates: Floats
    points: dict[str, Floats]
    paths: dict[str, Floats]


def choose(measure: ss.measures.GaussianMixture, largest: int, size: int, seed: int) -> Pool:
    """Draw a pool and choose from it by every method."""
    pool = measure.sample(size, np.random.SeedSequence([1, seed]))
    herded = ss.herd(pool, largest, target=measure, kernel=KERNEL)
    again = ss.herd(pool, largest, target=measure, kernel=KERNEL, resume=herded, weighting="free")
    greedy = ss.sbq(pool, largest, target=measure, kernel=KERNEL)
    some = pool[:largest]
    gram, z = KERNEL(some), measure.mean_embedding(KERNEL, some)
    counts = np.arange(1, largest + 1)
    within = np.array([gram[:n, :n].sum() for n in counts]) / counts**2
    random = np.sqrt(measure.energy(KERNEL) - 2.0 * np.cumsum(z) / counts + within)
    points = {"random": some, "herding": herded.points, "herding, BQ weights": herded.points, "SBQ": greedy.points}
    paths = {"random": random, "herding": herded.mmd, "herding, BQ weights": again.mmd, "SBQ": greedy.mmd}
    return Pool(pool, {name: np.asarray(each, dtype=np.float64) for name, each in points.items()}, paths)


def weights_of(name: str, measure: ss.measures.GaussianMixture, points: Floats) -> Floats:
    """Return the weights of a method for these points."""
    kind: Any = "free" if name in ("SBQ", "herding, BQ weights") else "uniform"
    return ss.quadrature_weights(points, target=measure, kernel=KERNEL, kind=kind)


def in_model(measure: ss.measures.GaussianMixture, seed: int) -> Bumps:
    """Draw ten kernel functions around draws of the measure, of norm one together (eq. 38 and 39)."""
    rng = np.random.default_rng([38, seed])
    centres = measure.sample(10, rng)
    heights = rng.standard_normal(10)
    heights /= np.sqrt(heights @ KERNEL(centres) @ heights)
    width = float(np.asarray(KERNEL.bandwidth))
    return Bumps(heights, centres, np.tile(width**2 * np.eye(2), (10, 1, 1)))


def narrow(measure: ss.measures.GaussianMixture, seed: int) -> Bumps:
    """Draw bumps and ridges with axes from a fifth of the kernel's width to six times it, log-uniform (eq. 40)."""
    return _out_of_model(measure, seed, 0.1)


def smooth(measure: ss.measures.GaussianMixture, seed: int) -> Bumps:
    """Draw bumps and ridges with axes from the kernel's own width to six times it, log-uniform (eq. 40)."""
    return _out_of_model(measure, seed, 0.5)


def _out_of_model(measure: ss.measures.GaussianMixture, seed: int, least: float) -> Bumps:
    """Draw ten bumps and ridges in any direction, of normal heights. The paper says "broad distributions" and no more."""
    rng = np.random.default_rng([40, seed])
    centres = measure.sample(10, rng)
    lengths = np.exp(rng.uniform(np.log(least), np.log(3.0), (10, 2)))
    angles = rng.uniform(0.0, np.pi, 10)
    turns = np.stack([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]).transpose(2, 0, 1)
    shapes = turns @ (lengths[:, :, None] ** 2 * turns.transpose(0, 2, 1))
    return Bumps(rng.standard_normal(10), centres, shapes)


def one_width(width: float, measure: ss.measures.GaussianMixture, seed: int) -> Bumps:
    """Draw ten round bumps of one width."""
    rng = np.random.default_rng([41, seed])
    return Bumps(rng.standard_normal(10), measure.sample(10, rng), np.tile(width**2 * np.eye(2), (10, 1, 1)))


def _forms(differences: Floats, shapes: Floats) -> Floats:
    """Return (x - c_i)^T S_i^-1 (x - c_i) for each row and bump."""
    solved = np.linalg.solve(shapes, differences[..., None])[..., 0]
    return np.asarray((differences * solved).sum(axis=-1))
