"""The data of the tables: mixtures drawn anew and real rows picked anew for each draw, written as files that any process can read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.judge import Floats, median_distance
from benchmarks.speed.datasets import covtype, electricity, mnist
from benchmarks.speed.workloads import mixture

__all__ = ["Workload", "workloads", "written"]


@dataclass(frozen=True)
class Workload:
    """N rows to be reduced to M; `draw` returns other rows for each seed. `large`: only for methods that scale."""

    name: str
    title: str
    n: int
    m: int
    draws: int
    large: bool
    draw: Callable[[int], Floats]


def workloads(data: Path, *, quick: bool) -> Iterator[Workload]:
    """Yield each data set; N is a power of four and M its root, as Compress++ asks for."""
    n, m, draws = (1_024, 32, 3) if quick else (16_384, 128, 5)
    large_n, large_m, large_draws = (4_096, 64, 2) if quick else (65_536, 256, 3)

    def drawn(width: int, size: int) -> Callable[[int], Floats]:
        return lambda seed: mixture(seed, size, width)[0]

    def picked(read: Callable[[], Floats], size: int) -> Callable[[int], Floats]:
        kept: list[Floats] = []

        def draw(seed: int) -> Floats:
            if not kept:
                kept.append(read())
            rows = kept[0]
            return rows[np.random.default_rng(seed).choice(len(rows), size, replace=False)]

        return draw

    for width in (2, 10, 50):
        title = f"mixtures of ten Gaussians in {width} dimensions"
        yield Workload(f"mixture-{width}", title, n, m, draws, False, drawn(width, n))
    yield Workload("mnist", "MNIST, 784 grey values", n, m, draws, False, picked(lambda: mnist(data), n))
    yield Workload("covtype", "CovType, 54 standardised columns", n, m, draws, False, picked(lambda: covtype(data), n))
    columns = "electricity, 6 standardised columns"
    yield Workload("electricity", columns, n, m, draws, False, picked(lambda: electricity(data), n))
    yield Workload(
        "mixture-10-large", "mixtures of ten Gaussians in 10 dimensions", large_n, large_m, large_draws, True, drawn(10, large_n)
    )
    yield Workload(
        "covtype-large",
        "CovType, 54 standardised columns",
        large_n,
        large_m,
        large_draws,
        True,
        picked(lambda: covtype(data, step=1), large_n),
    )


def written(workload: Workload, folder: Path) -> tuple[list[Path], float]:
    """Write each draw as a .npy file; return the files and the bandwidth of all of them, the median distance in the first."""
    paths = []
    bandwidth = 0.0
    for seed in range(workload.draws):
        rows = np.ascontiguousarray(workload.draw(seed), dtype=np.float64)
        bandwidth = bandwidth or median_distance(rows)
        paths.append(folder / f"{workload.name}-{seed}.npy")
        np.save(paths[-1], rows)
    return paths, bandwidth
