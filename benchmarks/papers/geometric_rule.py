"""Geometric rates for kernel-based sampling: Algorithm 1 with equation 5 as printed, beside the criterion of the proofs."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

import supersample as ss
from benchmarks.papers.figures import write_numbers
from benchmarks.papers.herding_data import KERNEL, mixture

__all__ = ["printed_path", "run"]

Floats = npt.NDArray[np.float64]


def run(out: Path, data: Path, quick: bool) -> None:
    """Match the mixture of figure 1 by both rules, from the pools of that figure."""
    pools, pool_size, sizes = (2, 2_000, (10, 20, 40)) if quick else (10, 10_000, (10, 20, 50, 100, 200))
    measure = mixture(data)
    lines: dict[str, list[Floats]] = {"equation 5 as printed": [], "WKH": []}
    for seed in range(pools):
        pool = measure.sample(pool_size, np.random.SeedSequence([1, seed]))
        lines["equation 5 as printed"].append(printed_path(pool, max(sizes), measure, KERNEL))
        lines["WKH"].append(ss.wkh(pool, max(sizes), target=measure, kernel=KERNEL).mmd)
    numbers = {}
    for name, paths in lines.items():
        at = {m: [float(path[m - 1]) for path in paths] for m in sizes}
        numbers[name] = {"mmd": at}
        shown = ", ".join(f"{m}: {np.mean(each):.4f} ({min(each):.4f} to {max(each):.4f})" for m, each in at.items())
        print(f"equation 5   {name:22} MMD, mean of {pools} pools (range)  {shown}")
    write_numbers(out / "equation-5", numbers)


def printed_path(pool: Floats, m: int, measure: ss.measures.Measure, kernel: ss.kernels.Kernel) -> Floats:
    """Return the MMD after each of m points of Algorithm 1 with argmin n/(n+1) sum_i w_i k(x, x_i) - 2 z(x), w = K^-1 z.

    No candidate is chosen twice: else the rule repeats itself after a few points. Points lie so near to each other that K is
    singular to rounding, so weights are those of least squares.
    """
    z, energy = measure.mean_embedding(kernel, pool), measure.energy(kernel)
    columns = np.empty((pool.shape[0], m))
    approximation = np.zeros(pool.shape[0])
    chosen: list[int] = []
    path = np.empty(m)
    for n in range(m):
        criterion = n / (n + 1.0) * approximation - 2.0 * z
        criterion[chosen] = np.inf
        chosen.append(int(np.argmin(criterion)))
        columns[:, n] = kernel(pool, pool[chosen[-1:]])[:, 0]
        gram = columns[chosen, : n + 1]
        weights = np.linalg.lstsq(gram, z[chosen], rcond=None)[0]
        approximation = columns[:, : n + 1] @ weights
        squared = energy - 2.0 * float(weights @ z[chosen]) + float(weights @ gram @ weights)
        path[n] = np.sqrt(max(squared, 0.0))
    return path
