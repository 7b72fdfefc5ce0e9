"""Geometric rates for kernel-based sampling, section 5: targets of r atoms on several machines, an open question there."""

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import supersample as ss
from benchmarks.papers.figures import panels, write_numbers
from benchmarks.papers.geometric_distributed import METHODS, choose
from benchmarks.papers.trials import one_thread_workers

__all__ = ["run"]

_ATOMS = (1, 2, 5, 10, 20)
_PARTS = (1, 5, 10)
#: Share of g(empty), the squared MMD of nothing, that counts as converged.
_GOAL = 1e-6
_KERNELS = {
    "Gaussian, 0.5": ss.kernels.Gaussian(0.5),
    "Gaussian, 2": ss.kernels.Gaussian(2.0),
    "Laplacian, 1": ss.kernels.Laplacian(1.0),
}


def run(out: Path, data: Path, quick: bool) -> None:  # noqa: ARG001
    """Count the steps that single and distributed runs need until g is a millionth of what it was."""
    seeds = range(2 if quick else 10)
    atoms = _ATOMS[:3] if quick else _ATOMS
    numbers: dict[str, Any] = {}
    cases = list(product(_KERNELS, METHODS, atoms))
    with one_thread_workers() as workers, panels(out / "atoms", len(_KERNELS), legend_beside=True) as axes:
        found = {case: np.array(list(workers.map(partial(_steps, *case), seeds))) for case in cases}
        for (kernel, method, r), steps in found.items():
            middle = dict(zip(_PARTS, np.median(steps[:, :3], axis=0), strict=True))
            bound = float(np.median(steps[:, 3]))
            more, fewer = int((steps[:, 1] > steps[:, 0]).sum()), int((steps[:, 1] < steps[:, 0]).sum())
            numbers[f"{kernel} {method} r={r}"] = {"steps": middle, "more_on_5": more, "fewer_on_5": fewer, "promised": bound}
            listed = ", ".join(f"{parts}: {each:g}" for parts, each in middle.items())
            print(
                f"atoms        {kernel:13} {method} r = {r:2}: median steps by machines {listed}; more on 5 than on 1: {more}, "
                f"fewer: {fewer} of {len(steps)}; Theorem 2 promises {bound:.3g} on one"
            )
        for ax, kernel in zip(axes, _KERNELS, strict=True):
            for method, parts in product(METHODS, _PARTS):
                style = {
                    "linestyle": "-" if parts == 1 else "--" if parts == 5 else ":",
                    "marker": "^" if method == "WKH" else "s",
                }
                values = [np.median(found[kernel, method, r][:, _PARTS.index(parts)]) for r in atoms]
                ax.loglog(atoms, values, label=f"{method}, {parts}", **style)
            ax.set(title=kernel, xlabel="atoms r", ylabel="steps")
    write_numbers(out / "atoms", numbers)


def _steps(kernel: str, method: str, r: int, seed: int) -> list[float]:
    """Return the steps on each number of machines, infinite if 4 r are not enough, and those that Theorem 2 promises on one."""
    rng = np.random.default_rng([3, r, seed])
    pool = rng.uniform(-4.0, 4.0, size=(1_000, 2))
    target = ss.measures.Empirical(pool[rng.choice(1_000, r, replace=False)], rng.uniform(0.5, 1.5, r))
    options: dict[str, Any] = {"target": target, "kernel": _KERNELS[kernel]}
    energy = target.energy(_KERNELS[kernel])
    single = METHODS[method](pool, 4 * r, **options)
    reached = single.mmd**2 <= _GOAL * energy
    counts = [float(np.argmax(reached) + 1) if reached.any() else np.inf]
    for parts in _PARTS[1:]:
        squares = (choose(method, parts, pool, m, partition=seed, **options).mmd[-1] ** 2 for m in range(1, 4 * r + 1))
        counts.append(next((float(m) for m, square in enumerate(squares, start=1) if square <= _GOAL * energy), np.inf))
    promised = single.bound(target.points, target=target)
    rate = promised.least / (r * promised.most)
    return [*counts, float(np.log(1.0 / _GOAL) / rate) if rate > 0.0 else np.inf]
