"""Nearest-prototype classification: how well prototypes stand for classes, against their number."""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

import supersample as ss
from benchmarks.papers.criticisms_choice import batch, kernel_of, nearest_error, streamed
from benchmarks.papers.criticisms_data import Images
from benchmarks.papers.figures import panels, write_numbers

__all__ = ["classification"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

#: How each method is drawn: the colours of Okabe and Ito.
_STYLES: dict[str, dict[str, Any]] = {
    "random": {"color": "0.55", "marker": "v", "linestyle": ":"},
    "k-means, nearest rows": {"color": "#CC79A7", "marker": "D", "linestyle": "-."},
    "batch, global kernel": {"color": "black", "marker": "s", "linestyle": "-"},
    "batch, local kernel": {"color": "#009E73", "marker": "^", "linestyle": "--"},
    "fast stream": {"color": "#0072B2", "marker": "o", "linestyle": "-"},
    "fast stream, one a class": {"color": "#D55E00", "marker": "P", "linestyle": "--"},
}
_PANELS = (
    ("random", "k-means, nearest rows", "batch, global kernel", "fast stream"),
    ("random", "batch, local kernel", "fast stream, one a class"),
)


def classification(out: Path, name: str, images: Images, held_out: Images, quick: bool, pool: Executor) -> None:
    """Draw error on held-out images against the number of prototypes; means over orders, seeds or draws."""
    points, labels, truth = images.points, images.labels, held_out.labels
    if labels is None or truth is None:
        return
    counts = [10, 20] if quick else [10, 20, 40, 60, 100]
    rounds = 1 if quick else 3
    kernel = kernel_of(points)
    most = counts[-1]
    # Greedy choices are nested: the first ten of a hundred are the ten that would be chosen.
    whole = pool.submit(batch, points, kernel, most, 0)
    local = pool.submit(batch, points, kernel, most, 0, labels)
    cells = [(count, seed) for count in counts for seed in range(rounds)]
    streams = list(pool.map(partial(_stream, points=points, kernel=kernel), *zip(*cells, strict=True)))
    by_class = list(pool.map(partial(_stream_by_class, points=points, kernel=kernel, labels=labels), *zip(*cells, strict=True)))
    medoids = list(pool.map(partial(_medoids, points=points), *zip(*cells, strict=True)))
    rng = np.random.default_rng(14)
    draws = [rng.choice(len(points), count, replace=False) for count in counts for _ in range(30)]

    def error(rows: Indices) -> float:
        return nearest_error(points[rows], labels[rows], held_out.points, truth)

    def averaged(chosen: Sequence[Indices]) -> list[float]:
        errors = np.array([error(rows) for rows in chosen]).reshape(len(counts), -1)
        return [float(value) for value in errors.mean(axis=1)]

    curves = {
        "random": averaged(draws),
        "k-means, nearest rows": averaged(medoids),
        "batch, global kernel": averaged([whole.result().prototypes[:count] for count in counts]),
        "batch, local kernel": averaged([local.result().prototypes[:count] for count in counts]),
        "fast stream": averaged(streams),
        "fast stream, one a class": averaged(by_class),
    }
    numbers = {"N": len(points), "held out": len(truth), "prototypes": counts, "rounds": rounds, "error": curves}
    write_numbers(out / f"classification-{name}", numbers)
    for method, errors in curves.items():
        listed = ", ".join(f"{count}: {value:.1%}" for count, value in zip(counts, errors, strict=True))
        print(f"classification  {method:24} {listed}")
    with panels(out / f"classification-{name}", 2) as axes:
        for axis, methods, title in zip(axes, _PANELS, ("(a) labels not seen", "(b) each class by itself"), strict=True):
            for method in methods:
                axis.plot(counts, 100.0 * np.array(curves[method]), **_STYLES[method], mfc="none", label=method)
            axis.set(xlabel="prototypes", ylabel="error on held-out images (%)", ylim=(0, 72), title=title)
            axis.set_xticks(counts)
            axis.legend()


def _stream(count: int, seed: int, points: Floats, kernel: ss.kernels.Kernel) -> Indices:
    order = np.random.default_rng([15, seed]).permutation(len(points))
    return np.asarray(order[streamed(points[order], kernel, count, 0, seed).prototypes])


def _stream_by_class(count: int, seed: int, points: Floats, kernel: ss.kernels.Kernel, labels: Indices) -> Indices:
    """Keep the same number for each class, by a stream of its own; the number must divide by that of the classes."""
    order = np.random.default_rng([15, seed]).permutation(len(points))
    classes = np.unique(labels)
    kept = []
    for label in classes:
        mine = order[labels[order] == label]
        each = max(1, count // classes.size)
        kept.append(mine[ss.SuperSampler(each, kernel=kernel, random_state=seed).fit(points[mine]).prototype_indices_])
    return np.concatenate(kept)


def _medoids(count: int, seed: int, points: Floats) -> Indices:
    """Return the row nearest to each centre of k-means: scikit-learn has no k-medoids."""
    centres = KMeans(count, n_init=1, max_iter=50, random_state=seed).fit(points).cluster_centers_
    squares = (points**2).sum(axis=1)[:, None] - 2.0 * points @ centres.T
    return np.asarray(squares.argmin(axis=0))
