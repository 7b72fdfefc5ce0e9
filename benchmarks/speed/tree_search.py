"""The tree against exact search: comparisons, decisions, speed and true MMD."""

import time
from typing import Any, Literal

import numpy as np

from benchmarks.speed.report import Benchmark, Context, Result, Row, Target
from benchmarks.speed.timing import in_child
from benchmarks.speed.truth import Truth
from benchmarks.speed.workloads import mixture
from supersample import SuperSampler
from supersample._typing import Floats
from supersample.kernels import Gaussian
from supersample.selection import stream
from supersample.selection.stream.rows import Rows

__all__ = ["BENCHMARK", "fit_and_read"]


def decisions(n: int, last: int, m: int, n_features: int) -> dict[str, Any]:
    """Follow the last rows of a stream one by one: what the tree does, and what is best for the same reservoir.

    The reservoir goes on by the tree's decisions. The best one is by brute force in float64 over all points held.
    """
    points, _ = mixture(0, n, 2)
    sampler = SuperSampler(m, features="fourier", n_features=n_features, search="tree", random_state=0)
    state = stream.drain(sampler.partial_fit(points[: n - last])._now.state)
    assert state.plan is not None
    reservoir, feature_map = state.reservoir.copy(), state.plan.feature_map
    rest = points[n - last :]
    rows = Rows(rest, np.arange(n - last, n), np.full(last, 0.5), np.ones(last, dtype=np.int64))
    features = np.asarray(feature_map.transform(rest), dtype=np.float32)
    norms = np.einsum("ij,ij->i", features, features)
    total = state.moments.mean() * (n - last)
    reservoir.histogram[:] = 0
    best, wanted, found = 0, 0, 0
    for index in range(last):
        total += features[index]
        mean = total / (n - last + index + 1)
        choice = _best(reservoir.features.astype(np.float64), features[index].astype(np.float64), mean)
        before = reservoir.rows.positions.copy()
        one = slice(index, index + 1)
        reservoir.offer(
            rows.take(one), features[one], norms[one], mean, n - last + index + 1, use_tree=True, seed=state.settings.seed
        )
        changed = np.flatnonzero(reservoir.rows.positions != before)
        done = int(changed[0]) if changed.size else -1
        best += done == choice
        wanted += choice >= 0
        found += choice >= 0 and done == choice
    counts = reservoir.histogram
    median = int(np.searchsorted(counts.cumsum(), (counts.sum() + 1) // 2))
    return {"best": best / last, "best_swaps": found / max(wanted, 1), "swaps": wanted / last, "median": median}


def _best(held: Floats, x: Floats, mean: Floats) -> int:
    """Return the slot whose point x should replace, or -1: the largest gain, if it is more than rounding."""
    pull = held.sum(axis=0) - len(held) * mean
    gains = 2.0 * (held @ pull - x @ pull) - ((x - held) ** 2).sum(axis=1)
    slot = int(np.argmax(gains))
    return slot if gains[slot] > 1e-6 * float((held**2).sum(axis=1).mean()) else -1


def fit_and_read(n: int, m: int, search: Literal["exact", "tree"]) -> dict[str, Any]:
    """Time a fit and its reading, and keep the points."""
    points, _ = mixture(0, n, 2)
    SuperSampler(m, search=search, random_state=0).fit(points[: max(6_000, m + 2_000)])  # compile
    sampler = SuperSampler(m, search=search, random_state=0)
    start = time.perf_counter()
    sampler.fit(points)
    middle = time.perf_counter()
    chosen = sampler.prototypes_
    end = time.perf_counter()
    kernel = sampler.kernel_
    assert isinstance(kernel, Gaussian)
    held = stream.drain(sampler._now.state).reservoir.rows.points
    truth = Truth(points, kernel)
    return {"fit": middle - start, "read": end - middle, "mmd": truth.mmd(chosen), "held_mmd": truth.mmd(held)}


def _run(context: Context) -> Result:
    n, last, n_large, m_large = (10_000, 2_000, 10_000, 1_000) if context.quick else (100_000, 20_000, 200_000, 10_000)
    late = in_child(decisions, n=n, last=last, m=100, n_features=200)
    early = in_child(decisions, n=last + 100, last=last, m=100, n_features=200)
    exact = in_child(fit_and_read, n=n_large, m=m_large, search="exact")
    tree = in_child(fit_and_read, n=n_large, m=m_large, search="tree")
    rows: list[Row] = [
        {
            "what": f"M = 100, D = 200: the {when} {last:,} rows",
            "median comparisons": taken["median"],
            "best decisions": taken["best"],
            "rows that should swap": taken["swaps"],
            "of those, best": taken["best_swaps"],
        }
        for when, taken in (("first", early), (f"last of {n:,}", late))
    ]
    rows += [
        {
            "what": f"M = {m_large:,}, N = {n_large:,}: {name}",
            "fit s": taken["fit"],
            "reading s": taken["read"],
            "peak MB": taken["peak_mb"],
            "true MMD": taken["mmd"],
            "before the second look": taken["held_mmd"],
        }
        for name, taken in (("exact", exact), ("tree", tree))
    ]
    return Result(
        rows,
        [
            Target("median comparisons, M = 100, last rows", late["median"], "at most", 20),
            Target("share of best decisions, M = 100, last rows", late["best"], "at least", 0.95),
            Target("share of best decisions, M = 100, first rows", early["best"], "at least", 0.95),
            Target(f"fit, exact / tree, M = {m_large:,}", exact["fit"] / tree["fit"], "at least", 5),
            Target(f"true MMD, tree / exact, M = {m_large:,}", tree["mmd"] / exact["mmd"], "at most", 1.5),
        ],
    )


BENCHMARK = Benchmark(
    "search by random projection tree against exact search",
    [
        "A decision is which point to drop, the new one included; most rows late in a stream are dropped at once, and the "
        "tree is right about those for nothing: the rows that should swap are shown apart.",
        "The best decision is the one for the reservoir as the tree has left it, not that of a run with exact search.",
        "Exact search is ours, which skips hopeless comparisons by bounds; against one without them the tree would do better.",
    ],
    _run,
)
