"""Paige, Sejdinovic and Wood (2016), *Super-Sampling with a Reservoir*: Algorithms 1 and 2, the tree, Theorem 1."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def algorithm_1(stream: Floats, m: int, rng: np.random.Generator) -> Floats:
    """Return the reservoir of "Algorithm R": row n takes the place j ~ Uniform{1, ..., n} if j <= m."""
    y = [stream[i] for i in range(m)]
    for n in range(m + 1, len(stream) + 1):
        j = int(rng.integers(1, n + 1))
        if j <= m:
            y[j - 1] = stream[n - 1]
    return np.array(y)


def features_8(x: Floats, frequencies: Floats, phases: Floats) -> Floats:
    """Return equation 8: sqrt(2 / D) cos(omega_d' x + b_d)."""
    return np.sqrt(2.0 / len(frequencies)) * np.cos(x @ frequencies.T + phases)


def algorithm_2(phi: Floats, m: int, weights: Floats | None = None, tree: "Tree | None" = None) -> tuple[list[int], list[int]]:
    """Return the rows in each place after a stream of features, and how many points each search compared (Algorithm 2).

    Without a tree the nearest neighbour of phi* is sought among all m + 1 points.
    """
    w = np.ones(len(phi)) if weights is None else weights
    y = list(range(m))
    total = float(np.sum(w[:m]))
    mu = sum(w[i] * phi[i] for i in range(m)) / total
    nu = sum(phi[i] for i in range(m)) / m
    if tree is not None:
        tree.build(phi[y])
    compared = []
    for n in range(m, len(phi)):
        mu = total / (total + w[n]) * mu + w[n] / (total + w[n]) * phi[n]  # equation 19
        total += float(w[n])
        target = phi[n] + m * (nu - mu)  # equation 23
        places = list(range(m)) if tree is None else tree.leaf_of(target)
        compared.append(len(places))
        j = nearest_24(phi[y], places, phi[n], target)
        if j is not None:
            nu = nu + (phi[n] - phi[y[j]]) / m
            y[j] = n
            if tree is not None:
                tree.replace(j, phi[n])
    return y, compared


def nearest_24(held: Floats, places: list[int], x: Floats, target: Floats) -> int | None:
    """Return the place whose feature vector is nearest to phi*, None if that of the new row is (equation 24)."""
    distances = [float(np.sum((held[j] - target) ** 2)) for j in places]
    if not places or min(distances) >= float(np.sum((x - target) ** 2)):
        return None
    return places[int(np.argmin(distances))]


class Tree:
    """The random projection tree of section 3.2.

    Each inner node has a random unit vector r and a split s, a uniform random quantile in [0.25, 0.75] of the projections at
    that node. The depth is that which leaves about 2 log2 M points a leaf (figure 2: M = 100, depth 3, 12.5 points). Directions
    are drawn once; every `period` accepted points the split points are computed again. The paper gives no period: "sufficiently
    rarely as to maintain amortized logarithmic cost". Without one the tree is never rebalanced.
    """

    def __init__(self, rng: np.random.Generator, period: int | None = None) -> None:
        self.rng, self.period = rng, period

    def build(self, phi: Floats) -> None:
        m, d = phi.shape
        self.phi = phi.copy()
        self.depth = max(0, round(np.log2(m / (2 * np.log2(m)))))
        inner = 2**self.depth - 1
        r = self.rng.standard_normal((inner, d))
        self.r = r / np.linalg.norm(r, axis=1, keepdims=True)
        self.rebalance()

    def rebalance(self) -> None:
        self.s = np.zeros(len(self.r))
        self.accepted = 0
        members = {0: list(range(len(self.phi)))}
        for node in range(len(self.r)):
            projected = self.phi[members[node]] @ self.r[node] if members[node] else np.zeros(1)
            self.s[node] = np.quantile(projected, self.rng.uniform(0.25, 0.75))
            right = self.phi[members[node]] @ self.r[node] - self.s[node] > 0
            members[2 * node + 1] = [j for j, each in zip(members[node], right, strict=True) if not each]
            members[2 * node + 2] = [j for j, each in zip(members[node], right, strict=True) if each]
        self.leaf = [self.leaf_number(each) for each in self.phi]

    def leaf_number(self, phi: Floats) -> int:
        """Return the leaf that a feature vector falls in: right where r' phi - s is positive (equation 25)."""
        node = 0
        for _ in range(self.depth):
            node = 2 * node + (2 if float(self.r[node] @ phi) - self.s[node] > 0 else 1)
        return node

    def leaf_of(self, target: Floats) -> list[int]:
        leaf = self.leaf_number(target)
        return [j for j, each in enumerate(self.leaf) if each == leaf]

    def replace(self, j: int, phi: Floats) -> None:
        self.phi[j] = phi
        self.leaf[j] = self.leaf_number(phi)
        self.accepted += 1
        if self.period is not None and self.accepted >= self.period:
            self.rebalance()


def theorem_1(mu: Floats, nu: Floats, delta: float) -> float:
    """Return the bound on MMD^2 that holds with probability 1 - delta."""
    return float(np.sqrt(128.0 * np.log(1.0 / delta) / len(mu)) + np.sum((mu - nu) ** 2))
