"""Build a Selection from chosen points: weights, and an MMD path measured independently of the selecting features."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from supersample._random import Seed
from supersample._typing import Floats, Indices, PointsLike
from supersample._validation import check_count, check_flag, check_points, choose
from supersample.device.arrays import Home, follow, home_of
from supersample.device.checks import check_device_points, refuse
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.measures import Empirical
from supersample.selection.batch.candidates import CandidateSpace, ExactCandidates, FeatureCandidates
from supersample.selection.batch.estimated_mmd import Estimate, estimated_squares, needs_estimate
from supersample.selection.batch.weighting import WEIGHTINGS, Weighting, path_weights, weigh
from supersample.selection.result import Selection

__all__ = ["Picked", "assemble", "assemble_steps", "begin", "check_options", "on_host", "steps_of"]

#: Paths whose last squares differ by less than this share of E are equal up to rounding.
_SAME = 1e-9


class Picked:
    """Points in the order of selection, on the pool or moved off it, and the pool rows that they came from."""

    def __init__(self, space: CandidateSpace, resume: Selection | None, m: int) -> None:
        """Start with the points of an earlier selection, if any."""
        self.indices: list[int] = []
        self.rows = np.empty((m, space.points.shape[1]))
        self.moved = 0
        if resume is not None:
            for index, point in zip(resume.indices, resume.points, strict=True):
                self.add(space, int(index), np.asarray(point, dtype=np.float64))

    def __len__(self) -> int:
        return len(self.indices)

    def add(self, space: CandidateSpace, index: int, row: Floats) -> None:
        """Add a point."""
        self.moved += not np.array_equal(row, space.row(index))
        self.rows[len(self.indices)] = row
        self.indices.append(index)

    def extend(self, indices: Indices, rows: Floats) -> None:
        """Add candidates, which are on the pool."""
        self.rows[len(self.indices) : len(self.indices) + indices.size] = rows
        self.indices.extend(indices.tolist())

    def put(self, space: CandidateSpace, place: int, index: int) -> None:
        """Put a candidate in the place of a point."""
        self.moved -= not np.array_equal(self.rows[place], space.row(self.indices[place]))
        self.rows[place], self.indices[place] = space.row(index), index

    @property
    def points(self) -> Floats:
        """The points so far."""
        return self.rows[: len(self.indices)]

    def kept(self, space: CandidateSpace, places: Indices) -> "Picked":
        """Return some of the points, in their order."""
        held = Picked(space, None, places.size)
        for each in places.tolist():
            held.add(space, self.indices[each], self.rows[each])
        return held


def check_options(weighting: Weighting | None, default: Weighting, *, refine: bool, replace: bool) -> Weighting:
    """Check the options before the computation starts; return the kind of weights."""
    check_flag(refine, "refine")
    check_flag(replace, "replace")
    return default if weighting is None else cast(Weighting, choose(weighting, "weighting", WEIGHTINGS))


def begin(space: CandidateSpace, m: int, resume: Selection | None, *, refine: bool, replace: bool) -> tuple[int, Picked]:
    """Check the number of points and the selection to resume; an empty one counts as none."""
    count = check_count(m, "m")
    if not replace and count > space.size:
        raise InputError(
            f"m must not be more than the {space.size} candidates, got {count}; ask for fewer, or set replace=True"
        )
    if refine:
        refuse(space.home, "refine=True", "leave it out, or bring the candidates to the host")
    if refine and isinstance(space, FeatureCandidates):
        raise InputError("refine=True needs exact kernel values; leave features out, or set refine=False")
    if resume is None:
        return count, Picked(space, None, count)
    if not isinstance(resume, Selection):
        raise InputTypeError(f"resume must be a Selection, as herd and the like return, got {type(resume).__name__}")
    if len(resume) == 0:
        return count, Picked(space, None, count)
    check_points(resume.points, "resume.points", width=space.points.shape[1])
    if int(resume.indices.max()) >= space.size or int(resume.indices.min()) < 0:
        wrong = int(resume.indices.max()) if int(resume.indices.min()) >= 0 else int(resume.indices.min())
        raise MismatchError(
            f"resume holds row {wrong} and there are {space.size} candidates; pass those that it was chosen from"
        )
    if len(resume) > count:
        raise InputError(f"m counts the points of resume too: it must be at least {len(resume)}, got {count}")
    return count, Picked(space, resume, count)


def steps_of(resume: Selection | None) -> int:
    """Return the number of steps of a selection: one for each value of its path, or for each point if it has no path."""
    return 0 if resume is None or len(resume) == 0 else resume.mmd.size or len(resume)


def assemble(
    space: CandidateSpace, chosen: Picked, kind: Weighting, candidates: PointsLike, seed: Seed, note: str = ""
) -> Selection:
    """Compute the weights and the MMD path: exactly, or by an estimate that is independent of the selection.

    The path is estimated only if the target has too many points to compute E from N^2 kernel values, or only mean features of
    it are known.
    """
    rows = chosen.points
    indices = np.array(chosen.indices, dtype=np.int64)
    remarks = [space.note, note]
    if len(chosen) == 0:
        return _selection(space, chosen, indices, np.empty(0), np.empty(0), candidates, remarks)
    if needs_estimate(space):
        table = path_weights(kind, space.gram(rows, rows), _embedding(space, rows))
        estimate = estimated_squares(space, rows, table, seed)
        weights, squares = table[-1], estimate.squares
        remarks.append(_said(estimate))
    else:
        if kind != "uniform":  # weights may be large, and their sums of errors with them
            space.settle(indices)
        gram, z, energy = _exactly(space, rows, indices, chosen.moved > 0)
        weights, squares, spanned = weigh(kind, gram, z, energy)
        if spanned.size:
            remarks.append(
                f"{spanned.size} of the points lie in the span of earlier ones (copies, or a kernel so wide that K is "
                f"singular): their weight is 0."
            )
    return _selection(space, chosen, indices, weights, squares, candidates, remarks)


def assemble_steps(
    space: CandidateSpace,
    chosen: Picked,
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
    remarks = [space.note, note]
    if needs_estimate(space):
        estimate = estimated_squares(space, rows, table, seed)
        squares = estimate.squares
        remarks.append(_said(estimate))
        scale = float(squares.max(initial=0.0))
    else:
        gram, z, energy = _exactly(space, rows, np.array(chosen.indices, dtype=np.int64), chosen.moved > 0)
        squares = energy - 2.0 * table @ z + np.einsum("ij,ij->i", table @ gram, table)
        scale = energy + float(np.diag(gram).max())
    if before is not None and before.size and abs(float(before[-1]) ** 2 - float(squares[before.size - 1])) <= _SAME * scale:
        squares[: before.size] = before**2
    kept = chosen.kept(space, np.flatnonzero(table[-1] > 0))
    return _selection(
        space, kept, np.array(kept.indices, dtype=np.int64), table[-1][table[-1] > 0], squares, candidates, remarks
    )


def _selection(
    space: CandidateSpace,
    chosen: Picked,
    indices: Indices,
    weights: Floats,
    squares: Floats,
    candidates: PointsLike,
    remarks: list[str],
) -> Selection:
    path = np.sqrt(np.maximum(squares, 0.0))
    if space.home is not None:
        return _selection_there(space, space.home, indices, weights, path, candidates, remarks)
    points = check_points(candidates, "candidates")[indices]
    if chosen.moved:
        points = chosen.points.astype(points.dtype)
        remarks.append(f"{chosen.moved} points were moved off the pool; indices are the candidates they began at.")
    return Selection(indices, points, weights, np.asarray(path), " ".join(filter(None, remarks)), space.kernel)


def _selection_there(
    space: CandidateSpace, home: Home, indices: Indices, weights: Floats, path: Floats, candidates: Any, remarks: list[str]
) -> Selection:
    """Return the selection as arrays of the candidates' kind, on their device."""
    there = home.array(indices)
    points = home.xp.take(check_device_points(candidates, "candidates", home), there, axis=0)
    note = " ".join(filter(None, remarks))
    return Selection(there, points, follow(home, weights), follow(home, path), note, space.kernel)


