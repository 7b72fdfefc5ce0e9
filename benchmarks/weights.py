"""The weights of prototypes beside equal ones: `python -m benchmarks.weights --data FOLDER [--rows 20000] [--seeds 3]`.

For each data set and number of prototypes a row of one table for each weighting: the exact MMD between weighted rows and data
(of the first seed), and errors of averages over columns (root mean squares over these and seeds): of means and squares in
standard deviations, of the 10%, 50% and 90% points and of the shares of values (columns with at most ten) in probability.
Beside them rows drawn at random, all alike. The exit status is 1 if the MMD of the usual weights ("simplex"), or of those
by the profile, is above that of equal ones in any case.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import supersample as ss
from supersample._typing import Floats, Indices

__all__ = ["errors", "farther", "true_mmd"]

SETS = ("covtype", "electricity", "phishing", "chemreact_pc10")
SIZES = (50, 200, 1_000)
#: A column with at most this many values is judged by their shares.
FEW = 10
_PART = 2_000
#: The MMD of the usual weights may be above that of equal ones by this share, for rounding.
_ROUNDING = 1e-6


def true_mmd(kernel: ss.kernels.Kernel, points: Floats, weights: Floats, data: Floats, energy: float) -> float:
    """Return the exact MMD between weighted points and data, whose own mean kernel value is `energy`."""
    pull = sum(kernel(points, data[start : start + _PART]).sum(axis=1) for start in range(0, len(data), _PART)) / len(data)
    return float(np.sqrt(max(0.0, weights @ kernel(points) @ weights - 2.0 * weights @ pull + energy)))


def energy_of(kernel: ss.kernels.Kernel, data: Floats) -> float:
    """Return the mean kernel value of all pairs of rows."""
    return float(sum(kernel(data[start : start + _PART], data).sum() for start in range(0, len(data), _PART)) / len(data) ** 2)


def errors(frame: pd.DataFrame, rows: Indices, weights: Floats) -> tuple[float, ...]:
    """Return the mean square errors of means, squares, quantiles and shares over the columns."""
    means, squares, points, shares = [], [], [], []
    for name in frame.columns:
        values = frame[name].to_numpy()
        if frame[name].nunique() <= FEW:
            shares += [(weights[values[rows] == each].sum() - (values == each).mean()) ** 2 for each in np.unique(values)]
            continue
        standard = (values.astype(float) - values.mean()) / values.std()
        mine = standard[rows]
        means.append((weights @ mine) ** 2)
        squares.append((weights @ mine**2 - 1.0) ** 2)
        order = np.argsort(mine)
        reached = np.cumsum(weights[order])
        for share in (0.1, 0.5, 0.9):
            found = mine[order][min(int(np.searchsorted(reached, share)), mine.size - 1)]
            low, high = (standard < found).mean(), (standard <= found).mean()
            points.append(max(0.0, low - share, share - high) ** 2)
    return tuple(float(np.mean(each)) if each else np.nan for each in (means, squares, points, shares))


def farther(found: dict[str, dict[str, float]]) -> list[str]:
    """Return the cases in which weights that are offered are farther from the data than equal ones, given the MMDs of each.

    >>> farther({"a": {"simplex": 0.1, "profile": 0.1, "equal": 0.1}, "b": {"simplex": 0.2, "profile": 0.1, "equal": 0.1}})
    ['simplex: b']
    """
    return [
        f"{scheme}: {case}"
        for case, mmds in found.items()
        for scheme in ("simplex", "profile")
        if not mmds[scheme] <= mmds["equal"] * (1.0 + _ROUNDING)
    ]


def report(folder: Path, n_rows: int, seeds: int) -> list[str]:
    """Print one line for each data set, number of prototypes and weighting; return the cases that `farther` names."""
    mmds: dict[str, dict[str, float]] = {}
    print("| data set | M | weights | MMD | means | squares | quantiles | shares |")
    print("|---|---|---|---|---|---|---|---|")
    for name in SETS:
        frame = pd.read_parquet(folder / f"{name}.parquet")
        frame = frame.sample(min(n_rows, len(frame)), random_state=1).reset_index(drop=True).select_dtypes("number")
        energy = None
        for size in SIZES:
            found: dict[str, list[tuple[float, ...]]] = {}
            for seed in range(seeds):
                summary = ss.summarize(frame, prototypes=size, criticisms=0, random_state=seed)
                data, rows = summary.encode(frame), summary.prototypes["_row"].to_numpy()
                energy = energy_of(summary.kernel, data) if seed == 0 and energy is None else energy
                random = np.random.default_rng(seed).choice(len(frame), size, replace=False)
                equal = np.full(size, 1.0 / size)
                for label, chosen, weights in (
                    ("simplex", rows, summary.weights()), ("profile", rows, summary.weights("profile")), ("equal", rows, equal),
                    ("random rows", random, equal),
                ):  # fmt: skip
                    mmd = true_mmd(summary.kernel, data[chosen], weights, data, energy or 0.0) if seed == 0 else np.nan
                    found.setdefault(label, []).append((mmd**2, *errors(frame, chosen, weights)))
            for label, each in found.items():
                values = np.array(each)
                known = ~np.isnan(values).all(axis=0)
                means = np.full(values.shape[1], np.nan)
                means[known] = np.sqrt(np.nanmean(values[:, known], axis=0))
                told = " | ".join("-" if np.isnan(value) else f"{value:.5f}" for value in means)
                print(f"| {name} | {size:,} | {label} | {told} |", flush=True)
                mmds.setdefault(f"{name}, {size:,} prototypes", {})[label] = float(means[0])
    return farther(mmds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    worse = report(asked.data, asked.rows, asked.seeds)
    print(f"farther from the data than equal weights: {'; '.join(worse) or 'none'}")
    sys.exit(1 if worse else 0)
