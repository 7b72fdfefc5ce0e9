"""Geometric rates for kernel-based sampling: figure 1 and figure 2, on one machine and on several."""

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

import supersample as ss
from benchmarks.papers.figures import loglog_slope, panels, write_numbers
from benchmarks.papers.geometric_data import NAMES, Split, coreset, read
from benchmarks.papers.geometric_distributed import METHODS, Wait, choose, choose_alone, in_order, lines_of, longest_way
from benchmarks.papers.herding_data import KERNEL, mixture
from benchmarks.papers.trials import one_thread_workers
from supersample.kernels import KernelLike

__all__ = ["run"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Weighted = tuple[Indices, Floats]

_STYLE: dict[str, dict[str, Any]] = {
    "random": {"color": "#CC79A7", "linestyle": ":", "marker": "v"},
    "coreset": {"color": "#009E73", "linestyle": "-.", "marker": "D"},
    "herding": {"color": "#0072B2", "linestyle": "--", "marker": "o"},
    "WKH": {"color": "#56B4E9", "linestyle": "-", "marker": "^"},
    "SBQ": {"color": "#D55E00", "linestyle": "-", "marker": "s"},
    "SBQ, unweighted": {"color": "#E69F00", "linestyle": ":", "marker": "x"},
    "5-WKH": {"color": "#56B4E9", "linestyle": "--", "marker": "<"},
    "10-WKH": {"color": "#56B4E9", "linestyle": ":", "marker": ">"},
    "5-SBQ": {"color": "#D55E00", "linestyle": "--", "marker": "d"},
    "10-SBQ": {"color": "#D55E00", "linestyle": ":", "marker": "p"},
    "5-WKH-1": {"color": "#000000", "linestyle": "--", "marker": "1"},
    "5-SBQ-1": {"color": "#000000", "linestyle": ":", "marker": "2"},
}
_SINGLE = {"herding": ss.herd, **METHODS}
#: Candidates of CovType, of half a million rows: a step of SBQ reads its whole factor.
_LARGEST_POOL = 20_000
#: Numbers of parts in figure 1; figure 2 has five.
_PARTS = (5, 10)
#: Random partitions that the distributed lines of figure 2 are means of; those of one part alone are means of its five parts.
_PARTITIONS = 3


def run(out: Path, data: Path, quick: bool) -> None:
    """Match the mixture, then summarise three data sets for logistic regression."""
    _matching(out, data, quick)
    sizes = (20, 50, 100) if quick else (50, 100, 200, 500, 1_000)
    for name in NAMES:
        if not (data / f"{'chemreact_pc10' if name == 'chemreact' else name}.parquet").exists():
            print(f"figure 2     skipped {name}: not in {data}")
            continue
        _summaries(out, name, read(data, name, seed=0), sizes, quick)


def _matching(out: Path, data: Path, quick: bool) -> None:
    """Figure 1: MMD to the mixture of twenty Gaussians."""
    pools, pool_size, sizes = (2, 2_000, (10, 20, 40)) if quick else (10, 10_000, (10, 20, 50, 100, 200))
    with one_thread_workers() as workers:
        found = list(workers.map(partial(_match, data, pool_size, sizes), range(pools)))
        # Timed in one process when the others are idle, so that no run waits for another.
        judged = sizes[-2]
        waits = {size: workers.submit(_wait, data, size, judged, pools).result() for size in (pool_size, 10 * pool_size)}
    numbers: dict[str, Any] = {"pools": pools}
    with panels(out / "figure-1", 1, legend_beside=True) as (ax,):
        for name in found[0]:
            mean = {n: float(np.mean([each[name][n] for each in found])) for n in found[0][name]}
            at = {n: mean[n] for n in sizes}
            slope = loglog_slope(list(at)[1:], list(at.values())[1:])
            numbers[name] = {"mmd": at, "slope_20_on": slope}
            print(f"figure 1     {name:8} " + ", ".join(f"{n}: {each:.4f}" for n, each in at.items()) + f"; slope {slope:.2f}")
            if name in _STYLE:  # one part of ten alone is printed only: there are lines enough
                marked = {} if len(mean) == len(sizes) else {"marker": ""}
                ax.loglog(list(mean), list(mean.values()), label=name, **{**_STYLE[name], **marked})
        ax.set(xlabel="points", ylabel="MMD")
    ratio = numbers["5-SBQ"]["mmd"][judged] / numbers["SBQ"]["mmd"][judged]
    print(f"figure 1     5-SBQ at {judged} / single SBQ at {judged}: {ratio:.3f}, at most 1.5: {_verdict(ratio <= 1.5)}")
    _print_order(found, sizes)
    for size, (single, longest, energy) in waits.items():
        candidates = size // 5 + 5 * judged
        print(
            f"figure 1     SBQ at {judged}: single {single:.3f} s, longest of 5 parts and the last run {longest:.3f} s, "
            f"{longest / single:.2f} of it, with {candidates:,} of {size:,} candidates, {candidates / size:.2f}; less the "
            f"target's energy, {energy:.3f} s in each run, {(longest - 2 * energy) / (single - energy):.2f}"
        )
    numbers["longest_way"] = {size: wait._asdict() for size, wait in waits.items()}
    write_numbers(out / "figure-1", numbers)


def _match(data: Path, pool_size: int, sizes: tuple[int, ...], seed: int) -> dict[str, dict[int, float]]:
    """Return each line's MMD by the number of points: greedy single runs pass all of them, Algorithm 2 is run for each."""
    pool, options = _problem(data, pool_size, seed)
    lines: dict[str, dict[int, float]] = {}
    for name, method in _SINGLE.items():
        lines[name] = {n: float(each) for n, each in enumerate(method(pool, max(sizes), **options).mmd, start=1)}
    for parts, name in product(_PARTS, METHODS):
        found = {m: choose(name, parts, pool, m, partition=seed, **options) for m in sizes}
        _, distributed, alone = lines_of(name, parts)
        lines[distributed] = {m: float(each.mmd[-1]) for m, each in found.items()}
        lines[alone] = {m: float(each.runs[:-1].mean()) for m, each in found.items()}
    return lines


def _wait(data: Path, pool_size: int, m: int, pools: int) -> Wait:
    """Return medians over pools."""
    problems = (_problem(data, pool_size, seed) for seed in range(pools))
    return Wait(*np.median([longest_way("SBQ", 5, pool, m, **options) for pool, options in problems], axis=0).tolist())


def _problem(data: Path, pool_size: int, seed: int) -> tuple[Floats, dict[str, Any]]:
    measure = mixture(data)
    return measure.sample(pool_size, np.random.SeedSequence([1, seed])), {"target": measure, "kernel": KERNEL}


def _print_order(found: list[dict[str, dict[int, float]]], sizes: tuple[int, ...]) -> None:
    """Print whether distributed lies between single and one part alone; noise is the standard error over pools."""
    for parts, name in product(_PARTS, METHODS):
        held = 0
        for m in sizes:
            values = np.array([[each[line][m] for line in lines_of(name, parts)] for each in found])
            mean, steps = values.mean(axis=0), np.diff(values, axis=1)
            error = steps.std(axis=0, ddof=1) / np.sqrt(len(found))
            held += in_order(*mean)
            print(
                f"figure 1     {parts}-{name} at {m}: single {mean[0]:.5f}, distributed {mean[1]:.5f} "
                f"({mean[1] - mean[0]:+.5f} +- {error[0]:.5f}), one part alone {mean[2]:.5f} "
                f"({mean[2] - mean[1]:+.5f} +- {error[1]:.5f}): {_verdict(in_order(*mean))}; "
                f"in {sum(in_order(*each) for each in values)} of {len(found)} pools"
            )
        print(f"figure 1     {parts}-{name}: single <= distributed <= one part alone at {held} of {len(sizes)} sizes")


def _verdict(holds: bool) -> str:
    return "met" if holds else "MISSED"


def _summaries(out: Path, name: str, split: Split, sizes: tuple[int, ...], quick: bool) -> None:
    """Figure 2: test negative log-likelihood of models refitted to m rows, over that of all rows."""
    full = _fit(split.train, split.train_labels)
    least = _loss(full, split)
    losses: dict[str, dict[str, list[float]]] = {}
    repeats = 3 if quick else 10
    more = sizes if quick else (*sizes, 2_000, 5_000)
    for m in (each for each in more if each < split.train_labels.size):
        losses.setdefault("random", {})[str(m)] = [_random(split, m, seed) for seed in range(repeats)]
        losses.setdefault("coreset", {})[str(m)] = [_coreset(split, m, seed) for seed in range(repeats)]
    rows, chosen = _choose(split, sizes, 3_000 if quick else _LARGEST_POOL)
    for method, by_size in chosen.items():
        losses[method] = {str(m): [_refit(split, rows[places], weights) for places, weights in by_size[m]] for m in by_size}
    with panels(out / f"figure-2-{name}", 1, legend_beside=True) as (ax,):
        for method, found in losses.items():
            ax.loglog(
                [int(m) for m in found],
                [max(np.mean(each) - least, 1e-6) for each in found.values()],
                label=method,
                **_STYLE[method],
            )
            listed = ", ".join(f"{m}: {np.mean(each) - least:+.4f}" for m, each in found.items())
            print(f"figure 2     {name:9} {method:15} over the full model's {least:.4f}  {listed}")
        ax.set(xlabel="rows", ylabel="test NLL above the full model's", title=name)
    if name == "covtype" and not quick:
        mine, theirs = abs(losses["SBQ"]["1000"][0] - least), abs(np.mean(losses["random"]["5000"]) - least)
        verdict = _verdict(bool(mine < theirs))
        print(f"figure 2     covtype: SBQ at 1,000 {mine:.4f} from full, random at 5,000 {theirs:.4f}: {verdict}")
    for method in METHODS:
        _print_order_of_losses(name, least, method, [losses[line] for line in lines_of(method, 5)])
    write_numbers(out / f"figure-2-{name}", {"full": least, "rows": split.train_labels.size, "test_nll": losses})


def _print_order_of_losses(data: str, least: float, method: str, lines: list[dict[str, list[float]]]) -> None:
    """Print whether distributed lies between single and one part alone; noise is the spread over partitions and over parts."""
    sizes, held = [m for m in lines[0] if all(m in line for line in lines)], 0
    for m in sizes:
        single, distributed, alone = (float(np.mean(line[m])) for line in lines)
        spread = [np.std(line[m], ddof=1) for line in lines[1:]]
        held += in_order(single, distributed, alone)
        print(
            f"figure 2     {data:9} 5-{method} at {m}: single {single - least:+.4f}, "
            f"distributed {distributed - least:+.4f} (sd {spread[0]:.4f}), "
            f"one part alone {alone - least:+.4f} (sd {spread[1]:.4f}): {_verdict(in_order(single, distributed, alone))}"
        )
    print(f"figure 2     {data:9} 5-{method}: single <= distributed <= one part alone at {held} of {len(sizes)} sizes")


class _HeldOut(ss.measures.Empirical):
    """Rows as a target of many runs with one kernel: their energy, costlier than a run on a part, is computed once."""

    def __init__(self, points: npt.NDArray[np.floating[Any]], kernel: ss.kernels.Kernel) -> None:
        super().__init__(points)
        self._known = super().energy(kernel)

    def energy(self, kernel: KernelLike) -> float:
        """Return what was computed, for the one kernel there is."""
        return self._known


def _choose(split: Split, sizes: tuple[int, ...], largest: int) -> tuple[Indices, dict[str, dict[int, list[Weighted]]]]:
    """Choose by each method in Fisher space, for the rows held out; weights on the simplex.

    Greedy runs are read off at each size. Algorithm 2 is run for each, on `_PARTITIONS` partitions.
    """
    labelled = np.column_stack([split.train, split.train_labels])
    # Scores are taken at the model of all rows with the penalty that a refit to m rows has. At the full model itself the scores
    # of a group that is separated from the rest are near 0 for each of its rows, and no row of it would be chosen.
    m_rows = LogisticRegression(C=max(sizes) / split.train_labels.size, max_iter=500).fit(split.train, split.train_labels)
    phi = ss.features.Fisher(m_rows, kind="whitened", sample=labelled)
    rows = np.random.default_rng(5).permutation(labelled.shape[0])[:largest]
    pool, target = phi.transform(labelled[rows]), phi.transform(np.column_stack([split.target, split.target_labels]))
    # Whitened scores have a mean square of D, so that sqrt(D) is their own scale. The median distance is not: where one class
    # is rare, most scores are near 0, the median is tiny, and the rare class is out of reach of every candidate.
    kernel = ss.kernels.Gaussian(float(np.sqrt(phi.n_features)))
    measure = _HeldOut(target, kernel)
    options: dict[str, Any] = {"target": measure, "kernel": kernel}
    found: dict[str, dict[int, list[Indices]]] = {}
    for name, method in _SINGLE.items():
        found[name] = _firsts([method(pool, max(sizes), **options).indices], sizes)
    for name in METHODS:
        _, distributed, alone = lines_of(name, 5)
        for m in sizes:
            runs = [choose(name, 5, pool, m, partition=each, **options) for each in range(_PARTITIONS)]
            found.setdefault(distributed, {}).update(_firsts([each.indices for each in runs], (m,)))
        found[alone] = _firsts(choose_alone(name, 5, pool, max(sizes), **options), sizes)
    chosen: dict[str, dict[int, list[Weighted]]] = {}
    for name, by_size in found.items():
        kind: Any = "uniform" if name == "herding" else "simplex"
        chosen[name] = {
            m: [(each, ss.quadrature_weights(pool[each], kind=kind, **options)) for each in choices]
            for m, choices in by_size.items()
        }
    # The paper does not say whether its models are refitted with weights.
    chosen["SBQ, unweighted"] = {m: [(each, np.ones(m)) for each in choices] for m, choices in found["SBQ"].items()}
    return rows, chosen


def _firsts(choices: list[Indices], sizes: tuple[int, ...]) -> dict[int, list[Indices]]:
    """Read greedy choices off at each size that all of them reach: they end where no candidate adds anything."""
    return {m: [each[:m] for each in choices] for m in sizes if all(m <= each.size for each in choices)}


def _fit(inputs: Floats, labels: Floats, weights: Floats | None = None) -> LogisticRegression:
    """Fit with scikit-learn's own penalty; weights count as they would if each row came so often."""
    return LogisticRegression(max_iter=500).fit(inputs, labels, sample_weight=weights)


def _loss(model: LogisticRegression, split: Split) -> float:
    logits = model.decision_function(split.test)
    return float(np.mean(np.logaddexp(0.0, logits) - split.test_labels * logits))


def _refit(split: Split, rows: Indices, weights: Floats) -> float:
    """Refit to the rows with weights that have mean one, as unweighted rows do."""
    labels = split.train_labels[rows]
    if np.unique(labels[weights > 0]).size < 2:
        share = float(np.clip(labels.mean(), 1e-3, 1.0 - 1e-3))  # rows of one class fit no model; the constant is the best left
        return float(-np.mean(np.where(split.test_labels > 0, np.log(share), np.log1p(-share))))
    return _loss(_fit(split.train[rows], labels, weights / weights.mean()), split)


def _random(split: Split, m: int, seed: int) -> float:
    rows = np.random.default_rng([8, seed]).choice(split.train_labels.size, m, replace=False)
    return _refit(split, rows.astype(np.int64), np.ones(m))


def _coreset(split: Split, m: int, seed: int) -> float:
    return _refit(split, *coreset(split, m, seed))
