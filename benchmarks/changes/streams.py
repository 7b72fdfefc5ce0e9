"""The streams: Gaussians that change, streams that stay as they are, and real rows; drawn again for each draw."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.peers.judge import Floats

__all__ = ["ORDER", "Stream", "StreamSet", "stream_sets"]

_WIDTH = 10
#: Rows before anything changes: the reference of those who need one, then those in which nothing is to be found.
_FIRST, _QUIET, _AFTER = 1_000, 400, 1_000
#: Gaussian streams share this many references, since thresholds by a bootstrap take long.
_REFERENCES = 3
#: Rows of a class of digits, drawn with replacement, so that a reference fits into one.
_CLASS = 1_500


@dataclass(frozen=True)
class Stream:
    """Rows in the order of time, and the first row after each change."""

    rows: Floats
    changes: tuple[int, ...] = ()


@dataclass(frozen=True)
class StreamSet:
    """Streams of one kind; `draw` returns another one for each seed.

    few: how many of the draws slow detectors get, and part: how many of the rows. horizon: an alarm counts for a change if it
    is raised in so many rows after it. first: rows of a reference. once: whether a stream ends with the alarm for its change.
    categories: how many values the last column has, if it is one of categories.
    """

    name: str
    title: str
    kind: Literal["changes", "still", "real"]
    draws: int
    few: int
    draw: Callable[[int], Stream]
    part: int | None = None
    horizon: int = 1_000
    first: int = _FIRST
    once: bool = False
    categories: int = 0


def _gaussian(change: Callable[[Floats], Floats]) -> Callable[[int], Stream]:
    """Return what draws standard normal rows, those after the change as `change` makes them of such rows."""

    def draw(seed: int) -> Stream:
        first = np.random.default_rng([1, seed % _REFERENCES]).standard_normal((_FIRST, _WIDTH))
        rows = np.random.default_rng([2, seed]).standard_normal((_QUIET + _AFTER, _WIDTH))
        return Stream(np.concatenate([first, rows[:_QUIET], change(rows[_QUIET:])]), (_FIRST + _QUIET,))

    return draw


def _one_column(rows: Floats) -> Floats:
    moved = rows.copy()
    moved[:, 0] += 1.0
    return moved


def _correlated(rows: Floats) -> Floats:
    factor = np.linalg.cholesky(np.full((_WIDTH, _WIDTH), 0.5) + 0.5 * np.eye(_WIDTH))
    return np.asarray(rows @ factor.T)


_CHANGES: Mapping[str, tuple[str, Callable[[Floats], Floats]]] = {
    "mean-1": ("mean, 1 sd in all columns", lambda rows: rows + 1.0),
    "mean-05": ("mean, 0.5 sd in all columns", lambda rows: rows + 0.5),
    "mean-025": ("mean, 0.25 sd in all columns", lambda rows: rows + 0.25),
    "mean-one": ("mean, 1 sd in one column", _one_column),
    "scale": ("scale, times 1.5", lambda rows: rows * 1.5),
    "correlation": ("correlation, 0 to 0.5", _correlated),
}


def _still_gaussian(seed: int, n: int) -> Floats:
    first = np.random.default_rng([1, seed % _REFERENCES]).standard_normal((_FIRST, _WIDTH))
    return np.concatenate([first, np.random.default_rng([3, seed]).standard_normal((n - _FIRST, _WIDTH))])


def _cauchy(seed: int, n: int) -> Floats:
    return np.random.default_rng([4, seed]).standard_cauchy((n, _WIDTH))


def _tied(seed: int, n: int) -> Floats:
    return np.random.default_rng([5, seed]).choice(3, (n, _WIDTH), p=(0.5, 0.3, 0.2)).astype(np.float64)


def _mixed(seed: int, n: int) -> Floats:
    rng = np.random.default_rng([6, seed])
    parts = (
        rng.standard_normal((n, 3)), rng.lognormal(size=(n, 2)), rng.exponential(size=(n, 1)), rng.poisson(3.0, (n, 2)),
        rng.random((n, 2)) < 0.3,
    )  # fmt: skip
    return np.concatenate([part.astype(np.float64) for part in parts], axis=1)


def _autoregressive(near: float) -> Callable[[int, int], Floats]:
    """Return what draws rows with variance 1, each `near` times the one before it plus noise."""
    from scipy.signal import lfilter

    def draw(seed: int, n: int) -> Floats:
        noise = np.random.default_rng([7, round(10 * near), seed]).standard_normal((n + 500, _WIDTH))
        return np.asarray(lfilter([np.sqrt(1.0 - near**2)], [1.0, -near], noise, axis=0)[500:])

    return draw


_STILL: Mapping[str, tuple[str, Callable[[int, int], Floats]]] = {
    "gaussian": ("Gaussian", _still_gaussian),
    "cauchy": ("Cauchy", _cauchy),
    "tied": ("tied (three values)", _tied),
    "mixed": ("mixed (skew, counts, yes or no)", _mixed),
    "ar-05": ("AR(1), 0.5", _autoregressive(0.5)),
    "ar-09": ("AR(1), 0.9", _autoregressive(0.9)),
}
#: The names of all sets, in the order of the page.
ORDER = (*_CHANGES, *_STILL, "digits", "digits-short", "rbf-label", "rbf", "sea", "electricity")


def stream_sets(data: Path, *, quick: bool) -> Iterator[StreamSet]:
    """Yield all sets; files of `data` are read when rows are drawn."""
    for each in (*_changing(), *_unchanging(2_000 if quick else 11_000), *_digits(), *_real(data)):
        yield replace(each, draws=min(each.draws, 2), few=1, part=2_000) if quick else each


def _changing() -> Iterator[StreamSet]:
    for name, (title, change) in _CHANGES.items():
        yield StreamSet(name, title, "changes", 20, 10, _gaussian(change), once=True)


def _unchanging(n: int) -> Iterator[StreamSet]:
    for name, (title, rows) in _STILL.items():
        draw = partial(_drawn, rows, n)
        yield StreamSet(name, title, "still", 10, 2, draw)


def _drawn(rows: Callable[[int, int], Floats], n: int, seed: int) -> Stream:
    return Stream(rows(seed, n))


def _digits() -> Iterator[StreamSet]:
    long, short = "digits by classes, 1,500 rows each, drawn with replacement", "digits by classes, as they are"
    yield StreamSet("digits", long, "real", 2, 1, lambda seed: _ordered_digits(seed, _CLASS), part=4_500, horizon=500)
    yield StreamSet("digits-short", short, "real", 10, 1, lambda seed: _ordered_digits(seed, None), horizon=170, first=150)


def _ordered_digits(seed: int, size: int | None) -> Stream:
    """Return scikit-learn's digits, class after class in a permuted order; drawn with replacement if a size is given."""
    from sklearn.datasets import load_digits

    images, classes = load_digits(return_X_y=True)
    rng = np.random.default_rng([8, seed])
    parts = []
    for each in rng.permutation(10):
        rows = images[classes == each]
        parts.append(rows if size is None else rows[rng.integers(0, len(rows), size)])
    ends = np.cumsum([len(part) for part in parts])
    return Stream(np.concatenate(parts).astype(np.float64), tuple(int(end) for end in ends[:-1]))


def _real(data: Path) -> Iterator[StreamSet]:
    blocks = tuple(range(3_000, 200_000, 3_000))
    points = "15 Gaussians that change places"
    labelled = StreamSet(
        "rbf-label", f"{points}, with label", "real", 1, 1,
        lambda _: Stream(_read(data / "interchanging_rbf.parquet", 3), blocks), part=13_000, categories=15,
    )  # fmt: skip
    yield labelled
    yield replace(
        labelled, name="rbf", title=f"{points}, without label", categories=0, part=11_000,
        draw=lambda _: Stream(_read(data / "interchanging_rbf.parquet", 2)),
    )  # fmt: skip
    yield StreamSet("sea", "SEA, points alone", "real", 1, 1, lambda _: Stream(_read(data / "sea.parquet", 3)), part=11_000)
    yield StreamSet(
        "electricity", "electricity", "real", 1, 1, lambda _: Stream(_read(data / "electricity.parquet", 6), (17_424,)),
        part=18_500,
    )  # fmt: skip


def _read(path: Path, columns: int) -> Floats:
    import pyarrow.parquet as parquet

    table = parquet.read_table(path)
    return np.column_stack([table.column(place).to_numpy().astype(np.float64) for place in range(columns)])
