"""Comparison of two summaries without the data: whether they differ, in which columns, and where."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from supersample._threads import one_blas_thread
from supersample._typing import Floats
from supersample.discrepancy.feature_test import Embedded, compare_embedded
from supersample.discrepancy.result import TestResult
from supersample.features import Fourier
from supersample.kernels import Gaussian
from supersample.records.encoding import require_same
from supersample.selection.stream import background
from supersample.selection.stream.lifecycle import Stream, drain
from supersample.summary.state import Running, require_same_maps

__all__ = ["ColumnChange", "Comparison", "compare"]

#: Features of one column's test, and its fixed seed: the same two summaries always give the same answer.
_COLUMN_FEATURES, _COLUMN_SEED = 128, 20140507
#: Rows shown of each side.
_SHOWN = 10
#: Level at which columns count as changed, after adjustment for their number.
_LEVEL = 0.05
#: A variance this small relative to the largest square is rounding error of the mean.
_NO_SPREAD = 1e-24


@dataclass(frozen=True)
class ColumnChange:
    """The difference in one column alone: its MMD, a p-value adjusted for the number of columns, and its share of the whole.

    share: this column's MMD^2 beyond its mean under the null, divided by the sum of those of all columns.
    """

    name: str
    mmd: float
    pvalue: float
    share: float


@dataclass(frozen=True)
class Comparison(TestResult):
    """The result of `Summary.compare`: a two-sample test, and where the two differ.

    columns: one entry for each column in the kernel and for the label, those that changed most first. changed: names of those
    whose adjusted p-value is at most 0.05. left_rows, right_rows: rows of each side that are most typical of it and least of
    the other.

    >>> import numpy as np
    >>> import supersample as ss
    >>> data = np.random.default_rng(0).normal(size=(2_000, 2))
    >>> first = ss.summarize(data[:1_000], prototypes=10, random_state=0)
    >>> second = ss.summarize(data[1_000:] + [1.0, 0.0], like=first, random_state=1)
    >>> first.compare(second).changed
    ('x0',)
    """

    columns: tuple[ColumnChange, ...] = ()
    left_rows: Any = None
    right_rows: Any = None

    @property
    def mmd(self) -> float:
        """The MMD, the square root of the statistic."""
        return float(np.sqrt(self.statistic))

    @property
    def n_left(self) -> int:
        """Rows seen by the left summary."""
        return self.n_x

    @property
    def n_right(self) -> int:
        """Rows seen by the right summary."""
        return self.n_y

    @property
    def changed(self) -> tuple[str, ...]:
        """The columns that differ when tested one at a time, at the 5% level over all columns together."""
        return tuple(each.name for each in self.columns if each.pvalue <= _LEVEL)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and names as plain values."""
        return {
            "mmd": self.mmd,
            "statistic": self.statistic,
            "pvalue": self.pvalue,
            "differs": self.rejects(),
            "rows": [self.n_left, self.n_right],
            "changed": list(self.changed),
            "columns": [vars(each) for each in self.columns],
        }

    def __str__(self) -> str:
        """Return the result in words, at the 5% level."""
        return self.in_words()

    def in_words(self, level: float = 0.05) -> str:
        """Return in words whether the two differ at a level, how far apart they are, and in which columns."""
        verdict = "differ" if self.rejects(level) else "show no difference"
        shown = "5%" if level == _LEVEL else f"{level:.3g}"
        lines = [
            f"Comparison of {self.n_left:,} and {self.n_right:,} rows: they {verdict} at the {shown} level",
            f"  MMD      {self.mmd:.4g}",
            f"  p-value  {self.pvalue:.4g}",
            f"  columns  {', '.join(self.changed) if self.changed else 'none stands out by itself'}",
        ]
        return "\n".join(lines)


@one_blas_thread()
def compare(left: Running, right: Running) -> Comparison:
    """Compare two settled states that share their encoding and feature maps. O(B D^2 + columns B F) for B background rows."""
    require_same(left.encoding, right.encoding)
    first, second = _drained(left), _drained(right)
    require_same_maps(first, second)
    samples = _embedded(first), _embedded(second)
    test = compare_embedded(*samples)
    witness = samples[0].mean - samples[1].mean
    columns, aside = _columns(left, right, first, second)
    return Comparison(
        statistic=test.statistic,
        # A label is not in the kernel: it is a second question, and the smaller of two p-values counts twice.
        pvalue=test.pvalue if aside is None else min(1.0, 2.0 * min(test.pvalue, aside)),
        null="spectral",
        method="features",
        estimator="biased",
        kernel=first.fixed_plan.kernel,
        n_x=first.n_seen,
        n_y=second.n_seen,
        n_features=first.fixed_plan.feature_map.n_features,
        null_quantiles=test.null_quantiles(),
        columns=columns,
        left_rows=_telling_rows(left, first, samples[0].features @ witness),
        right_rows=_telling_rows(right, second, -(samples[1].features @ witness)),
    )


