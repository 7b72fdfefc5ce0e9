"""Mixtures of Gaussians; their embeddings under the Gaussian kernel are again mixtures of Gaussians."""

import numpy as np
import numpy.typing as npt
from scipy import linalg

from supersample._random import Seed
from supersample._typing import Floats, PointsLike
from supersample._validation import check_points, check_weights, shares
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.kernels import Gaussian, Kernel
from supersample.measures.base import Measure
from supersample.measures.exponential import decays, normal_mean

__all__ = ["GaussianMixture"]


class GaussianMixture(Measure):
    """A mixture of Gaussians, sum_c weights_c N(means_c, covariances_c).

    Gaussian kernel of width g (a number or one a column, G = diag(g^2)):
    z(y) = sum_c a_c |G|^1/2 |S_c + G|^-1/2 exp(-(y - m_c)^T (S_c + G)^-1 (y - m_c) / 2), and E the same with S_c + S_c' + G
    between the means, since x - x' is Gaussian too. Laplacian kernel, and Matern kernels in one dimension: the mean of a
    one-dimensional kernel under N(m, s^2), as a product over the columns, where the covariances are diagonal.
    O(n C d^2) for C components.

    weights need not sum to one. covariances: C matrices d x d; they must be positive definite.

    >>> from supersample.kernels import Gaussian
    >>> measure = GaussianMixture([1.0], [[0.0]], [[[1.0]]])
    >>> measure.mean_embedding(Gaussian(1.0), [[0.0]]).round(4)
    array([0.7071])
    """

    def __init__(self, weights: npt.ArrayLike, means: PointsLike, covariances: npt.ArrayLike) -> None:
        """Fix weights, means and covariances."""
        self.means: Floats = check_points(means, "means").astype(np.float64)
        count, width = self.means.shape
        self.weights = shares(check_weights(weights, count, "weights"), count)
        try:
            matrices = np.array(covariances, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputTypeError(
                f"covariances must hold one {width} x {width} matrix of numbers for each of the {count} means: {error}"
            ) from error
        if matrices.shape != (count, width, width):
            raise MismatchError(
                f"covariances must hold one {width} x {width} matrix for each of the {count} means, got shape {matrices.shape}"
            )
        if not bool(np.isfinite(matrices).all()):
            raise InputError("covariances must be finite, got NaN or infinity")
        self.covariances: Floats = matrices
        self._roots = np.stack([_root(matrix, place) for place, matrix in enumerate(matrices)])
        off_diagonal = matrices * (1.0 - np.eye(width))
        self._diagonal = not bool(off_diagonal.any())

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return int(self.means.shape[1])

    def _draw(self, n: int, seed: Seed) -> Floats:
        generator = seed.generator()
        labels = generator.choice(self.weights.size, n, p=self.weights)
        normal = generator.standard_normal((n, self.dimension))
        return np.asarray(self.means[labels] + np.einsum("nij,nj->ni", self._roots[labels], normal))

    def _is_closed(self, kernel: Kernel) -> bool:
        if isinstance(kernel, Gaussian):
            return True
        return self._diagonal and decays(kernel, self.dimension) is not None

    def _embed(self, kernel: Kernel, rows: Floats) -> Floats:
        total = np.zeros(rows.shape[0])
        for weight, mean, covariance in zip(self.weights, self.means, self.covariances, strict=True):
            total += weight * self._mean(kernel, rows - mean, covariance)
        return total

    def _energy(self, kernel: Kernel) -> float:
        total = 0.0
        for i, j in zip(*np.triu_indices(self.weights.size), strict=True):
            share = self.weights[i] * self.weights[j] * (1.0 if i == j else 2.0)
            difference, covariance = self.means[i] - self.means[j], self.covariances[i] + self.covariances[j]
            total += float(share * self._mean(kernel, difference[None], covariance)[0])
        return total

    def _mean(self, kernel: Kernel, differences: Floats, covariance: Floats) -> Floats:
        """Return E k(u, 0) for u ~ N(difference, covariance), for each difference."""
        if isinstance(kernel, Gaussian):
            widths = np.broadcast_to(np.asarray(kernel.bandwidth, dtype=np.float64), (self.dimension,))
            root = np.linalg.cholesky(covariance + np.diag(widths**2))
            scaled = linalg.solve_triangular(root, differences.T, lower=True, check_finite=False)
            scale = float(np.exp(np.log(widths).sum() - np.log(np.diag(root)).sum()))
            return np.asarray(scale * np.exp(-0.5 * np.einsum("ij,ij->j", scaled, scaled)))
        value = np.ones(differences.shape[0])
        for column, decay in enumerate(decays(kernel, self.dimension) or []):
            value *= normal_mean(decay, differences[:, column], covariance[column, column])
        return value


def _root(matrix: Floats, place: int) -> Floats:
    if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0.0):
        raise InputError(f"covariances must be symmetric; number {place} is not")
    try:
        return np.asarray(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError as error:
        raise InputError(
            f"covariances must be positive definite; number {place} is not. Add a small number to its diagonal, or drop a "
            f"direction that has no spread"
        ) from error
