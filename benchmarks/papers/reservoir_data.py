"""The mixtures of Gaussians of the reservoir paper, section 5.1, with what is known of them in closed form."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["FUNCTIONS", "Mixture", "averages", "random_mixture"]

Floats = npt.NDArray[np.float64]

#: The test functions of figure 3 (Chen et al. 2010); powers are taken of each coordinate.
FUNCTIONS = ("x", "x²", "x³", "sin |x|")


@dataclass(frozen=True)
class Mixture:
    """Gaussians in the plane; roots[c] is a square root of the covariance of component c."""

    weights: Floats
    means: Floats
    roots: Floats

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw n points."""
        component = rng.choice(self.weights.size, size=n, p=self.weights)
        spread: Floats = np.einsum("nij,nj->ni", self.roots[component], rng.standard_normal((n, 2)))
        return self.means[component] + spread

    def density(self, points: Floats) -> Floats:
        """Return the density at each point."""
        total: Floats = np.zeros(len(points))
        for weight, mean, root in zip(self.weights, self.means, self.roots, strict=True):
            standard = (points - mean) @ np.linalg.inv(root).T
            total += weight * np.exp(-0.5 * np.sum(standard**2, axis=1)) / (2.0 * np.pi * abs(np.linalg.det(root)))
        return total

    def grid(self, count: int) -> tuple[Floats, Floats, Floats]:
        """Return the coordinates of a count x count grid over all but a tail of 1e-9, and the density on it (y x x)."""
        reach = 6.0 * np.sqrt(np.sum(self.roots**2, axis=2))
        low, high = (self.means - reach).min(axis=0), (self.means + reach).max(axis=0)
        x, y = np.linspace(low, high, count).T
        points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        return x, y, self.density(points).reshape(count, count)

    def expectations(self) -> list[Floats]:
        """Return the expectations of the test functions: powers in closed form, the sine by quadrature on a grid."""
        variances = np.sum(self.roots**2, axis=2)
        x, y, density = self.grid(1000)
        sine = np.sin(np.hypot(*np.meshgrid(x, y)))
        return [
            self.weights @ self.means,
            self.weights @ (self.means**2 + variances),
            self.weights @ (self.means**3 + 3.0 * self.means * variances),
            np.array([np.sum(sine * density) * (x[1] - x[0]) * (y[1] - y[0])]),
        ]


def averages(points: Floats) -> list[Floats]:
    """Return the averages of the test functions over some points."""
    powers = [np.mean(points**power, axis=0) for power in (1, 2, 3)]
    return [*powers, np.array([np.mean(np.sin(np.hypot(points[:, 0], points[:, 1])))])]


def random_mixture(rng: np.random.Generator) -> Mixture:
    """Draw a mixture of ten Gaussians; the paper does not say how its own were drawn."""
    angles = rng.uniform(0.0, np.pi, 10)
    turns = np.stack([np.cos(angles), -np.sin(angles), np.sin(angles), np.cos(angles)], axis=1).reshape(10, 2, 2)
    roots = turns * rng.uniform(0.4, 1.2, (10, 1, 2))
    return Mixture(rng.dirichlet(np.full(10, 5.0)), rng.uniform(-5.0, 5.0, (10, 2)), roots)