def _drained(state: Running) -> Stream:
    held = drain(state.stream)
    return replace(held, background=background.settled(held.background, held.settings.n_background))


def _embedded(state: Stream) -> Embedded:
    sums = state.moments.sums()
    rows = state.background.rows
    features = state.fixed_plan.feature_map.transform(rows.points).astype(np.float64)
    return Embedded(
        state.moments.mean(), state.moments.effective_rows, features, state.background.shares(), _ratios(state),
        float(sums[-1] / sums[-2]),
    )  # fmt: skip


def _ratios(state: Stream) -> Floats:
    weights = state.background.rows.relative_weights()
    return np.asarray(weights / float(state.background.shares() @ weights))


def _columns(left: Running, right: Running, first: Stream, second: Stream) -> tuple[tuple[ColumnChange, ...], float | None]:
    """Test each column by itself on the background samples, and adjust the p-values by Holm's rule.

    Return the changes, and the p-value of the label alone, None without one.
    """
    shares = [each.background.shares() for each in (first, second)]
    blocks = zip(_blocks(left, first), _blocks(right, second), strict=True)
    found = [(name, *_column_test([mine, theirs], shares)) for (name, mine), (_, theirs) in blocks]
    order = np.argsort([pvalue for _, _, pvalue, _ in found], kind="stable")
    adjusted, least = np.empty(len(found)), 0.0
    for rank, place_of in enumerate(order):
        least = max(least, min(1.0, (len(found) - rank) * found[place_of][2]))
        adjusted[place_of] = least
    whole = sum(excess for *_, excess in found) or 1.0
    changes = [
        ColumnChange(name, mmd, float(pvalue), excess / whole)
        for (name, mmd, _, excess), pvalue in zip(found, adjusted, strict=True)
    ]
    labels = {block.name for block in left.encoding.aside}
    aside = min((float(pvalue) for name, _, pvalue, _ in found if name in labels), default=None)
    return tuple(sorted(changes, key=lambda each: (-each.share, each.pvalue, each.name))), aside


def _blocks(state: Running, held: Stream) -> Iterator[tuple[str, Floats]]:
    """Yield each column with the coordinates of its background rows, including one that marks missing values.

    In the kernel, columns without missing values in the rows learned from have one coordinate for these all together.
    """
    rows = state.kept.at(held.background.rows.positions).combine_chunks()
    (batch,) = rows.to_batches()
    for block in (*state.encoding.blocks, *state.encoding.aside):
        out = np.zeros((rows.num_rows, block.width + 1))
        absent = block.fill(state.encoding.column(batch, block.name), out[:, :-1])
        if absent is not None:
            out[:, -1] = absent
        yield block.name, out


def _column_test(sides: list[Floats], shares: list[Floats]) -> tuple[float, float, float]:
    """Return MMD, p-value, and MMD^2 beyond its mean under the null, of some coordinates."""
    sizes = [1.0 / float(each @ each) for each in shares]
    means = [share @ side for share, side in zip(shares, sides, strict=True)]
    middle = (sizes[0] * means[0] + sizes[1] * means[1]) / sum(sizes)
    spread = sum(
        size * float(share @ np.einsum("ij,ij->i", side - middle, side - middle))
        for size, share, side in zip(sizes, shares, sides, strict=True)
    ) / sum(sizes)
    size = max(float(np.abs(side).max(initial=0.0)) for side in sides)
    if not spread > _NO_SPREAD * size * size:
        return 0.0, 1.0, 0.0
    kernel = Gaussian(float(np.sqrt(2.0 * spread)))
    phi = Fourier(kernel, _COLUMN_FEATURES, origin=middle, random_state=_COLUMN_SEED)
    samples = []
    for side, share, size in zip(sides, shares, sizes, strict=True):
        features = phi.transform(side).astype(np.float64)
        ratios = share / float(share @ share)
        samples.append(Embedded(share @ features, size, features, share, ratios if np.ptp(share) > 0 else np.ones_like(share)))
    test = compare_embedded(*samples)
    return float(np.sqrt(test.statistic)), test.pvalue, max(0.0, test.statistic - test.null_mean)


def _telling_rows(state: Running, held: Stream, witness: Floats) -> pa.Table:
    """Return the background rows with the largest witness, where it is positive."""
    order = np.argsort(-witness, kind="stable")[:_SHOWN]
    order = order[witness[order] > 0]
    positions = held.background.rows.positions[order]
    table = state.kept.at(positions)
    return table.append_column("_row", pa.array(positions)).append_column("_witness", pa.array(witness[order]))
