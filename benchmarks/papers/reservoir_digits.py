"""The reservoir paper, figure 4: 30 of 10,000 handwritten digits."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

import supersample as ss
from benchmarks.drained import drained
from benchmarks.papers.figures import panels, write_numbers
from benchmarks.papers.reservoir_trial import fourier_map

__all__ = ["figure4"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

#: Digits kept, and how they are laid out.
KEPT, ROWS, COLUMNS = 30, 5, 6
_RANDOM_SUBSETS = 100


def figure4(out: Path, data: Path, quick: bool) -> None:
    """Figure 4: the digits chosen by the paper's stream, by the package as it comes, and at random, sorted by label."""
    source = data / "mnist_test.parquet"
    if not source.exists():
        print(f"figure 4  skipped: {source} is missing")
        return
    table = pq.read_table(source)
    images = table["image"].combine_chunks().flatten().to_numpy().reshape(-1, 784) / 255.0
    labels = table["label"].to_numpy().astype(np.int64)
    if quick:
        images, labels = images[:2000], labels[:2000]
    rng = np.random.default_rng(4)
    order = rng.permutation(len(images))  # the file begins with the easier half
    images, labels = images[order], labels[order]
    phi = fourier_map(images, 4, KEPT)
    sampler = ss.SuperSampler(KEPT, features=phi, search="exact", random_state=4).fit(images)
    chosen = {
        "paper's stream": drained(sampler).reservoir.rows.positions,
        "with second look": sampler.prototype_indices_,
        "default": ss.SuperSampler(KEPT, kernel=phi.kernel, random_state=4).fit(images).prototype_indices_,
    }
    drawn = [rng.choice(len(images), KEPT, replace=False) for _ in range(_RANDOM_SUBSETS)]
    chosen["random"] = drawn[0]
    distances = _distances(phi.kernel, images, [*chosen.values(), *drawn])
    numbers: dict[str, object] = {
        "N": len(images),
        "M": KEPT,
        "D": phi.n_features,
        "bandwidth": phi.kernel.identity["bandwidth"],
    }
    for (name, rows), distance in zip(chosen.items(), distances, strict=False):
        counts = np.bincount(labels[rows], minlength=10)
        print(f"figure 4  {name:16} digits 0 to 9: {' '.join(map(str, counts))}; true MMD {distance:.4f}")
        numbers[name] = {"counts": counts.tolist(), "mmd": distance}
    by_chance = np.array(distances[len(chosen) :])
    missing = np.mean([np.unique(labels[rows]).size < 10 for rows in drawn])
    print(f"figure 4  random subsets: mean true MMD {by_chance.mean():.4f}; {missing:.0%} lack some digit")
    numbers["random_subsets"] = {"mean_mmd": by_chance.mean(), "least_mmd": by_chance.min(), "share_lacking_a_digit": missing}
    write_numbers(out / "figure4", numbers)
    by_name = dict(zip(chosen, distances, strict=False))
    with panels(out / "figure4", 3) as axes:
        for axis, name in zip(axes, ("paper's stream", "default", "random"), strict=True):
            axis.imshow(_mosaic(images, labels, chosen[name]), cmap="gray_r", interpolation="nearest")
            axis.set_title(f"({'abc'[axes.index(axis)]}) {name}: MMD {by_name[name]:.3f}")
            axis.set_xlim(-8, COLUMNS * 28 + 8)
            axis.set_axis_off()


def _distances(kernel: ss.kernels.Kernel, images: Floats, subsets: list[Indices]) -> list[float]:
    """Return the true MMD of each subset to all images; the sum over all pairs is taken once."""
    embedded: Floats = np.concatenate(
        [kernel(images[start : start + 1000], images).mean(axis=1) for start in range(0, len(images), 1000)]
    )
    within = embedded.mean()
    return [float(np.sqrt(within - 2.0 * embedded[rows].mean() + kernel(images[rows]).mean())) for rows in subsets]


def _mosaic(images: Floats, labels: Indices, rows: Indices) -> Floats:
    ordered = images[rows[np.argsort(labels[rows], kind="stable")]]
    return np.asarray(ordered.reshape(ROWS, COLUMNS, 28, 28).swapaxes(1, 2).reshape(ROWS * 28, COLUMNS * 28))
