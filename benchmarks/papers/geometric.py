"""Geometric rates for kernel-based sampling: figure 1 and figure 2, on one machine and on several."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

import supersample as ss
from benchmarks.papers.figures import loglog_slope, panels, write_numbers
from benchmarks.papers.geometric_data import NAMES, Split, coreset, read
from benchmarks.papers.geometric_distributed import FIGURE_1, FIGURE_2, STYLE
from benchmarks.papers.herding_data import KERNEL, mixture
from benchmarks.papers.trials import one_thread_workers

__all__ = ["run"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

_STYLE: dict[str, dict[str, Any]] = {
    "random": {"color": "#CC79A7", "linestyle": ":", "marker": "v"},
    "coreset": {"color": "#009E73", "linestyle": "-.", "marker": "D"},
    "herding": {"color": "#0072B2", "linestyle": "--", "marker": "o"},
    "WKH": {"color": "#56B4E9", "linestyle": "-", "marker": "^"},
    "SBQ": {"color": "#D55E00", "linestyle": "-", "marker": "s"},
    "SBQ, unweighted": {"color": "#E69F00", "linestyle": ":", "marker": "x"},
    **STYLE,
}
_METHODS = {"herding": ss.herd, "WKH": ss.wkh, "SBQ": ss.sbq}
#: Candidates of CovType, of half a million rows: a step of SBQ reads its whole factor.
_LARGEST_POOL = 20_000


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
    pools, largest = (2, 40) if quick else (10, 200)
    with one_thread_workers() as workers:
        paths = list(workers.map(partial(_match, data, 2_000 if quick else 10_000, largest), range(pools)))
    sizes = np.arange(1, largest + 1)
    numbers: dict[str, Any] = {"pools": pools}
    with panels(out / "figure-1", 1) as (ax,):
        for name in (*_METHODS, *FIGURE_1):
            mean = np.mean([path[name] for path in paths], axis=0)
            style = {key: value for key, value in _STYLE[name].items() if key != "marker"}
            ax.loglog(sizes, mean, label=name, **style)
            slope = loglog_slope(sizes[19:], mean[19:])
            at = {str(n): float(mean[n - 1]) for n in (10, 20, 50, 100, 200) if n <= largest}
            numbers[name] = {"mmd": at, "slope_20_on": slope}
            print(f"figure 1     {name:8} " + ", ".join(f"{n}: {each:.4f}" for n, each in at.items()) + f"; slope {slope:.2f}")
        ax.set(xlabel="points", ylabel="MMD")
        ax.legend()
    write_numbers(out / "figure-1", numbers)


def _match(data: Path, pool_size: int, largest: int, seed: int) -> dict[str, Floats]:
    measure = mixture(data)
    pool = measure.sample(pool_size, np.random.SeedSequence([1, seed]))
    methods = {**_METHODS, **FIGURE_1}
    return {name: method(pool, largest, target=measure, kernel=KERNEL).mmd for name, method in methods.items()}


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
    for method, weighted in chosen.items():
        for m, (places, weights) in weighted.items():
            losses.setdefault(method, {})[str(m)] = [_refit(split, rows[places], weights)]
    with panels(out / f"figure-2-{name}", 1) as (ax,):
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
        ax.legend(loc="lower left")
    if name == "covtype" and not quick:
        mine, theirs = abs(losses["SBQ"]["1000"][0] - least), abs(np.mean(losses["random"]["5000"]) - least)
        verdict = "met" if mine < theirs else "MISSED"
        print(f"figure 2     covtype: SBQ at 1,000 {mine:.4f} from full, random at 5,000 {theirs:.4f}: {verdict}")
    write_numbers(out / f"figure-2-{name}", {"full": least, "rows": split.train_labels.size, "test_nll": losses})


def _choose(split: Split, sizes: tuple[int, ...], largest: int) -> tuple[Indices, dict[str, dict[int, tuple[Indices, Floats]]]]:
    """Choose by each method in Fisher space, for the rows held out; weights on the simplex."""
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
    measure = ss.measures.Empirical(target)
    chosen: dict[str, dict[int, tuple[Indices, Floats]]] = {}
    for name, method in {**_METHODS, **FIGURE_2}.items():
        found = method(pool, max(sizes), target=measure, kernel=kernel)
        for m in (each for each in sizes if each <= len(found)):
            kind: Any = "uniform" if name == "herding" else "simplex"
            weights = ss.quadrature_weights(found.points[:m], target=measure, kernel=kernel, kind=kind)
            chosen.setdefault(name, {})[m] = (found.indices[:m], weights)
            if name == "SBQ":  # the paper does not say whether its models are refitted with weights
                chosen.setdefault("SBQ, unweighted", {})[m] = (found.indices[:m], np.ones(m))
    return rows, chosen


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
