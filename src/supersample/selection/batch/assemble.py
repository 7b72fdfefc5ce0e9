"""Build a Selection from chosen points: weights, and an MMD path measured independently of the selecting features."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from supersample._random import Seed
from supersample._typing import Floats, Indices, PointsLike
from supersample._validation import check_count, check_flag, check_points, choose
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.measures import Empirical
from supersample.selection.batch.candidates import ExactField, FeatureField, Field
from supersample.selection.batch.estimated_mmd import Estimate, estimated_squares, needs_estimate
from supersample.selection.batch.weighting import WEIGHTINGS, Weighting, path_weights, weigh
from supersample.selection.result import Selection

__all__ = ["Chosen", "begin", "check_options", "finish", "finish_table", "steps_of"]

#: Paths whose last squares differ by less than this share of E are equal up to rounding.
_SAME = 1e-9


class Chosen:
    """Points in the order of selection, on the pool or moved off it, and the pool rows that they came from."""

    def __init__(self, field: Field, start: Selection | None, m: int) -> None:
        """Start with the points of an earlier selection, if any."""
        self.indices: list[int] = []
        self.rows = np.empty((m, field.points.shape[1]))
        self.moved = 0
        if start is not None:
            for index, point in zip(start.indices, start.points, strict=True):
                self.add(field, int(index), np.asarray(point, dtype=np.float64))

    def __len__(self) -> int:
        return len(self.indices)

    def add(self, field: Field, index: int, row: Floats) -> None:
        """Add a point."""
        self.moved += not np.array_equal(row, field.row(index))
        self.rows[len(self.indices)] = row
        self.indices.append(index)

    @property
    def points(self) -> Floats:
        """The points so far."""
        return self.rows[: len(self.indices)]

    def kept(self, field: Field, places: Indices) -> "Chosen":
        """Return some of the points, in their order."""
        held = Chosen(field, None, places.size)
        for each in places.tolist():
            held.add(field, self.indices[each], self.rows[each])
        return held


def check_options(weights: Weighting | None, default: Weighting, *, refine: bool, replace: bool) -> Weighting:
    """Check the options before the computation starts; return the kind of weights."""
    check_flag(refine, "refine")
    check_flag(replace, "replace")
    return default if weights is None else cast(Weighting, choose(weights, "weights", WEIGHTINGS))


def begin(field: Field, m: int, start: Selection | None, *, refine: bool, replace: bool) -> tuple[int, Chosen]:
    """Check the number of points and the starting selection; an empty start counts as none."""
    count = check_count(m, "m")
    if not replace and count > field.size:
        raise InputError(
            f"m must not be more than the {field.size} candidates, got {count}; ask for fewer, or set replace=True"
        )
    if refine and isinstance(field, FeatureField):
        raise InputError("refine=True needs exact kernel values; leave features out, or set refine=False")
    if start is None:
        return count, Chosen(field, None, count)
    if not isinstance(start, Selection):
        raise InputTypeError(f"start must be a Selection, as herd and the like return, got {type(start).__name__}")
    if len(start) == 0:
        return count, Chosen(field, None, count)
    check_points(start.points, "start.points", width=field.points.shape[1])
    if int(start.indices.max()) >= field.size or int(start.indices.min()) < 0:
        wrong = int(start.indices.max()) if int(start.indices.min()) >= 0 else int(start.indices.min())
        raise MismatchError(
            f"start holds row {wrong} and there are {field.size} candidates; pass those that it was chosen from"
        )
    if len(start) > count:
        raise InputError(f"m counts the points of start too: it must be at least {len(start)}, got {count}")
    return count, Chosen(field, start, count)


def steps_of(start: Selection | None) -> int:
    """Return the number of steps of a selection: one for each value of its path, or for each point if it has no path."""
    return 0 if start is None or len(start) == 0 else start.mmd.size or len(start)


def finish(field: Field, chosen: Chosen, kind: Weighting, candidates: PointsLike, seed: Seed, note: str = "") -> Selection:
    """Compute the weights and the MMD path: exactly, or by an estimate that is independent of the selection.

    The path is estimated only if the target has too many points to compute E from N^2 kernel values, or only mean features of
    it are known.
    """
    rows = chosen.points
    indices = np.array(chosen.indices, dtype=np.int64)
    remarks = [field.note, note]
    if len(chosen) == 0:
        return _selection(field, chosen, indices, np.empty(0), np.empty(0), candidates, remarks)
    if needs_estimate(field):
        table = path_weights(kind, field.gram(rows, rows), _embedding(field, rows))
        estimate = estimated_squares(field, rows, table, seed)
        weights, squares = table[-1], estimate.squares
        remarks.append(_said(estimate))
    else:
        gram, z, energy = _exactly(field, rows, indices, chosen.moved > 0)
        weights, squares, spanned = weigh(kind, gram, z, energy)
        if spanned.size:
            remarks.append(
                f"{spanned.size} of the points lie in the span of earlier ones (copies, or a kernel so wide that K is "
                f"singular): their weight is 0."
            )
    return _selection(field, chosen, indices, weights, squares, candidates, remarks)


def finish_table(
    field: Field,
    chosen: Chosen,
    steps: Sequence[Floats],
    candidates: PointsLike,
    seed: Seed,
    note: str = "",
    *,
    before: Floats | None = None,
) -> Selection:
    """Compute the MMD path of given weights, one set for each step, and keep the points that have weight at the end.

    before: the path of the earlier selection that this one continues. Of its weights only those of the last step are known. If
    their MMD to this target equals the end of the path, the path is kept; otherwise all its steps get the last value.
    """
    rows = chosen.points
    table = np.zeros((len(steps), len(chosen)))
    for place, weights in enumerate(steps):
        table[place, : weights.size] = weights
    remarks = [field.note, note]
    if needs_estimate(field):
        estimate = estimated_squares(field, rows, table, seed)
        squares = estimate.squares
        remarks.append(_said(estimate))
        scale = float(squares.max(initial=0.0))
    else:
        gram, z, energy = _exactly(field, rows, np.array(chosen.indices, dtype=np.int64), chosen.moved > 0)
        squares = energy - 2.0 * table @ z + np.einsum("ij,ij->i", table @ gram, table)
        scale = energy + float(np.diag(gram).max())
    if before is not None and before.size and abs(float(before[-1]) ** 2 - float(squares[before.size - 1])) <= _SAME * scale:
        squares[: before.size] = before**2
    kept = chosen.kept(field, np.flatnonzero(table[-1] > 0))
    return _selection(
        field, kept, np.array(kept.indices, dtype=np.int64), table[-1][table[-1] > 0], squares, candidates, remarks
    )


def _selection(
    field: Field,
    chosen: Chosen,
    indices: Indices,
    weights: Floats,
    squares: Floats,
    candidates: PointsLike,
    remarks: list[str],
) -> Selection:
    points = check_points(candidates, "candidates")[indices]
    if chosen.moved:
        points = chosen.points.astype(points.dtype)
        remarks.append(f"{chosen.moved} points were moved off the pool; indices are the candidates they began at.")
    path = np.sqrt(np.maximum(squares, 0.0))
    return Selection(indices, points, weights, np.asarray(path), " ".join(filter(None, remarks)), field.kernel)


def _said(estimate: Estimate) -> str:
    """Return the remark that a path is an estimate, with the error of its last value if known."""
    remark = f"MMD is an estimate, by {estimate.by}"
    if estimate.error is None:
        return f"{remark.rstrip(',')}."
    last = float(np.sqrt(max(float(estimate.squares[-1]), 0.0)))
    # d sqrt(s) = ds / (2 sqrt(s)), but at most the root of ds, where the error exceeds s.
    error = min(estimate.error / (2.0 * last), np.sqrt(estimate.error)) if last > 0 else np.sqrt(estimate.error)
    return f"{remark}: the last value has a standard error of {error:.2g}."


def _embedding(field: Field, rows: Floats) -> Floats:
    """Return z of the points for their weights, computed like the Gram matrix, so that no weight is an artefact."""
    if isinstance(field, ExactField) and isinstance(field.measure, Empirical):
        return field.measure.by_points().mean_embedding(field.kernel, rows)
    return field.embed(rows)[0]


def _exactly(field: Field, rows: Floats, indices: Indices, moved: bool) -> tuple[Floats, Floats, float]:
    """Return K, z and E of the exact kernel for the chosen points."""
    if isinstance(field, FeatureField) and field.map.is_exact:
        # The products of these features equal the kernel, so they are exact.
        return field.gram(rows, rows), field.embed(rows)[0], float(field.mean @ field.mean)
    if isinstance(field, ExactField) and field.measure.is_exact(field.kernel):
        z = field.embed(rows)[0] if moved else field.z[indices]
        return field.gram(rows, rows), z, field.energy
    measure = field.measure.by_points() if isinstance(field.measure, Empirical) else field.measure
    return field.kernel(rows), measure.mean_embedding(field.kernel, rows), measure.energy(field.kernel)
