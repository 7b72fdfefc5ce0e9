"""The result of a stream: the rows of a summary, the share of the data that each represents, and how good they are."""

from dataclasses import dataclass

import numpy as np

from supersample._checks import FURTHEST, ROUNDING, require
from supersample._stored import FLOATS, INDICES, INTEGER, NUMBER, instance_of, optional, stored
from supersample._text import plural
from supersample._threads import one_blas_thread
from supersample._typing import Floats, Indices
from supersample.discrepancy.certificate import captured_energy, certify, equal_random_rows, equal_weights, random_baseline
from supersample.selection import stream
from supersample.selection.pool import kernel_block
from supersample.selection.stream import background
from supersample.selection.stream.lifecycle import Stream
from supersample.selection.stream.missed_and_rare import KINDS
from supersample.summary.reach import Reach, reach_of

__all__ = ["MmdPoint", "Outcome", "measure", "outcome_of", "said_as_good_as", "said_error"]

#: Chosen rows are better than random ones if at least this many times as many of these are as good.
_BETTER = 1.1
#: An error below this share of MMD is not seen in the four digits that MMD is written with.
_UNSEEN = 5e-5


@stored("Reading", {"rows": INTEGER, "mmd": NUMBER, "error": NUMBER, "random_mmd": NUMBER})
@dataclass(frozen=True)
class MmdPoint:
    """MMD of the points held after `rows` rows, its standard error, and the MMD of as many points drawn at random."""

    rows: int
    mmd: float
    error: float
    random_mmd: float

    def check(self, k0_root: float) -> None:
        """Refuse an MMD that is impossible for a kernel with this root of k(x, x)."""
        numbers = [self.mmd, self.random_mmd]
        numbers += [] if np.isnan(self.error) else [self.error]  # some features give no error
        require(all(np.isfinite(each) and 0 <= each <= FURTHEST * k0_root for each in numbers), "an MMD is impossible")


@stored(
    "Outcome",
    {
        "prototypes": INDICES, "weights": FLOATS, "shares": FLOATS, "criticisms": INDICES, "kinds": INDICES, "witness": FLOATS,
        "nearest": INDICES, "criticism_shares": FLOATS, "background": INDICES, "background_shares": FLOATS, "mmd": NUMBER,
        "error": NUMBER, "uniform_mmd": NUMBER, "random_mmd": NUMBER, "energy": NUMBER, "reach": optional(instance_of(Reach)),
    },
    later={"reach": None},
)  # fmt: skip
@dataclass(frozen=True)
class Outcome:
    """Rows by their positions in the stream, with numbers for each, as plain arrays that a file can hold.

    weights: those of the prototypes in averages. shares: the share of the data nearest to each. kinds: of the criticisms, an
    index into `missed_and_rare.KINDS`. nearest: an index into the prototypes. uniform_mmd: the MMD of equal weights.
    reach: how much of its target the source can match. With one, shares, MMDs and energy are of the target; without, of the
    source. The background is always the source's.
    """

    prototypes: Indices
    weights: Floats
    shares: Floats
    criticisms: Indices
    kinds: Indices
    witness: Floats
    nearest: Indices
    criticism_shares: Floats
    background: Indices
    background_shares: Floats
    mmd: float
    error: float
    uniform_mmd: float
    random_mmd: float
    energy: float
    reach: Reach | None = None

    def as_good_as(self, n_seen: int) -> float:
        """Return how many rows drawn at random have the same MMD on average; NaN if that is not known.

        They are drawn from the target, if there is one, and else from the `n_seen` rows of the source.
        """
        shares = self.background_shares
        weighted, n_rows = bool(shares.min() != shares.max()), n_seen
        if self.reach is not None:
            weighted, n_rows = self.reach.weighted, self.reach.n_rows
        most, replaced = float("inf") if weighted else n_rows, weighted or self.reach is not None
        return equal_random_rows(self.mmd, self.random_mmd, self.prototypes.size, most, replaced=replaced)

    def check(self, held: Stream, positions_held: Indices) -> None:
        """Refuse an outcome that is impossible for this stream with rows at these positions."""
        groups = (
            (self.prototypes, (self.shares, self.weights)),
            (self.criticisms, (self.kinds, self.witness, self.nearest, self.criticism_shares)),
            (self.background, (self.background_shares,)),
        )
        for positions, values in groups:
            require(bool(np.isin(positions, positions_held).all()), "the outcome names rows that the file does not hold")
            require(positions.ndim == 1 and all(each.shape == positions.shape for each in values), "the outcome is incomplete")
            require(np.unique(positions).size == positions.size, "the outcome names a row twice")
            require(all(bool(np.isfinite(each).all()) for each in values), "the outcome has numbers that are not finite")
        require(bool((np.diff(self.prototypes) > 0).all()), "the prototypes are out of order")
        require(0 < self.prototypes.size <= held.settings.n_prototypes, "the outcome has an impossible number of prototypes")
        require(self.criticisms.size <= held.settings.n_criticisms, "the outcome has more criticisms than were asked for")
        inside = (self.nearest >= 0) & (self.nearest < self.prototypes.size)
        require(bool(inside.all()), "the outcome names prototypes that there are not")
        require(bool(((self.kinds >= 0) & (self.kinds < len(KINDS))).all()), "the outcome has criticisms of no kind")
        for shares in (self.weights, self.shares, self.background_shares):
            require(bool((shares >= 0).all()) and abs(float(shares.sum()) - 1.0) <= ROUNDING, "shares do not sum to one")
        parts = self.criticism_shares
        require(bool(((parts >= 0) & (parts <= 1.0 + ROUNDING)).all()), "the criticisms have impossible shares")
        require(held.plan is not None, "there is an outcome of nothing")
        assert held.plan is not None
        k0 = held.plan.kernel.largest
        require(bool((np.abs(self.witness) <= FURTHEST * k0).all()), "the witness is larger than its kernel")
        for mmd in (self.mmd, self.uniform_mmd):
            MmdPoint(held.n_seen, mmd, self.error, self.random_mmd).check(float(np.sqrt(k0)))
        require(0 <= self.energy <= 1.0 + 1e-3, "the energy is no share")
        require((self.reach is None) == (held.aim is None), "the outcome has another target than the stream")
        if self.reach is not None:
            self.reach.check(float(np.sqrt(k0)))


