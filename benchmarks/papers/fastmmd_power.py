"""FastMMD figure 7: how often the test misses a difference that is there."""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

import supersample as ss
from benchmarks.papers.fastmmd_data import blobs
from benchmarks.papers.figures import LINES, panels, write_numbers

__all__ = ["figure7"]

Floats = npt.NDArray[np.float64]

LEVEL = 0.05
#: 5% of 99 + 1 is a whole number, so that the level can be met exactly.
N_RESAMPLES = 99
#: The ratio of figure 7(a) and the number of frequencies of figure 7(b).
RATIO, L = 4.0, 1024
#: The bandwidth with the largest MMD at every ratio, as the paper selects it (figure 3 prints it).
BANDWIDTH = 1.0


def figure7(out: Path, quick: bool, pool: Executor) -> None:
    """Figure 7: type II error of the bootstrap test on blobs, against L and against the ratio of eigenvalues, biased MMD^2."""
    n_trials = 8 if quick else 1000
    sizes = [2**power for power in range(2, 7 if quick else 11)]
    ratios = [1.1, 3.0] if quick else [1.1, 1.4, 1.7, 2.0, 2.3, 2.6, 3.0]
    by_size = np.array(list(pool.map(partial(_misses, ratio=RATIO, sizes=sizes), range(n_trials), chunksize=2)))
    by_ratio = np.array(
        [list(pool.map(partial(_misses, ratio=ratio, sizes=[L]), range(n_trials), chunksize=2)) for ratio in ratios]
    )
    errors, exact = by_size[:, 1:].mean(axis=0), float(by_size[:, 0].mean())
    both = by_ratio.mean(axis=1)
    # The two tests see the same data, so their difference is known better than either.
    differences = by_ratio[:, :, 1] - by_ratio[:, :, 0]
    deviations = differences.std(axis=1, ddof=1) / np.sqrt(n_trials)
    for size, error in zip(sizes, errors, strict=True):
        print(f"figure 7  ratio {RATIO:g}, L={size:<5} type II error {error:.3f} (exact {exact:.3f})")
    for ratio, (one, other), deviation in zip(ratios, both, deviations, strict=True):
        print(f"figure 7  ratio {ratio:g}, L={L} type II error {other:.3f}, exact {one:.3f}, difference +- {deviation:.3f}")
    write_numbers(
        out / "figure7",
        {
            "trials": n_trials,
            "n": 1000,
            "bandwidth": BANDWIDTH,
            "level": LEVEL,
            "n_resamples": N_RESAMPLES,
            "against_L": {"ratio": RATIO, "L": sizes, "fourier": errors, "exact": exact},
            "against_ratio": {
                "L": L,
                "ratio": ratios,
                "fourier": both[:, 1],
                "exact": both[:, 0],
                "standard_error_of_difference": deviations,
            },
        },
    )
    with panels(out / "figure7", 2) as axes:
        axes[0].errorbar(sizes, errors, _deviation(errors, n_trials), **LINES["fourier"], capsize=2)
        axes[0].axhline(exact, **{**LINES["exact"], "marker": ""})
        axes[0].set_xscale("log", base=2)
        axes[0].set(xlabel="frequencies L", title=f"(a) ratio ε = {RATIO:g}")
        for column, method in enumerate(("exact", "fourier")):
            axes[1].errorbar(
                ratios, both[:, column], _deviation(both[:, column], n_trials), **LINES[method], mfc="none", capsize=2
            )
        axes[1].set(xlabel="ratio ε of eigenvalues", title=f"(b) L = {L:,}")
        for axis in axes:
            axis.set(ylabel="type II error", ylim=(-0.03, 1.03))
            axis.legend()


def _misses(trial: int, ratio: float, sizes: Sequence[int]) -> Floats:
    """Return 1 where the test accepts: by the exact kernel, then by each number of frequencies, on the same data."""
    rng = np.random.default_rng([7, trial])
    x, y = blobs(1000, 1.0, rng), blobs(1000, ratio, rng)

    def misses(method: Literal["exact", "fourier"], n_frequencies: int) -> bool:
        result = ss.two_sample_test(
            x,
            y,
            kernel=ss.kernels.Gaussian(BANDWIDTH),
            method=method,
            null="bootstrap",
            estimator="biased",
            n_resamples=N_RESAMPLES,
            n_features=2 * n_frequencies,
            random_state=rng,
        )
        return not result.rejects(LEVEL)

    return np.array([misses("exact", L), *(misses("fourier", size) for size in sizes)], dtype=np.float64)


def _deviation(shares: Floats, n_trials: int) -> Floats:
    return np.asarray(np.sqrt(shares * (1.0 - shares) / n_trials))
