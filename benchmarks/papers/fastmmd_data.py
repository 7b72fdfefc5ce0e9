"""The synthetic data of the FastMMD paper, section 4."""

import numpy as np
import numpy.typing as npt

__all__ = ["blobs", "boxes", "mixture", "rings"]

Floats = npt.NDArray[np.float64]

#: The paper does not say how far apart its blobs are; 5 is the usual choice in the papers that it takes the data from.
_SPACING = 5.0


def blobs(n: int, ratio: float, rng: np.random.Generator) -> Floats:
    """Draw n points from a 5 x 5 grid of Gaussians with covariance eigenvalues `ratio` and 1, stretched along the diagonal.

    A ratio of 1 is the paper's P, a larger one its Q (section 4.1, figure 3).
    """
    centres = _SPACING * rng.integers(0, 5, size=(n, 2))
    along, across = rng.standard_normal((2, n)) * np.sqrt([[ratio], [1.0]])
    turned: Floats = np.column_stack([along - across, along + across]) / np.sqrt(2.0)
    return centres + turned


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
