"""Rows of a pool that match a target: `python -m benchmarks.aim --data FOLDER [--rows 1000] [--seed 0] [--parts]`.

The pool is the 60,000 training digits of MNIST; the targets are test digits: those of three classes, and all classes with
shares 1:2:...:10. Half of the target is shown, half is held out. For each way to choose: the largest difference of the class
shares from those of batch herding, in points; the exact MMD to the held-out half, over herding's; and seconds. With `--parts`
also the seconds and the bytes of the state for a tenth of the pool, and for all of it.

`python -m benchmarks.aim --rare` needs no data: 200,000 rows in ten columns, of which few are like the target. MMD of 100 rows
to the held-out target over that of herding, and how many rows kept for the second look are like it, with and without relevance.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow.parquet as pq
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors

import supersample as ss
from supersample._typing import Floats, Indices
from supersample.measures import Empirical
from supersample.selection.stream import relevance

__all__ = ["importance", "nearest_in_turn", "rare", "report"]

THREE = (2, 5, 9)
#: Rows of the pool that the classifier of importance resampling is fitted on.
_FITTED = 10_000


def digits(folder: Path, part: str) -> tuple[Floats, Indices]:
    """Return images as rows of numbers from 0 to 1, and their labels."""
    table = pq.read_table(folder / f"mnist_{part}.parquet")
    images = np.asarray(table["image"].combine_chunks().flatten().to_numpy(), dtype=np.float64).reshape(-1, 784) / 255.0
    return images, np.asarray(table["label"].to_numpy(), dtype=np.int64)


def targets(labels: Indices, seed: int) -> Iterator[tuple[str, Indices]]:
    """Yield each target by its name, as places in random order."""
    generator = np.random.default_rng(seed)
    yield f"digits {', '.join(map(str, THREE))}", generator.permutation(np.flatnonzero(np.isin(labels, THREE)))
    rows = [generator.permutation(np.flatnonzero(labels == digit)) for digit in range(10)]
    unit = min(len(each) / (digit + 1) for digit, each in enumerate(rows))
    shares = [each[: int(unit * (digit + 1))] for digit, each in enumerate(rows)]
    yield "shares 1:2:...:10", generator.permutation(np.concatenate(shares))


def nearest_in_turn(pool: Floats, target: Floats, size: int, seed: int) -> Indices:
    """Let the rows of the target, in random order, choose their nearest rows of the pool in turn, none twice."""
    near = NearestNeighbors(n_neighbors=50).fit(pool).kneighbors(target, return_distance=False)
    order, taken, chosen = np.random.default_rng(seed).permutation(len(target)), set[int](), list[int]()
    while len(chosen) < size:
        for place in order:
            free = next((int(each) for each in near[place] if int(each) not in taken), None)
            if free is not None:
                taken.add(free)
                chosen.append(free)
            if len(chosen) == size:
                break
    return np.array(chosen)


def importance(pool: Floats, target: Floats, size: int, seed: int) -> Indices:
    """Draw rows of the pool without replacement by the odds that a logistic regression gives them to be of the target."""
    generator = np.random.default_rng(seed)
    some = pool[generator.choice(len(pool), _FITTED, replace=False)]
    rows, labels = np.concatenate([some, target]), np.repeat([0, 1], [len(some), len(target)])
    odds = LogisticRegression(max_iter=300).fit(rows, labels).decision_function(pool)
    return np.argsort(odds - np.log(generator.standard_exponential(len(pool))))[::-1][:size]  # by exponential times


def report(folder: Path, size: int, seed: int, *, parts: bool) -> None:
    """Print one line for each target and way to choose."""
    pool, labels = digits(folder, "train")
    images, kinds = digits(folder, "test")
    for name, places in targets(kinds, seed):
        shown, held = np.array_split(places, 2)
        sampler = ss.SuperSampler(size, target=images[shown], random_state=seed)
        ways = _ways(pool, images[shown], sampler, size, seed)
        print(f"\n{name}: {len(shown):,} rows shown, {len(held):,} held out; {size:,} of {len(pool):,} rows")
        print("way                     points off herding   points off target   MMD to held-out   over herding's   seconds")
        found = {way: _timed(choose) for way, choose in ways.items()}
        _tell(found, labels, np.bincount(kinds[shown], minlength=10) / len(shown), pool, images[held], sampler.kernel_)
        if parts:
            for part in (len(pool) // 10, len(pool)):
                fresh = ss.SuperSampler(size, target=images[shown], random_state=seed)
                _, seconds = _timed(partial(fresh.fit, pool[:part]))
                print(f"fit alone, {part:,} rows: {seconds:.1f} s, {_bytes_of(fresh._now.state) / 2**20:.0f} MB of state")


def rare(size: int, seed: int) -> None:
    """Print how rows are found that are 1% and 0.1% of the pool, and whether the relevance of rows is what finds them."""
    print("share of the pool   relevance   like the target, of those kept   MMD to held-out, over herding's")
    for share in (0.01, 0.001):
        generator = np.random.default_rng(seed)
        like = generator.random(200_000) < share
        pool = generator.normal(size=(like.size, 10)) + 2.0 * like[:, None]
        shown, held = (generator.normal(size=(1_000, 10)) + 2.0 for _ in range(2))
        for due in (relevance.is_due, lambda _: False):
            with mock.patch.object(relevance, "is_due", due):
                found = ss.SuperSampler(size, target=shown, random_state=seed).fit(pool)
                rows = found.prototype_indices_
            kept = found._now.state.near.sample.rows.positions
            measure, chosen = Empirical(held), ss.herd(pool, size, target=shown, kernel=found.kernel_).indices
            energy = measure.energy(found.kernel_)
            ours, theirs = (_mmd(found.kernel_, measure, energy, pool[each]) for each in (rows, chosen))
            name = "fitted" if due is relevance.is_due else "none"
            print(f"{share:17.1%}   {name:9s}   {like[kept].sum():14,} of {kept.size:6,}   {ours / theirs:22.3f}", flush=True)


def _mmd(kernel: Any, measure: Empirical, energy: float, rows: Floats) -> float:
    square = energy - 2.0 * float(measure.mean_embedding(kernel, rows).mean()) + Empirical(rows).energy(kernel)
    return float(np.sqrt(max(square, 0.0)))


def _ways(pool: Floats, target: Floats, sampler: ss.SuperSampler, size: int, seed: int) -> dict[str, Callable[[], Indices]]:
    """Return the ways to choose; herding has the kernel of the sampler, which comes first."""
    return {
        "SuperSampler(target=)": lambda: sampler.fit(pool).prototype_indices_,
        "herd(target=)": lambda: ss.herd(pool, size, target=target, kernel=sampler.kernel_).indices,
        "nearest neighbours": lambda: nearest_in_turn(pool, target, size, seed),
        "importance": lambda: importance(pool, target, size, seed),
        "random": lambda: np.random.default_rng(seed).choice(len(pool), size, replace=False),
    }


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def _tell(
    found: dict[str, tuple[Indices, float]], labels: Indices, wanted: Floats, pool: Floats, held: Floats, kernel: Any
) -> None:
    measure = Empirical(held)
    energy = measure.energy(kernel)

    shares = {way: np.bincount(labels[rows], minlength=10) / len(rows) for way, (rows, _) in found.items()}
    best = _mmd(kernel, measure, energy, pool[found["herd(target=)"][0]])
    for way, (rows, seconds) in found.items():
        off, away = (100.0 * float(np.abs(shares[way] - other).max()) for other in (shares["herd(target=)"], wanted))
        reached = _mmd(kernel, measure, energy, pool[rows])
        print(f"{way:22s} {off:19.1f} {away:19.1f} {reached:17.5f} {reached / best:16.3f} {seconds:9.1f}", flush=True)


def _bytes_of(value: Any) -> int:
    """Return the bytes of all arrays of a state, its maps left out."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, tuple):
        return sum(map(_bytes_of, value))
    fields = getattr(value, "__dataclass_fields__", {})
    return sum(_bytes_of(getattr(value, name)) for name in fields if name not in ("plan", "settings"))


def main() -> None:
    """Read the arguments and report."""
    parser = argparse.ArgumentParser(description="Rows of a pool that match a target")
    parser.add_argument("--data", type=Path, help="folder with mnist_train.parquet and mnist_test.parquet")
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parts", action="store_true", help="also the cost of a tenth of the pool")
    parser.add_argument("--rare", action="store_true", help="rows that are few in a pool of random numbers, without data")
    asked = parser.parse_args()
    if asked.rare:
        rare(100, asked.seed)
    if asked.data is not None:
        report(asked.data, asked.rows, asked.seed, parts=asked.parts)


if __name__ == "__main__":
    main()