@one_blas_thread()
def outcome_of(state: Stream) -> Outcome | None:
    """Finish a stream (on a copy) and describe the result; None if no row of positive weight was seen."""
    selected = stream.finish(state)
    if selected is None:
        return None
    plan, sample, rows = selected.plan, selected.background, selected.rows
    shares, drawn = sample.shares(), selected.drawn
    nearest = kernel_block(plan.kernel, sample.rows.points, rows.points).argmax(axis=1)
    certificate = certify(plan.held_out, selected.held_out, rows.points, selected.weights, selected.control)
    uniform = certify(plan.held_out, selected.held_out, rows.points, equal_weights(len(rows)), selected.control)
    return Outcome(
        prototypes=rows.positions,
        weights=selected.weights,
        shares=np.bincount(nearest, weights=shares, minlength=len(rows)).astype(np.float64),
        criticisms=selected.criticisms.positions,
        kinds=selected.kinds,
        witness=selected.witness,
        nearest=selected.nearest,
        criticism_shares=selected.shares,
        background=drawn.rows.positions,
        background_shares=drawn.shares(),
        mmd=certificate.mmd,
        error=certificate.error,
        uniform_mmd=uniform.mmd,
        random_mmd=random_baseline(
            plan.held_out,
            selected.held_out,
            sample.rows.points,
            shares,
            len(rows),
            state.settings.seed,
            replaced=state.aim is not None,
        ),
        energy=captured_energy(plan.feature_map, sample.rows.points, shares),
        reach=reach_of(stream.drain(state), rows),
    )


@one_blas_thread()
def measure(state: Stream) -> MmdPoint | None:
    """Measure the MMD of the points that a stream holds now, without a second look or control; None while it holds none."""
    held = state.reservoir.rows
    if state.plan is None or len(held) == 0:
        return None
    whole, _, held_out = state.matched
    certificate = certify(state.plan.held_out, held_out, held.points, equal_weights(len(held)))
    sample = background.settled(whole, state.settings.n_background)
    drawn = random_baseline(
        state.plan.held_out, held_out, sample.rows.points, sample.shares(), len(held), state.settings.seed,
        replaced=state.aim is not None,
    )  # fmt: skip
    return MmdPoint(state.n_seen, certificate.mmd, certificate.error, drawn)


def said_as_good_as(equal: float, size: int, n_seen: int) -> str:
    """Say how many rows drawn at random do as well as `size` chosen ones; nothing if that is not known.

    Rounded to two digits, since the estimates behind it have an error of some percent.

    >>> said_as_good_as(1599.99, 100, 30_000)
    'as good as about 1,600 rows drawn at random'
    """
    if np.isnan(equal) or size >= n_seen:
        return ""
    if equal > n_seen:
        return f"as good as more than {plural(n_seen, 'row')} drawn at random"
    if equal == n_seen:
        return f"as good as all {plural(n_seen, 'row')}"
    digits = min(0, 1 - int(np.floor(np.log10(equal)))) if equal > 0.0 else 0
    rounded = int(round(equal, digits))
    if rounded >= n_seen:
        return f"as good as nearly all {plural(n_seen, 'row')}"
    if equal < _BETTER * size:
        return f"no better than {plural(size, 'row')} drawn at random"
    return f"as good as about {plural(rounded, 'row')} drawn at random"


def said_error(mmd: float, error: float) -> str:
    """Say the standard error of an MMD that is written with four digits; nothing if it is not known.

    >>> said_error(0.02, 0.001), said_error(0.02, 1e-9), said_error(0.02, float("nan"))
    (' +- 0.001', ' (exact)', '')
    """
    if np.isnan(error):
        return ""
    return f" +- {error:.2g}" if error > _UNSEEN * mmd else " (exact)"
