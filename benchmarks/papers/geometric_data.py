"""Data of the summarisation experiment, its splits, and the coreset of Huggins, Campbell and Broderick (2016)."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
from sklearn.cluster import KMeans

__all__ = ["NAMES", "Split", "coreset", "read"]

Floats = npt.NDArray[np.float64]

NAMES = ("chemreact", "covtype", "phishing")
#: Rows of the test part, drawn at random: the paper's numbers for ChemReact and CovType, and a tenth or so.
_TEST_ROWS = {"chemreact": 2_500, "covtype": 29_000, "phishing": 1_500}
#: Rows of the target at most: the kernel between half a million candidates and a tenth of CovType would take most of the time.
_TARGET_ROWS = 5_000


class Split(NamedTuple):
    """Standardised inputs with labels 0 or 1: to train on, up to 5,000 of a tenth held out as the target, to test on."""

    train: Floats
    train_labels: Floats
    target: Floats
    target_labels: Floats
    test: Floats
    test_labels: Floats


def read(data: Path, name: str, seed: int) -> Split:
    """Read a data set, part it at random, and standardise it by what is trained on."""
    if name == "chemreact":
        table = pq.read_table(data / "chemreact_pc10.parquet").to_pandas()
        table.pop("split")
        labels = (table.pop("label") > 0).to_numpy(dtype=np.float64)
    elif name == "covtype":
        table = pq.read_table(data / "covtype.parquet").to_pandas()
        labels = (table.pop("Cover_Type") == 2).to_numpy(dtype=np.float64)
    else:
        table = pq.read_table(data / "phishing.parquet").to_pandas()
        labels = table.pop("label").to_numpy(dtype=np.float64)
    tested = _some(labels.size, _TEST_ROWS[name], seed)
    inputs = table.to_numpy(dtype=np.float64)
    rest, rest_labels = inputs[~tested], labels[~tested]
    held = _some(rest_labels.size, rest_labels.size // 10, seed + 1)
    target = np.flatnonzero(held)
    target = target[_some(target.size, min(target.size, _TARGET_ROWS), seed + 2)]
    mean, spread = rest[~held].mean(axis=0), rest[~held].std(axis=0)
    spread[spread == 0] = 1.0
    parts: list[Any] = []
    chosen = ((rest[~held], rest_labels[~held]), (rest[target], rest_labels[target]), (inputs[tested], labels[tested]))
    for part, answers in chosen:
        parts += [(part - mean) / spread, answers]
    return Split(*parts)


def coreset(
    split: Split, count: int, seed: int, *, clusters: int = 6, radius: float = 3.0
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Draw rows in proportion to a bound on their sensitivity, weighed by its inverse (Huggins et al. 2016, Algorithm 1).

    With Z = (2 y - 1) (x, 1) in k clusters of sizes G_i and means Zbar_i, the sensitivity of row n is at most
    N / (1 + sum_i G_i exp(-radius |Zbar_i - Z_n|)). The row itself is not taken out of its cluster, a difference of 1/G_i.
    """
    signs = 2.0 * split.train_labels - 1.0
    signed = signs[:, None] * np.column_stack([split.train, np.ones(signs.size)])
    rng = np.random.default_rng([7, seed])
    found = KMeans(clusters, n_init=1, random_state=seed).fit(
        signed[rng.choice(signs.size, min(signs.size, 20_000), replace=False)]
    )
    sizes = np.bincount(found.predict(signed), minlength=clusters)
    bounds = signs.size / (1.0 + np.exp(-radius * found.transform(signed)) @ sizes)
    shares = bounds / bounds.sum()
    rows, times = np.unique(rng.choice(signs.size, count, p=shares), return_counts=True)
    return rows, times / (shares[rows] * count * signs.size)


def _some(n: int, count: int, seed: int) -> npt.NDArray[np.bool_]:
    chosen = np.zeros(n, dtype=np.bool_)
    chosen[np.random.default_rng([6, seed]).choice(n, count, replace=False)] = True
    return chosen
