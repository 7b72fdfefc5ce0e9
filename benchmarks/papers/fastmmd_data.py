"""The synthetic data of the FastMMD paper, section 4."""

import numpy as np
import numpy.typing as npt

import supersample as ss

__all__ = ["best_bandwidth", "blobs", "blobs_measure", "boxes", "mixture", "rings"]

Floats = npt.NDArray[np.float64]

#: The paper does not say how far apart its blobs are, nor what the smaller eigenvalue of Q is. With a distance of 5 and
#: eigenvalues (ratio, 1) the MMD is largest at a bandwidth of 1, the one that the paper reports (`best_bandwidth`). The tests
#: have the same blobs (tests/helpers/zoo.py).
_SPACING = 5.0


def blobs(n: int, ratio: float, rng: np.random.Generator, *, diagonal: bool = True) -> Floats:
    """Draw n points from a 5 x 5 grid of Gaussians with covariance eigenvalues `ratio` and 1, stretched along the diagonal.

    A ratio of 1 is the paper's P, a larger one its Q (section 4.1, figure 3). diagonal=False stretches them along an axis.
    """
    centres = _SPACING * rng.integers(0, 5, size=(n, 2))
    along, across = rng.standard_normal((2, n)) * np.sqrt([[ratio], [1.0]])
    straight: Floats = np.column_stack([along, across])
    turned: Floats = np.column_stack([along - across, along + across]) / np.sqrt(2.0)
    return centres + (turned if diagonal else straight)


def blobs_measure(ratio: float, spacing: float = _SPACING, least: float = 1.0) -> ss.measures.GaussianMixture:
    """Return the distribution of the blobs, with covariance eigenvalues `ratio` and `least`."""
    centres = spacing * np.array([[i, j] for i in range(5) for j in range(5)], dtype=np.float64)
    turn = np.array([[1.0, -1.0], [1.0, 1.0]]) / np.sqrt(2.0)
    shape = turn @ np.diag([ratio, least]) @ turn.T
    return ss.measures.GaussianMixture(np.ones(25), centres, np.tile(shape, (25, 1, 1)))


def best_bandwidth(left: ss.measures.GaussianMixture, right: ss.measures.GaussianMixture, bandwidths: Floats) -> float:
    """Return the bandwidth with the largest MMD between two mixtures of equal weights, in closed form."""
    both = ss.measures.GaussianMixture(
        np.concatenate([left.weights, right.weights]),
        np.concatenate([left.means, right.means]),
        np.concatenate([left.covariances, right.covariances]),
    )
    kernels = [ss.kernels.Gaussian(float(width)) for width in bandwidths]
    # |p - q|^2 = 2 |p|^2 + 2 |q|^2 - 4 |(p + q) / 2|^2
    squares = [2.0 * left.energy(each) + 2.0 * right.energy(each) - 4.0 * both.energy(each) for each in kernels]
    return float(bandwidths[int(np.argmax(squares))])


def mixture(n: int, ratio: float, width: int, rng: np.random.Generator) -> Floats:
    """Draw n points from 25 Gaussians in `width` dimensions, the first half of them stretched to variance `ratio`."""
    if width == 2:
        return blobs(n, ratio, rng)
    centres = 2.0 * np.random.default_rng(width).standard_normal((25, width))
    spread = np.sqrt(np.where(np.arange(width) < width // 2, ratio, 1.0))
    return centres[rng.integers(0, 25, size=n)] + spread * rng.standard_normal((n, width))


def rings(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw n points of the square [-5, 5]^2 inside the ring 1 <= |x|^2 <= 16, and n outside it (section 4.2)."""
    inside: Floats = np.empty((0, 2))
    outside: Floats = np.empty((0, 2))
    while min(len(inside), len(outside)) < n:
        points = rng.uniform(-5.0, 5.0, size=(4 * n, 2))
        squares = np.einsum("ij,ij->i", points, points)
        within = (squares >= 1.0) & (squares <= 16.0)
        inside = np.concatenate([inside, points[within]])
        outside = np.concatenate([outside, points[~within]])
    return inside[:n], outside[:n]


def boxes(n: int, width: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw n points uniformly from [0, 0.95]^width and n from [0.95, 1]^width (section 4.3)."""
    return rng.uniform(0.0, 0.95, size=(n, width)), rng.uniform(0.95, 1.0, size=(n, width))
