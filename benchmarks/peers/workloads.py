"""The data of the tables: mixtures or real rows, drawn again for each draw, in files that any process can read."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.judge import Floats, median_distance
from benchmarks.speed.datasets import covtype, electricity, mnist
from benchmarks.speed.workloads import mixture

__all__ = ["Workload", "workloads", "written"]

_COMPONENTS = 50
_TITLES = {
    "mixture-2": "mixtures of ten Gaussians in 2 dimensions",
    "mixture-10": "mixtures of ten Gaussians in 10 dimensions",
    "mixture-50": "mixtures of ten Gaussians in 50 dimensions",
    "mnist": f"MNIST, {_COMPONENTS} principal components",
    "covtype": "CovType, 54 standardised columns",
    "electricity": "electricity, 6 standardised columns",
}


@dataclass(frozen=True)
class Workload:
    """N rows to be reduced to M; `draw` returns other rows for each seed."""

    name: str
    title: str
    n: int
    m: int
    draws: int
    draw: Callable[[int], Floats]


def workloads(data: Path, *, quick: bool) -> Iterator[Workload]:
    """Yield each data set in two sizes, one in a third; N is a power of four and M its root, as Compress++ asks for."""
    kept: dict[str, Floats] = {}

    def sample(name: str, n: int) -> Callable[[int], Floats]:
        """Return what draws n rows: of a mixture that is itself drawn again, or of a data set read when first needed."""

        def draw(seed: int) -> Floats:
            if name not in kept:
                kept[name] = _READERS[name](data)
            return kept[name][np.random.default_rng(seed).choice(len(kept[name]), n, replace=False)]

        return (lambda seed: mixture(seed, n, int(name.partition("-")[2]))[0]) if name.startswith("mixture") else draw

    for suffix, (n, m, draws), names in (
        ("", (256, 16, 3) if quick else (4_096, 64, 5), tuple(_TITLES)),
        ("-large", (1_024, 32, 2) if quick else (16_384, 128, 4), tuple(_TITLES)),
        ("-largest", (4_096, 64, 2) if quick else (65_536, 256, 3), ("mixture-10",)),
    ):
        for name in names:
            yield Workload(name + suffix, _TITLES[name], n, m, draws, sample(name, n))


def _digits(folder: Path) -> Floats:
    """Return MNIST on its leading principal components: many peers cannot afford all 784 columns."""
    images = mnist(folder)
    images -= images.mean(axis=0)
    _, vectors = np.linalg.eigh(images.T @ images)
    return np.ascontiguousarray(images @ vectors[:, ::-1][:, :_COMPONENTS])


_READERS: Mapping[str, Callable[[Path], Floats]] = {"mnist": _digits, "covtype": covtype, "electricity": electricity}


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
