"""The result of a selection from candidates in memory."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supersample._notebook import notebook_html
from supersample._typing import Floats, Indices, Points, PointsLike
from supersample.device.arrays import home_of
from supersample.errors import InputError
from supersample.kernels import Kernel
from supersample.selection.batch.candidates import TargetLike
from supersample.selection.batch.rates import GreedyBound, greedy_bound

__all__ = ["Critique", "Selection"]


@dataclass(frozen=True)
class Selection:
    """Selected candidates in the order of selection.

    All arrays are of the kind of the candidates and lie where they do.

    indices: rows of the candidates; points: those rows; weights: the weight of each in averages.
    mmd: the path, MMD to the target with the first one, two, ... points; empty if the selection does not minimise it. It is
    computed by the exact kernel where E of the target is affordable. Otherwise it is an estimate by held-out features or rows
    of the target; the note says so and gives its standard error. The estimate of MMD^2 is unbiased, except by landmark
    features: these underestimate it and have no standard error.
    note: remarks for the reader, such as why there are fewer points than asked for, or what replaced the target.
    kernel: the kernel with its bandwidth, so that a later call can use the same; None for a selection made by hand.

    >>> import numpy as np
    >>> import supersample as ss
    >>> found = ss.herd(np.arange(9.0)[:, None], 3, kernel=ss.kernels.Gaussian(2.0))
    >>> len(found), int(found.indices[0]), float(found.weights.sum())
    (3, 4, 1.0)
    """

    indices: Indices
    points: Points
    weights: Floats
    mmd: Floats
    note: str = ""
    kernel: Kernel | None = None

    def __len__(self) -> int:
        """Count the points."""
        return int(self.indices.shape[0])

    def bound(self, atoms: PointsLike, *, target: TargetLike) -> GreedyBound:
        """Return the bound on the MMD that greedy selection guarantees, beside the best weights on some `atoms`.

        For `wkh` and `sbq` with free weights, and any r atoms among the candidates, the squared MMD with n points is at most
        (1 - e) g + e E, where g is the squared MMD of the atoms with their best weights, E = E k(x, x') of the target and
        e = exp(-n m / (r M)), with m and M the extreme eigenvalues of the kernel matrix of atoms and points (Khanna, Hodgkinson
        and Mahoney 2021, Theorem 1; with g = 0 Theorem 2). m is measured here. It is small where points are close to each
        other, and the bound then hardly below sqrt(E): it explains a rate, and plans nothing. It says nothing of other weights.

        atoms: rows among the candidates, such as those of a target with few points, or the best choice known. target: that of
        the selection. The kernel must have constant k(x, x) (`ss.kernels.Normalized`). O((m + r)^3) time.

        The result has `mmd`, the bound with the first one, two, ... points, `atoms`, the square root of g, and `least` and
        `most`, which are m and M.

        >>> import numpy as np
        >>> import supersample as ss
        >>> grid, atoms = np.arange(20.0)[:, None], [[3.0], [7.0], [15.0]]
        >>> found = ss.sbq(grid, 3, target=atoms, kernel=ss.kernels.Gaussian(1.0))
        >>> promised = found.bound(atoms, target=atoms)
        >>> found.mmd.round(3), promised.mmd.round(3), promised.atoms
        (array([0.471, 0.333, 0.   ]), array([0.489, 0.414, 0.35 ]), 0.0)
        """
        if self.kernel is None:
            raise InputError("bound needs the kernel of the selection, and this one was made by hand; select with sbq or wkh")
        home = home_of(points=self.points)
        return greedy_bound(self.points if home is None else home.floats(self.points), self.kernel, atoms, target)

    def on_host(self) -> "Selection":
        """Return the same selection as NumPy arrays, wherever it lies."""
        indices = np.asarray(_on_host(self.indices), dtype=np.int64)
        points, weights, path = (_on_host(each) for each in (self.points, self.weights, self.mmd))
        return replace(self, indices=indices, points=points, weights=weights, mmd=path)

    def __str__(self) -> str:
        """Return the number of points, their MMD to the target and their weights in words."""
        lines = [f"{len(self):,} chosen {'point' if len(self) == 1 else 'points'}"]
        weights, path = (_on_host(each) for each in (self.weights, self.mmd))
        if path.size:
            lines.append(f"  MMD      {path[-1]:.4g} with all of them, {path[0]:.4g} with the first")
        if len(self):
            lines.append(f"  weights  {weights.min():.3g} to {weights.max():.3g}, sum {weights.sum():.4g}")
        lines += [f"  kernel   {self.kernel!r}"] if self.kernel else []
        lines += [f"  note     {self.note}"] if self.note else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the numbers, and the first points."""
        return notebook_html(self)


def _on_host(values: Any) -> Floats:
    home = home_of(values=values)
    return np.asarray(values) if home is None else home.floats(values)


@dataclass(frozen=True)
class Critique:
    """Prototypes, and the criticisms that show what they miss.

    criticisms.weights: the share of the data that is nearer to each criticism than to any prototype.

    witness: E k(x, .) - mean_s k(s, .) at each criticism: positive where the prototypes have too little mass, negative where
    they have too much.

    nearest: for each criticism, the place of the nearest prototype (by the kernel) among the prototypes.

    >>> import numpy as np
    >>> import supersample as ss
    >>> x = np.repeat([0.0, 5.0, 10.0], [8, 6, 4])[:, None]
    >>> found = ss.critic(x, 2, 1, kernel=ss.kernels.Gaussian(1.0))
    >>> found.prototypes.points[:, 0], found.criticisms.points[:, 0], found.witness.round(2), found.nearest
    (array([0., 5.]), array([10.]), array([0.22]), array([1]))
    """

    prototypes: Selection
    criticisms: Selection
    witness: Floats
    nearest: Indices

    def __str__(self) -> str:
        """Return the numbers of prototypes and criticisms in words, and where the prototypes have too little or too much."""
        lines = [f"Prototypes: {self.prototypes}", f"Criticisms: {len(self.criticisms):,}"]
        if len(self.criticisms):
            little = int((_on_host(self.witness) >= 0).sum())
            lines[-1] += f", where the prototypes have too little ({little:,}) or too much ({len(self.criticisms) - little:,})"
        return "\n".join(lines)
