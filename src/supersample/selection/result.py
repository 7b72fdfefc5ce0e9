"""What a selection from candidates in memory returns."""

from dataclasses import dataclass

from supersample._typing import Floats, Indices, Points
from supersample.kernels import Kernel

__all__ = ["Critique", "Selection"]


@dataclass(frozen=True)
class Selection:
    """Chosen candidates in the order of choice.

    indices: rows of the candidates; points: those rows; weights: what each counts for in averages.
    mmd: the path, MMD to the target with the first one, two, ... points; empty where the choice does not aim at it. It is that
    of the exact kernel wherever E of the target is within reach; otherwise an estimate without bias in its square, by features
    or rows that took no part in the choice, and the note says so, with its standard error.
    note: what the reader should know: why there are fewer points than asked for, what stood in for the target.
    kernel: with its bandwidth, so that a later call can use the same; None where a selection was put together by hand.

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
        return int(self.indices.size)

    def __str__(self) -> str:
        """Say how many, how near to the target and with what weights."""
        lines = [f"{len(self):,} chosen {'point' if len(self) == 1 else 'points'}"]
        if self.mmd.size:
            lines.append(f"  MMD      {self.mmd[-1]:.4g} with all of them, {self.mmd[0]:.4g} with the first")
        if len(self):
            weights = self.weights
            lines.append(f"  weights  {weights.min():.3g} to {weights.max():.3g}, sum {weights.sum():.4g}")
        lines += [f"  kernel   {self.kernel!r}"] if self.kernel else []
        lines += [f"  note     {self.note}"] if self.note else []
        return "\n".join(lines)


@dataclass(frozen=True)
class Critique:
    """Prototypes, and the criticisms that say what they miss.

    criticisms.weights: the share of the data that is nearer to each criticism than to any prototype.

    witness: E k(x, .) - mean_s k(s, .) at each criticism: positive where the prototypes have too little, negative where too
    much.

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
        """Say how many there are of either, and how much the prototypes have too little or too much of."""
        lines = [f"Prototypes: {self.prototypes}", f"Criticisms: {len(self.criticisms):,}"]
        if len(self.criticisms):
            little = int((self.witness >= 0).sum())
            lines[-1] += f", where the prototypes have too little ({little:,}) or too much ({len(self.criticisms) - little:,})"
        return "\n".join(lines)
