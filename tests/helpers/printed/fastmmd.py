"""Zhao and Meng (2015), *FastMMD*: equation 1, appendix A, Algorithm 1, circular discrepancy, bounds of the theorems."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def mmd_1(gram: Floats, m: int) -> float:
    """Return the biased MMD^2 of equation 1, from the kernel matrix of m rows and the rest stacked."""
    n = len(gram) - m
    a = [1.0 / m] * m + [-1.0 / n] * n
    return float(sum(a[i] * a[j] * gram[i, j] for i in range(m + n) for j in range(m + n)))


def mmd_u(gram: Floats, m: int) -> float:
    """Return the unbiased MMD^2 of appendix A."""
    n = len(gram) - m
    one = sum(gram[i, j] for i in range(m) for j in range(m) if j != i) / (m * (m - 1))
    two = sum(gram[i, j] for i in range(m, m + n) for j in range(m, m + n) if j != i) / (n * (n - 1))
    return float(one + two - 2.0 / (m * n) * sum(gram[i, j] for i in range(m) for j in range(m, m + n)))


def sinusoid(angles: Floats) -> tuple[float, float]:
    """Return amplitude and phase of mean_i sin(x - angle_i)."""
    s, c = float(np.mean(np.sin(angles))), float(np.mean(np.cos(angles)))
    return float(np.hypot(s, c)), float(np.arctan2(s, c))


def algorithm_1(x: Floats, y: Floats, frequencies: Floats, k0: float) -> tuple[float, float]:
    """Return the biased and the unbiased MMD^2 of Algorithm 1, for the frequencies omega_1, ..., omega_L in rows."""
    m, n, count = len(x), len(y), len(frequencies)
    squares = ones = twos = 0.0
    for omega in frequencies:
        a1, theta1 = sinusoid(x @ omega)
        a2, theta2 = sinusoid(y @ omega)
        squares += a1**2 + a2**2 - 2.0 * a1 * a2 * np.cos(theta1 - theta2)
        ones += a1**2
        twos += a2**2
    biased = k0 / count * squares
    unbiased = k0 / count * (squares + ones / (m - 1) + twos / (n - 1)) - (m + n - 2) / ((m - 1) * (n - 1)) * k0
    return float(biased), float(unbiased)


def circular_8(x: Floats, y: Floats, grid: int = 5_000) -> float:
    """Return sup over angles of E sin(angle - x) - E sin(angle - y), on a grid (Claim 5, equation 8)."""
    best = -np.inf
    for angle in np.linspace(0.0, 2.0 * np.pi, grid, endpoint=False):
        best = max(best, float(np.mean(np.sin(angle - x)) - np.mean(np.sin(angle - y))))
    return best


def circular_9(x: Floats, y: Floats) -> float:
    """Return the circular discrepancy as a double sum of cosines (equation 9)."""
    angles = np.concatenate([x, y])
    a = np.concatenate([np.full(len(x), 1.0 / len(x)), np.full(len(y), -1.0 / len(y))])
    return float(np.sqrt(sum(a[i] * a[j] * np.cos(angles[i] - angles[j]) for i in range(len(a)) for j in range(len(a)))))


def ensemble_10(x: Floats, y: Floats, frequencies: Floats) -> float:
    """Return the root mean square over frequencies of the circular discrepancy of the wrapped projections (Definition 3)."""
    wrapped = [circular_9(np.mod(x @ omega, 2 * np.pi), np.mod(y @ omega, 2 * np.pi)) ** 2 for omega in frequencies]
    return float(np.sqrt(np.mean(wrapped)))


def theorem_3(error: float, frequencies: int, d: int, spread: float, diameter: float) -> float:
    """Return the bound on the probability of an error of MMD^2; `spread` is sigma_p, the root of E omega' omega."""
    return float(2.0**12 * (spread * diameter / error) ** 2 * np.exp(-frequencies * error**2 / (64.0 * (d + 2))))


def theorem_4(delta: float, d: int, diameter: float, bandwidth: float) -> float:
    """Return the error of MMD^2 that one block of Fastfood exceeds with probability at most 2 delta."""
    return float(16.0 * diameter / bandwidth * np.sqrt(np.log(2.0 / delta) * np.log(2.0 * d / delta) / d))