def on_host(resume: Selection | None, home: Home | None) -> Selection | None:
    """Return a selection to resume from with its numbers on the host, if it lies where the candidates do."""
    if not isinstance(resume, Selection):
        return resume
    if home_of(indices=resume.indices) != home:
        raise MismatchError("resume must lie where the candidates do; select it from the same array")
    if home is None:
        return resume
    return resume.on_host()


def _said(estimate: Estimate) -> str:
    """Return the remark that a path is an estimate, with the error of its last value if known."""
    remark = f"MMD is an estimate, by {estimate.by}"
    if estimate.error is None:
        return f"{remark.rstrip(',')}."
    last = float(np.sqrt(max(float(estimate.squares[-1]), 0.0)))
    # d sqrt(s) = ds / (2 sqrt(s)), but at most the root of ds, where the error exceeds s.
    error = min(estimate.error / (2.0 * last), np.sqrt(estimate.error)) if last > 0 else np.sqrt(estimate.error)
    return f"{remark}: the last value has a standard error of {error:.2g}."


def _embedding(space: CandidateSpace, rows: Floats) -> Floats:
    """Return z of the points for their weights, computed like the Gram matrix, so that no weight is an artefact."""
    if isinstance(space, ExactCandidates) and isinstance(space.measure, Empirical):
        return space.measure.by_points().mean_embedding(space.kernel, rows)
    return space.embed(rows)[0]


def _exactly(space: CandidateSpace, rows: Floats, indices: Indices, moved: bool) -> tuple[Floats, Floats, float]:
    """Return K, z and E of the exact kernel for the chosen points."""
    if isinstance(space, FeatureCandidates) and space.map.is_exact:
        # The products of these features equal the kernel, so they are exact.
        return space.gram(rows, rows), space.embed(rows)[0], float(space.mean @ space.mean)
    if isinstance(space, ExactCandidates) and space.measure.is_exact(space.kernel):
        z = space.embed(rows)[0] if moved else space.z_of(indices, rows)
        return space.gram(rows, rows), z, space.energy
    measure = space.measure.by_points() if isinstance(space.measure, Empirical) else space.measure
    return space.kernel(rows), measure.mean_embedding(space.kernel, rows), measure.energy(space.kernel)
