"""From chosen points to a Selection: weights, and an MMD path that owes nothing to the features that chose them."""

from collections.abc import Sequence

import numpy as np

from supersample._random import Seed
from supersample._typing import Floats, Indices, PointsLike
from supersample.embedding import MeanEmbedding
from supersample.embedding.measures import Empirical
from supersample.embedding.measures.embedded import Embedded
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.features import FeatureMap, Fourier, Nystroem
from supersample.features.judge import Judge
from supersample.records.arrays import check_count, check_points
from supersample.selection.result import Selection
from supersample.selection.target import ExactField, FeatureField, Field
from supersample.selection.weighting import Weighting, path_weights, weigh

__all__ = ["Chosen", "begin", "finish", "finish_table", "judged_squares"]

#: Up to this many points of the target, E is computed exactly, in about a second.
_EXACT_ROWS = 20_000
_HELD_OUT = 512


class Chosen:
    """Points in the order of choice, on the pool or moved off it, and the rows of the pool they came from."""

    def __init__(self, field: Field, start: Selection | None, m: int) -> None:
        """Begin with the points of an earlier selection."""
        self.indices: list[int] = []
        self.rows = np.empty((m, field.points.shape[1]))
        self.moved = 0
        if start is not None:
            for index, point in zip(start.indices, start.points, strict=True):
                self.add(field, int(index), np.asarray(point, dtype=np.float64))

    def __len__(self) -> int:
        return len(self.indices)

    def add(self, field: Field, index: int, row: Floats) -> None:
        """Take in a point."""
        self.moved += not np.array_equal(row, field.row(index))
        self.rows[len(self.indices)] = row
        self.indices.append(index)

    @property
    def points(self) -> Floats:
        """The points so far."""
        return self.rows[: len(self.indices)]


def begin(field: Field, m: int, start: Selection | None, *, refine: bool, replace: bool) -> tuple[int, Chosen]:
    """Check the number of points, and what to start from."""
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
    check_points(start.points, "start.points", width=field.points.shape[1])
    if int(start.indices.max(initial=-1)) >= field.size:
        raise MismatchError(
            f"start holds row {int(start.indices.max())} and there are {field.size} candidates; pass those that it was chosen "
            f"from"
        )
    if len(start) > count:
        raise InputError(f"m counts the points of start too: it must be at least {len(start)}, got {count}")
    return count, Chosen(field, start, count)


def finish(field: Field, chosen: Chosen, kind: Weighting, candidates: PointsLike, seed: Seed, note: str = "") -> Selection:
    """Weigh the points and measure the path: by exact kernel and embedding, or by features that nothing was chosen by.

    Held-out features serve only where the target is so many points that E would take N^2 kernel values.
    """
    rows = chosen.points
    indices = np.array(chosen.indices, dtype=np.int64)
    remarks = [field.note, note]
    if _needs_judge(field):
        z, _ = field.embed(rows)
        table = path_weights(kind, field.gram(rows, rows), z)
        weights, squares = table[-1], judged_squares(field, rows, table, seed)
    else:
        gram, z, energy = _exactly(field, rows, indices, chosen.moved > 0)
        weights, squares, spanned = weigh(kind, gram, z, energy)
        if spanned.size:
            remarks.append(
                f"{spanned.size} of the points lie in the span of earlier ones (copies, or a kernel so wide that K is "
                f"singular): their weight is 0."
            )
    return _selection(chosen, indices, weights, squares, candidates, remarks)


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
    """Measure the path of given weights, one set for each step, and keep the points that have weight at the end.

    before: the path of an earlier selection that was gone on from; the weights of its steps are no longer known.
    """
    rows = chosen.points
    table = np.zeros((len(steps), len(chosen)))
    for place, weights in enumerate(steps):
        table[place, : weights.size] = weights
    if _needs_judge(field):
        squares = judged_squares(field, rows, table, seed)
    else:
        gram, z, energy = _exactly(field, rows, np.array(chosen.indices, dtype=np.int64), chosen.moved > 0)
        squares = energy - 2.0 * table @ z + np.einsum("ij,ij->i", table @ gram, table)
    if before is not None:
        squares[: before.size] = before**2
    kept = np.flatnonzero(table[-1] > 0)
    held = Chosen(field, None, kept.size)
    for each in kept.tolist():
        held.add(field, chosen.indices[each], rows[each])
    return _selection(held, np.array(held.indices, dtype=np.int64), table[-1][kept], squares, candidates, [field.note, note])


def _selection(
    chosen: Chosen, indices: Indices, weights: Floats, squares: Floats, candidates: PointsLike, remarks: list[str]
) -> Selection:
    points = check_points(candidates, "candidates")[indices]
    if chosen.moved:
        points = chosen.points.astype(points.dtype)
        remarks.append(f"{chosen.moved} points were moved off the pool; indices are the candidates they began at.")
    path = np.sqrt(np.maximum(squares, 0.0))
    return Selection(indices, points, weights, np.asarray(path), " ".join(filter(None, remarks)))


def judged_squares(field: Field, rows: Floats, table: Floats, seed: Seed) -> Floats:
    """Return |mu - sum_i w_i phi(x_i)|^2 for each row w of the table, in held-out features of the same kernel."""
    measure = field.measure
    if isinstance(measure, Embedded):
        judge, mean = measure.held_out, measure.held_out_mean
    else:
        assert isinstance(measure, Empirical)
        judge = _judge(field, measure, seed.child("held-out"))
        mean = MeanEmbedding(judge).update(measure.points, measure.weights).mean
    differences = table @ judge.transform(rows).astype(np.float64) - mean
    return np.asarray(np.einsum("ij,ij->i", differences, differences))


def _needs_judge(field: Field) -> bool:
    if isinstance(field, ExactField) or (isinstance(field, FeatureField) and field.map.is_exact):
        return False
    many = isinstance(field.measure, Empirical) and field.measure.weights.size > _EXACT_ROWS
    return many or isinstance(field.measure, Embedded)


def _judge(field: Field, measure: Empirical, seed: Seed) -> FeatureMap:
    kernel, state = field.kernel, seed.sequence()
    origin = measure.points[:1000].mean(axis=0)
    if kernel.is_radial:
        return Judge(kernel, _HELD_OUT, origin=origin, random_state=state)
    if kernel.has_spectrum:
        return Fourier(kernel, _HELD_OUT, origin=origin, random_state=state)
    return Nystroem.from_sample(kernel, measure.points, _HELD_OUT, random_state=state)


def _exactly(field: Field, rows: Floats, indices: Indices, moved: bool) -> tuple[Floats, Floats, float]:
    """Return K, z and E of the exact kernel for the chosen points."""
    if isinstance(field, ExactField):
        z = field.embed(rows)[0] if moved else field.z[indices]
        return field.gram(rows, rows), z, field.energy
    if isinstance(field, FeatureField) and field.map.is_exact:
        # The features are the kernel itself, so that their products are exact.
        return field.gram(rows, rows), field.embed(rows)[0], float(field.mean @ field.mean)
    measure = field.measure
    return field.kernel(rows), measure.mean_embedding(field.kernel, rows), measure.energy(field.kernel)
