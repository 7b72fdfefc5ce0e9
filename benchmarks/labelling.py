"""Rows to label: the accuracy of a simple model fitted to chosen rows, beside random rows and rows of k-means.

`python -m benchmarks.labelling --data DIR` prints the table of docs/guides/choose.md. Data, sizes, seeds, model and methods
were fixed before an accuracy was seen. A choice sees no label. For each seed 10,000 random rows are the pool, and as many
others the test rows; of smaller data a fifth are the test rows and the others the pool.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
from sklearn.cluster import MiniBatchKMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances_argmin

import supersample as ss

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

_POOL, _TEST = 10_000, 10_000
_SIZES = (50, 200, 1_000)
_SEEDS = range(10)
#: Principal components of the digits, which stand for an embedding of images.
_COMPONENTS = 64


class Rows(NamedTuple):
    """Points and their labels."""

    points: Floats
    labels: npt.NDArray[Any]


class Chosen(NamedTuple):
    """Rows to label, and their weights in training."""

    rows: Indices
    weights: Floats | None


def main() -> None:
    """Measure what was asked for and print one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labelling", description="Accuracy by how rows were chosen.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of data sets")
    parser.add_argument("--only", nargs="+", choices=tuple(_READ), default=tuple(_READ), metavar="NAME", help=", ".join(_READ))
    parser.add_argument("--seeds", type=int, default=len(_SEEDS), help="the first of the ten seeds")
    arguments = parser.parse_args()
    print("| data | rows labelled |", " | ".join(_METHODS), "|")
    print("|---|---|" + "---|" * len(_METHODS))
    for name in arguments.only:
        whole = _READ[name](arguments.data)
        scores = np.array([_scores(name, whole, seed) for seed in range(arguments.seeds)])
        for place, size in enumerate(_SIZES):
            cells = [_told(scores[:, place, each], scores[:, place, 0]) for each in range(len(_METHODS))]
            print(f"| {name} | {size:,} |", " | ".join(cells), "|", flush=True)


def _scores(name: str, whole: Rows, seed: int) -> list[list[float]]:
    """Return the test accuracy of each size and method."""
    order = np.random.default_rng([3, seed]).permutation(len(whole.labels))
    pool_rows, test_rows = order[:_POOL], order[_POOL : _POOL + _TEST]
    if len(order) < _POOL + _TEST:
        test_rows = order[-len(order) // 5 :]
        pool_rows = order[: len(order) - test_rows.size]
    pool, test = whole.points[pool_rows], whole.points[test_rows]
    if name == "mnist":
        found = PCA(_COMPONENTS, random_state=0).fit(pool)
        pool, test = found.transform(pool), found.transform(test)
    else:
        mean, spread = pool.mean(axis=0), pool.std(axis=0)
        spread[spread == 0] = 1.0
        pool, test = (pool - mean) / spread, (test - mean) / spread
    answers, truth = whole.labels[pool_rows], whole.labels[test_rows]
    return [[_accuracy(choose(pool, m, seed), pool, answers, test, truth) for choose in _METHODS.values()] for m in _SIZES]


def _accuracy(chosen: Chosen, pool: Floats, labels: npt.NDArray[Any], test: Floats, truth: npt.NDArray[Any]) -> float:
    """Return the share of test rows that a logistic regression on the chosen rows gets right."""
    answers = labels[chosen.rows]
    if np.unique(answers).size < 2:
        return float(np.mean(truth == answers[0]))
    model = LogisticRegression(max_iter=300).fit(pool[chosen.rows], answers, sample_weight=chosen.weights)
    return float(model.score(test, truth))


def _random(pool: Floats, m: int, seed: int) -> Chosen:
    return Chosen(np.random.default_rng([4, seed]).choice(len(pool), m, replace=False), None)


def _by_means(pool: Floats, m: int, seed: int) -> Chosen:
    """Choose the row nearest to each centre of k-means."""
    means = MiniBatchKMeans(m, n_init=1, batch_size=2_048, random_state=seed).fit(pool)
    return Chosen(np.unique(pairwise_distances_argmin(means.cluster_centers_, pool)), None)


def _sampled(weighted: bool) -> Callable[[Floats, int, int], Chosen]:
    def choose(pool: Floats, m: int, seed: int) -> Chosen:
        sampler = ss.SuperSampler(m, random_state=seed).fit(pool)
        # Weights of mean one, so that the penalty is that of as many rows.
        return Chosen(sampler.prototype_indices_, m * np.asarray(sampler.weights_) if weighted else None)

    return choose


def _told(scores: Floats, random: Floats) -> str:
    """Return the mean accuracy, and on how many seeds it is above that of random rows."""
    wins = "" if scores is random or (scores == random).all() else f" ({int((scores > random).sum())})"
    return f"{100 * scores.mean():.1f}{wins}"


def _digits(folder: Path) -> Rows:
    table = pq.read_table(folder / "mnist_train.parquet")
    names = table.column_names
    images = table[names[0]].combine_chunks().flatten().to_numpy().reshape(table.num_rows, -1)
    return Rows(images.astype(np.float64) / 255.0, table[names[1]].to_numpy())


def _table(name: str, label: str) -> Callable[[Path], Rows]:
    def read(folder: Path) -> Rows:
        frame = pq.read_table(folder / name).to_pandas()
        labels = frame.pop(label).to_numpy()
        return Rows(frame.to_numpy(dtype=np.float64), labels)

    return read


_READ: dict[str, Callable[[Path], Rows]] = {
    "mnist": _digits,
    "covtype": _table("covtype.parquet", "Cover_Type"),
    "phishing": _table("phishing.parquet", "label"),
}
_METHODS: dict[str, Callable[[Floats, int, int], Chosen]] = {
    "random": _random,
    "k-means": _by_means,
    "SuperSampler": _sampled(weighted=False),
    "SuperSampler, weighted": _sampled(weighted=True),
}


if __name__ == "__main__":
    main()
