"""The data of the tables: mixtures drawn anew or real rows picked anew for each draw, in files that any process can read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.judge import Floats, median_distance
from benchmarks.speed.datasets import covtype, electricity, mnist
from benchmarks.speed.workloads import mixture

__all__ = ["Workload", "workloads", "written"]

_COVTYPE = "CovType, 54 standardised columns"


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
        yield Workload(f"mixture-{width}", _mixtures(width), n, m, draws, False, drawn(width, n))
    yield Workload("mnist", "MNIST, 784 grey values", n, m, draws, False, picked(lambda: mnist(data), n))
    yield Workload("covtype", _COVTYPE, n, m, draws, False, picked(lambda: covtype(data), n))
    title = "electricity, 6 standardised columns"
    yield Workload("electricity", title, n, m, draws, False, picked(lambda: electricity(data), n))
    n, m, draws = (4_096, 64, 2) if quick else (65_536, 256, 3)
    yield Workload("mixture-10-large", _mixtures(10), n, m, draws, True, drawn(10, n))
    yield Workload("covtype-large", _COVTYPE, n, m, draws, True, picked(lambda: covtype(data, step=1), n))


def _mixtures(width: int) -> str:
    return f"mixtures of ten Gaussians in {width} dimensions"


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
