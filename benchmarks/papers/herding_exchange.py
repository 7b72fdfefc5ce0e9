"""Section 8.1 of Huszar and Duvenaud (2012), future work: greedy choices taken back, and the rates of SBQ by kernel."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
from scipy.stats import qmc

import supersample as ss
from benchmarks.papers.figures import loglog_slope, panels, write_numbers
from benchmarks.papers.herding_data import KERNEL, mixture
from benchmarks.papers.trials import one_thread_workers

__all__ = ["run"]

Floats = npt.NDArray[np.float64]

#: Numeric columns of the tables on which equal weights were measured beside free ones.
_TABLES = {
    "electricity": ("period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer"),
    "covtype": ("Elevation", "Aspect", "Slope", "Horizontal_Distance_To_Roadways", "Hillshade_9am", "Hillshade_Noon"),
    "sea": ("x0", "x1", "x2"),
    "powerplant": ("AT", "V", "AP", "RH", "PE"),  # Combined Cycle Power Plant of the UCI repository: 9,568 rows
}
_SIZES = (8, 16, 32, 64)
_SMOOTHNESS = {"Matern 1/2": 0.5, "Matern 3/2": 1.5, "Matern 5/2": 2.5, "Gaussian": np.inf}


def run(out: Path, data: Path, quick: bool) -> None:
    """Compare equal weights, SBQ and SBQ with exchange; fit the rates of SBQ."""
    with one_thread_workers() as workers:
        _mixtures(out, data, quick, workers.map)
        _tables(out, data, quick, workers.map)
        _rates(out, quick, workers.map)


def _mixtures(out: Path, data: Path, quick: bool, mapped: Callable[..., Any]) -> None:
    """The mixture of the paper: MMD of SBQ with and without exchange, ten pools."""
    sizes = (8, 20) if quick else (8, 20, 50, 100, 200)
    found = np.array(list(mapped(partial(_pool, data, sizes, 1_000 if quick else 10_000), range(2 if quick else 10))))
    numbers = {}
    for place, size in enumerate(sizes):
        greedy, swapped = found[:, place].T
        numbers[str(size)] = {"sbq": greedy, "exchange": swapped}
        print(
            f"exchange     mixture, {size} points: SBQ {greedy.mean():.4f}, with exchange {swapped.mean():.4f}, ratio "
            f"{np.mean(swapped / greedy):.3f} ({np.min(swapped / greedy):.3f} to {np.max(swapped / greedy):.3f} in the pools)"
        )
    write_numbers(out / "exchange-mixture", numbers)


def _pool(data: Path, sizes: tuple[int, ...], count: int, seed: int) -> list[tuple[float, float]]:
    measure = mixture(data)
    pool = measure.sample(count, np.random.SeedSequence([1, seed]))
    options: dict[str, Any] = {"target": measure, "kernel": KERNEL}
    greedy = ss.sbq(pool, max(sizes), **options).mmd
    return [(float(greedy[m - 1]), float(ss.sbq(pool, m, exchange=True, **options).mmd[-1])) for m in sizes]


def _tables(out: Path, data: Path, quick: bool, mapped: Callable[..., Any]) -> None:
    """Tables: squared MMD of the stream with equal weights, of SBQ, and of SBQ with exchange."""
    numbers: dict[str, Any] = {}
    for name in _TABLES:
        if not (data / f"{name}.parquet").exists():
            print(f"exchange     skipped {name}: not in {data}")
            continue
        sizes = _SIZES[:2] if quick else _SIZES
        found = np.array(list(mapped(partial(_table, data, name, sizes, 1_000 if quick else 10_000), range(2 if quick else 5))))
        for place, size in enumerate(sizes):
            means = dict(zip(("stream, equal weights", "SBQ", "SBQ, exchange"), found[:, place].mean(axis=0), strict=True))
            better = int((found[:, place, 0] < found[:, place, 1]).sum())
            after = int((found[:, place, 0] < found[:, place, 2]).sum())
            numbers[f"{name} {size}"] = {**means, "stream_below_sbq": better, "stream_below_exchange": after}
            listed = ", ".join(f"{method} {value:.2e}" for method, value in means.items())
            print(
                f"exchange     {name}, {size} points, squared MMD: {listed}; equal weights below SBQ on {better} of "
                f"{len(found)} samples, below exchange on {after}"
            )
    write_numbers(out / "exchange-tables", numbers)


def _table(data: Path, name: str, sizes: tuple[int, ...], count: int, seed: int) -> list[tuple[float, float, float]]:
    """Return squared MMDs to a random sample of the rows, standardised, by a Gaussian kernel of the median distance.

    Of a table with fewer rows, the sample is all of them in a random order.
    """
    table = pq.read_table(data / f"{name}.parquet", columns=list(_TABLES[name]))
    rows = np.column_stack([column.to_numpy().astype(np.float64) for column in table.columns])
    rows = rows[np.random.default_rng([12, seed]).choice(len(rows), min(count, len(rows)), replace=False)]
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    kernel = ss.kernels.Gaussian(ss.kernels.median_distance(rows[:1_000]))
    z = ss.measures.Empirical(rows).mean_embedding(kernel, rows)
    found = []
    for m in sizes:
        held = ss.SuperSampler(m, kernel=kernel, random_state=seed).fit(rows).prototype_indices_
        equal = float(z.mean() - 2.0 * z[held].mean() + kernel(rows[held]).mean())
        greedy, swapped = (float(ss.sbq(rows, m, kernel=kernel, exchange=each).mmd[-1] ** 2) for each in (False, True))
        found.append((equal, greedy, swapped))
    return found


def _rates(out: Path, quick: bool, mapped: Callable[..., Any]) -> None:
    """Slopes of log MMD against log n on the unit cube, beside the best possible rate of the kernel's space.

    The space of a Matern kernel is a Sobolev space of order s = nu + d / 2: no points and weights can do better than n^(-s/d)
    for all of its functions.
    """
    dimensions = (1, 2) if quick else (1, 2, 3, 4, 5)
    cases = [(name, d) for name in _SMOOTHNESS for d in dimensions]
    found = list(mapped(partial(_path, 60 if quick else 300, 10 if quick else 14), *zip(*cases, strict=True)))
    numbers: dict[str, Any] = {}
    with panels(out / "rates", len(_SMOOTHNESS), legend_beside=True) as axes:
        for (name, d), (path, floor) in zip(cases, found, strict=True):
            above = np.arange(1, path.size + 1)[path > 10.0 * floor]
            kept = above[above >= (10 if above[-1] >= 20 else 3)]
            slope = loglog_slope(kept, path[kept - 1])
            nu = _SMOOTHNESS[name]
            known = -(nu / d + 0.5)
            numbers[f"{name} d={d}"] = {"slope": slope, "best_possible": known, "from": int(kept[0]), "to": int(kept[-1])}
            best = f"best possible {known:.2f}" if np.isfinite(known) else "best possible faster than any power"
            print(f"rates        {name:11} d = {d}: slope {slope:.2f} from {kept[0]} to {kept[-1]} points, {best}")
            ax = axes[list(_SMOOTHNESS).index(name)]
            ax.loglog(np.arange(1, path.size + 1), np.maximum(path, 1e-9), label=f"d = {d}")
            ax.set(title=name, xlabel="points", ylabel="MMD")
    write_numbers(out / "rates", numbers)


def _path(points: int, log2_target: int, name: str, d: int) -> tuple[Floats, float]:
    """Return the MMD path of SBQ on the unit cube, and the MMD below which it is rounding.

    The target is a scrambled Sobol set, the candidates are another. The bandwidth is sqrt(d) / 2, so that the distance of a
    typical pair is about the same in all dimensions.
    """
    nu = _SMOOTHNESS[name]
    kernel = ss.kernels.Matern(nu, 1.0) if np.isfinite(nu) else ss.kernels.Gaussian(1.0)
    scale = 2.0 / np.sqrt(d)
    target, pool = (
        scale * qmc.Sobol(d, scramble=True, rng=np.random.default_rng([13, d, each])).random_base2(log2_target)
        for each in (0, 1)
    )
    found = ss.sbq(pool[:10_000], points, target=target, kernel=kernel)
    return found.mmd, 1e-7
