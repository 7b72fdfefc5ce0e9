"""The reservoir paper, figure 2: the comparisons that the tree makes for a row, and how often it decides as a full search."""

from concurrent.futures import Executor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.papers.figures import panels, write_numbers
from benchmarks.papers.reservoir_printed import PERIODS, Period, printed_stream
from benchmarks.papers.reservoir_trial import M, fourier_map, mixture_stream
from supersample._compiled import tree as compiled
from supersample._random import Seed
from supersample.selection.stream.projection_tree import build

__all__ = ["figure2"]

#: Swaps that gain less are rounding in float32; the threshold of the package.
_LEAST_GAIN = 1e-6
_REJECTED = -1


class Decisions(NamedTuple):
    """For each row, the slot that the tree gives it and the best slot of all (-1: none), and rows by number of comparisons."""

    tree: npt.NDArray[np.int64]
    best: npt.NDArray[np.int64]
    histogram: npt.NDArray[np.int64]


def figure2(out: Path, quick: bool, pool: Executor) -> None:
    """Figure 2: Algorithm 2 row by row with our tree and the paper's, each decision held against all M on the same state."""
    n, count = (5000, 2) if quick else (100_000, 10)
    trials = list(pool.map(partial(_decide, n=n), range(count)))
    tree, best = (np.array([getattr(each, name) for each in trials]) for name in ("tree", "best"))
    histogram = np.sum([each.histogram for each in trials], axis=0)
    places = np.arange(histogram.size)
    median = int(np.searchsorted(np.cumsum(histogram), 0.5 * histogram.sum()))
    mean = float(histogram @ places / histogram.sum())
    right, late = tree == best, slice((n - M) // 2, None)
    wanted = best != _REJECTED
    missed = wanted & (tree == _REJECTED)
    numbers = {
        "mixtures": count,
        "N": n,
        "M": M,
        "median_comparisons": median,
        "mean_comparisons": mean,
        "mean_comparisons_by_mixture": [float(each.histogram @ places / each.histogram.sum()) for each in trials],
        "share_best": float(right.mean()),
        "share_best_by_mixture": right.mean(axis=1),
        "share_best_second_half": float(right[:, late].mean()),
        "rows_worth_taking": float(wanted.mean()),
        "share_best_of_rows_worth_taking": float(right[wanted].mean()),
        "share_refused_of_rows_worth_taking": float(missed[wanted].mean()),
        "share_worth_taking_second_half": float(wanted[:, late].mean()),
        "histogram": histogram.tolist(),
    }
    numbers["printed"] = _printed(n, count, pool)
    write_numbers(out / "figure2", numbers)
    print(f"figure 2  our tree: comparisons median {median}, mean {mean:.1f} of {M}; best decision {right.mean():.2%}")
    print(
        f"figure 2  second half of the stream: {right[:, late].mean():.2%}; of the {wanted.mean():.2%} of rows that a "
        f"full search takes: {right[wanted].mean():.1%} put in the best place, {missed[wanted].mean():.1%} refused"
    )
    with panels(out / "figure2", 2) as axes:
        axes[0].bar(places, histogram / histogram.sum(), width=1.0, color="#0072B2")
        axes[0].axvline(median, color="black", linestyle="--", lw=1, label=f"median {median}")
        axes[0].set(xlabel=f"comparisons a row (of {M})", ylabel="share of rows", xlim=(0, 50), title="(a) comparisons")
        axes[0].legend()
        edges = np.geomspace(M, n, 16).astype(np.int64) - M
        centres = np.sqrt((edges[1:] + M) * (edges[:-1] + M))
        parts = [slice(*pair) for pair in pairwise(edges)]
        axes[1].plot(centres, [right[:, part].mean() for part in parts], color="#0072B2", marker="o", label="all rows")
        taken = [right[:, part][wanted[:, part]].mean() if wanted[:, part].any() else np.nan for part in parts]
        axes[1].plot(centres, taken, color="#D55E00", marker="^", linestyle="--", label="rows that a full search takes")
        axes[1].set(xscale="log", xlabel="rows seen n", ylabel="share decided as by a full search", ylim=(0.0, 1.02))
        axes[1].set_title("(b) best decisions")
        axes[1].legend(loc="lower right")


def _printed(n: int, count: int, pool: Executor) -> dict[str, dict[str, float]]:
    """Run Algorithm 2 with the paper's tree at several periods, and print what its searches find."""
    found = {
        name: np.array(list(pool.map(partial(_decide_printed, period, n), range(count)))) for name, period in PERIODS.items()
    }
    numbers = {}
    for name, each in found.items():
        median, mean, best, empty, wanted, refused, late, mmd = each.mean(axis=0)
        worst = each[:, 2].min()
        numbers[name] = {
            "median_comparisons": median, "mean_comparisons": mean, "share_best": best, "share_best_worst_mixture": worst,
            "share_of_empty_leaves": empty, "share_best_of_rows_worth_taking": wanted, "refused_of_rows_worth_taking": refused,
            "share_best_second_half": late, "mmd_in_the_features": mmd,
        }  # fmt: skip
        print(
            f"figure 2  the paper's tree, splits drawn again {name:12}: comparisons median {median:.1f}, mean {mean:.1f}; best "
            f"decision {best:.2%} (worst mixture {worst:.2%}, second half {late:.2%}); of the rows that a full search takes "
            f"{wanted:.1%} in the best place, {refused:.1%} refused; empty leaves {empty:.2%}"
        )
    return numbers


def _decide_printed(period: Period, n: int, seed: int) -> list[float]:
    _, data = mixture_stream(seed, n)
    features = fourier_map(data, seed, form="phase").transform(data).astype(np.float64)
    held = np.empty(M, dtype=np.int64)
    compared, place, best = np.array(list(printed_stream(features, M, (seed, period), held))).T
    right, wanted = place == best, best != _REJECTED
    mmd = float(np.linalg.norm(features[held].mean(axis=0) - features.mean(axis=0)))
    return [
        float(np.median(compared)), float(compared.mean()), float(right.mean()), float((compared == 0).mean()),
        float(right[wanted].mean()), float((place[wanted] == _REJECTED).mean()), float(right[right.size // 2 :].mean()), mmd,
    ]  # fmt: skip


def _decide(seed: int, n: int) -> Decisions:
    """Run Algorithm 2 with the tree, mu brought up to date with every row, and note both decisions for every row after M."""
    _, data = mixture_stream(seed, n)
    phi = fourier_map(data, seed)
    features = phi.transform(data).astype(np.float32)
    ones = np.ones(n, dtype=np.float32)  # all |phi(x)|^2
    held, held_norms = features[:M].copy(), ones[:M].copy()
    tree, swaps = build(held, Seed(seed)), 0
    total = features[:M].sum(axis=0, dtype=np.float64)
    decided = np.full((2, n - M), _REJECTED)
    histogram = np.zeros(M + 1, dtype=np.int64)
    row, slot = np.empty(1, dtype=np.int64), np.empty(1, dtype=np.int64)
    for i in range(M, n):
        one = slice(i, i + 1)
        total += features[i]
        pull = held.sum(axis=0, dtype=np.float64) - (M / (i + 1)) * total
        # |pull|^2 - |phi* - phi(y_j)|^2 with phi* = phi(x) + pull: what putting x in the place of y_j takes off M^2 MMD^2.
        target = features[i] + pull
        gains = pull @ pull - target @ target - 1.0 + 2.0 * (held @ target.astype(np.float32))
        best = int(np.argmax(gains))
        if gains[best] > _LEAST_GAIN:
            decided[1, i - M] = best
        if compiled.offer(
            features[one], ones[one], held, held_norms, pull.astype(np.float32), _LEAST_GAIN, tree.directions, tree.splits,
            tree.leaves, tree.first, tree.following, row, slot, histogram,
        ):  # fmt: skip
            decided[0, i - M] = slot[0]
            swaps += 1
            if swaps % M == 0:
                tree = build(held, Seed(seed), tree.builds)
    return Decisions(decided[0], decided[1], histogram)
