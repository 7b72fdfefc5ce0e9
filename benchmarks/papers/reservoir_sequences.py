"""The stream's points beside low-discrepancy sequences: section 6 of Paige, Sejdinovic and Wood (2016)."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from scipy.stats import qmc

import supersample as ss
from benchmarks.papers.figures import loglog_slope, panels, write_numbers
from benchmarks.papers.trials import one_thread_workers

__all__ = ["run"]

Floats = npt.NDArray[np.float64]

_SIZES = (8, 16, 32, 64, 128, 256, 512)
_ROWS = 100_000
_SETS = ("random", "Sobol", "Sobol, scrambled", "Halton", "stream, Gaussian", "stream, Laplacian")
_MEASURES = ("star discrepancy", "MMD, Gaussian", "MMD, Laplacian")


def run(out: Path, data: Path, quick: bool) -> None:  # noqa: ARG001
    """Measure star discrepancy and MMD to the uniform distribution against the number of points, in one and two dimensions."""
    sizes, seeds, rows = (_SIZES[:3], 2, 5_000) if quick else (_SIZES, 10, _ROWS)
    numbers: dict[str, Any] = {"rows": rows, "seeds": seeds}
    with one_thread_workers() as workers:
        for dimension in (1, 2):
            cases = list(product(_SETS, sizes, range(seeds)))
            found = list(workers.map(partial(_measures, dimension, rows), *zip(*cases, strict=True)))
            table = np.array(found).reshape(len(_SETS), len(sizes), seeds, len(_MEASURES)).mean(axis=2)
            with panels(out / f"sequences-{dimension}", len(_MEASURES), legend_beside=True) as axes:
                for ax, measure, lines in zip(axes, _MEASURES, table.transpose(2, 0, 1), strict=True):
                    numbers |= _drawn(ax, f"{measure}, d = {dimension}", sizes, lines)
    write_numbers(out / "sequences", numbers)


def _drawn(ax: Axes, title: str, sizes: Sequence[int], lines: Floats) -> dict[str, Any]:
    """Draw and print the values of one measure, a line for each set of points."""
    numbers = {}
    for name, line in zip(_SETS, lines, strict=True):
        slope = loglog_slope(sizes, line)
        numbers[f"{title}, {name}"] = {"values": dict(zip(sizes, line, strict=True)), "slope": slope}
        listed = ", ".join(f"{size}: {value:.2e}" for size, value in zip(sizes, line, strict=True))
        print(f"sequences {title:23} {name:17} {listed}; slope {slope:.2f}")
        ax.loglog(sizes, line, marker="o", label=name)
    ax.set(title=title, xlabel="points")
    return numbers


def _measures(dimension: int, rows: int, name: str, size: int, seed: int) -> list[float]:
    points = _points(dimension, rows, name, size, seed)
    cube = ss.measures.Uniform(np.zeros(dimension), np.ones(dimension))
    width = 0.4 * np.sqrt(dimension)  # about the median distance in the unit cube
    mmds = []
    for kernel in (ss.kernels.Gaussian(width), ss.kernels.Laplacian(width)):
        square = cube.energy(kernel) - 2.0 * cube.mean_embedding(kernel, points).mean() + kernel(points).mean()
        mmds.append(float(np.sqrt(max(square, 0.0))))
    return [_star(points), *mmds]


def _points(dimension: int, rows: int, name: str, size: int, seed: int) -> Floats:
    rng = np.random.default_rng([8, dimension, size, seed])
    if name == "random":
        return rng.random((size, dimension))
    if name == "Halton":
        return np.asarray(qmc.Halton(dimension, scramble=True, rng=rng).random(size))
    if name.startswith("Sobol"):
        return np.asarray(qmc.Sobol(dimension, scramble=name != "Sobol", rng=rng).random(size))
    kernel = "gaussian" if name == "stream, Gaussian" else "laplacian"
    found = ss.SuperSampler(size, kernel=kernel, random_state=seed).fit(rng.random((rows, dimension)))
    return np.asarray(found.prototypes_, dtype=np.float64)


def _star(points: Floats) -> float:
    """Return sup over boxes [0, b) and [0, b] of |share of points - volume|, exactly, in one or two dimensions. O(n^2)."""
    n, d = points.shape
    corners = [np.append(np.unique(points[:, axis]), 1.0) for axis in range(d)]
    if d == 1:
        points, corners = np.column_stack([points, np.zeros(n)]), [*corners, np.array([1.0])]
    places = [np.searchsorted(corner, points[:, axis]) for axis, corner in enumerate(corners)]
    counts = np.zeros([corner.size for corner in corners])
    np.add.at(counts, tuple(places), 1.0)
    closed = counts.cumsum(axis=0).cumsum(axis=1) / n  # points with coordinates up to the corner
    opened = np.zeros_like(closed)
    opened[1:, 1:] = closed[:-1, :-1]
    if d == 1:
        opened = np.vstack([[0.0], closed[:-1]])
    volume = np.multiply.outer(*corners)
    return float(max((closed - volume).max(), (volume - opened).max()))
