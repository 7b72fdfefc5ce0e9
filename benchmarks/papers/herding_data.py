"""The mixture of twenty Gaussians, and random functions inside and outside the space of a kernel with their integrals."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import supersample as ss

__all__ = ["KERNEL", "Bumps", "in_model", "mixture", "out_of_model"]

Floats = npt.NDArray[np.float64]

#: The kernel of Chen, Welling and Smola (2010), which the paper takes over.
KERNEL = ss.kernels.Gaussian(0.5)


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


def in_model(measure: ss.measures.GaussianMixture, seed: int) -> Bumps:
    """Draw ten kernel functions around draws of the measure, of norm one together (eq. 38 and 39)."""
    rng = np.random.default_rng([38, seed])
    centres = measure.sample(10, rng)
    heights = rng.standard_normal(10)
    heights /= np.sqrt(heights @ KERNEL(centres) @ heights)
    width = float(np.asarray(KERNEL.bandwidth))
    return Bumps(heights, centres, np.tile(width**2 * np.eye(2), (10, 1, 1)))


def out_of_model(measure: ss.measures.GaussianMixture, seed: int) -> Bumps:
    """Draw ten bumps and ridges of any shape (eq. 40): lengths of axes log-uniform from 0.1 to 3, any direction.

    The paper says "broad distributions" and no more.
    """
    rng = np.random.default_rng([40, seed])
    centres = measure.sample(10, rng)
    lengths = np.exp(rng.uniform(np.log(0.1), np.log(3.0), (10, 2)))
    angles = rng.uniform(0.0, np.pi, 10)
    turns = np.stack([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]).transpose(2, 0, 1)
    shapes = turns @ (lengths[:, :, None] ** 2 * turns.transpose(0, 2, 1))
    return Bumps(rng.standard_normal(10), centres, shapes)


def _forms(differences: Floats, shapes: Floats) -> Floats:
    """Return (x - c_i)^T S_i^-1 (x - c_i) for each row and bump."""
    solved = np.linalg.solve(shapes, differences[..., None])[..., 0]
    return np.asarray((differences * solved).sum(axis=-1))
