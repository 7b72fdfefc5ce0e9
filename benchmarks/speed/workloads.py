"""The fixed data that every benchmark draws from: two Gaussian samples, and Gaussian mixtures in three orders."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from supersample._typing import Floats, Indices

__all__ = ["BANDWIDTH", "ORDERS", "D", "Order", "arranged", "clustered_directions", "mixture", "two_samples"]

D = 16
#: About the median distance between rows of a standard normal sample in D dimensions.
BANDWIDTH = 5.5

Order = Literal["shuffled", "by coordinate", "by cluster"]
ORDERS: tuple[Order, ...] = ("shuffled", "by coordinate", "by cluster")


def two_samples(n: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return n + n standard normal float32 rows in 16 columns, those of the second sample moved by 0.05 in each column."""
    generator = np.random.default_rng(20_240)
    x, y = generator.standard_normal((2, n, D), dtype=np.float32)
    return x, y + np.float32(0.05)


def mixture(seed: int, n: int, width: int, components: int = 10) -> tuple[Floats, Indices]:
    """Return n rows of a random Gaussian mixture, shuffled, and which component each came from.

    Weights are Dirichlet(3), centres normal with standard deviation 3, and covariances those of a random linear map.
    """
    generator = np.random.default_rng([width, seed])
    shares = generator.dirichlet(np.full(components, 3.0))
    centres = 3.0 * generator.standard_normal((components, width))
    maps = generator.standard_normal((components, width, width)) / np.sqrt(width) + 0.3 * np.eye(width)
    labels = generator.choice(components, n, p=shares)
    points = generator.standard_normal((n, width))
    for component in range(components):
        mine = labels == component
        points[mine] = centres[component] + points[mine] @ maps[component].T
    return points, labels


def arranged(points: Floats, labels: Indices, order: Order) -> Floats:
    """Return the rows as they are, by their first coordinate, or cluster after cluster."""
    if order == "shuffled":
        return points
    keys = points[:, 0] if order == "by coordinate" else labels.astype(np.float64)
    return np.asarray(points[np.argsort(keys, kind="stable")])


def clustered_directions(seed: int, n: int, width: int, clusters: int = 100) -> npt.NDArray[np.float32]:
    """Return n unit vectors around random directions, like embeddings of texts: shares are Dirichlet(1).

    Noise has a spectrum that falls with the square root, and as large a norm as the direction.
    """
    generator = np.random.default_rng([width, seed, clusters])
    centres = generator.standard_normal((clusters, width), dtype=np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    scales = 1.0 / np.sqrt(1.0 + np.arange(width))
    points = generator.standard_normal((n, width), dtype=np.float32)
    points *= (scales / np.linalg.norm(scales)).astype(np.float32)
    points += centres[generator.choice(clusters, n, p=generator.dirichlet(np.ones(clusters)))]
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points
