"""ChangeDetector: alarms on a stream of rows, each for one change, with the moment and what changed."""

from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from supersample._hashing import hash_words
from supersample._locking import one_at_a_time
from supersample._random import Seed, as_seed
from supersample._typing import Features, Floats, Indices, PointsLike, RandomState
from supersample._validation import check_count, check_points, choose
from supersample.errors import InputError, InputTypeError
from supersample.history import bets, watch
from supersample.history.alarm import Alarm, what_changed
from supersample.history.bets import Bets
from supersample.history.thresholds import NO_LIMITS, exact_limits
from supersample.history.watch import Found, Sample, Watch
from supersample.history.waves import SCALES, Waves, waves_of
from supersample.kernels import KernelLike, as_kernel
from supersample.records.names import check_names
from supersample.summary.summarizing import summarize

__all__ = ["ChangeDetector"]

#: Rows of a uniform sample since the last change, and latest rows, that are kept to calibrate by and to show.
_SAMPLE, _RECENT = 512, 1024
#: Phases that a season is cut into, at most.
_MOST_PHASES = 288
#: Ticks that are taken in at a time.
_MOST_TICKS = 4096
#: Rows after an alarm that become the next reference, without a season.
_NEXT_REFERENCE = 2_000
#: The quartiles of a standard normal are so far apart.
_NORMAL_QUARTILES = 1.349
#: Rows on each side that it takes to say what changed.
_FEWEST = 5


@dataclass(frozen=True)
class _Plan:
    """What the first rows fixed: scales of the columns, and the features."""

    centre: Floats
    scale: Floats
    waves: Waves

    def features(self, rows: Floats) -> Features:
        """Return the features of rows as they came."""
        return self.waves.transform((rows - self.centre) / self.scale)


@dataclass(frozen=True)
class _State:
    """Everything that is needed to go on.

    waiting: rows that do not fill a tick, or wait for the plan. sample, keys, places: a uniform sample of the rows since the
    last change, with the hashes that drew it and their positions. recent: the latest rows.
    """

    waiting: Floats
    n_seen: int
    plan: _Plan | None
    watch: Watch
    bets: Bets | None
    sample: Floats
    places: Indices
    keys: npt.NDArray[np.uint64]
    recent: Floats
    evidence: float = 0.0

    @property
    def n_taken(self) -> int:
        """Rows taken in, without those that wait."""
        return self.n_seen - len(self.waiting)


class ChangeDetector:
    """Raise an alarm when the distribution of a stream of rows changes, and stay silent when it does not.

    Rows become features of a kernel. After each tick of a few rows, the mean features of the latest rows are compared with
    those of all rows before them, for every boundary of a set that grows with the logarithm of the rows (Kalinke and
    Gavioli-Akilagun 2025). After an alarm, the rows since the change are what further ones are compared with: one change, one
    alarm. Time O((d + log n) D) a row, memory O(D log n), both times the number of phases of a season. Batches do not matter.
    Thread-safe: calls are serialised.

    Parameters
    ----------
    reference: rows that show the usual distribution; None: what came since the last change is compared with.
    run_length: rows between false alarms, at least, on average, where nothing changes.
    guarantee: "asymptotic": limits by the spectrum of the features, widened for few rows, and where rows depend on those
        before them; quick. "exact": limits that hold for every distribution. With a reference, by bets against it: the mean
        run length is at least `run_length` whatever the distribution, and for dependent rows as long as the mean of each given
        the rows before stays that of the reference, with probability 1 - `delta` over the choice of the reference. Without
        one, for independent rows, and slow.
    at_least: the smallest change that matters, in MMD.
    season: the rows of a period, such as a day, after which the stream repeats itself: rows are compared with those of the
        same phase, and nothing is found in the first period. A phase is a tick, or 1/288 of the season if ticks are shorter.
        The rows of a reference are taken as those just before the stream. With bets, the mean of each phase is only known as
        well as its rows in the reference tell: a larger tick makes fewer phases, and smaller changes are found.
    tick: rows after which the evidence is looked at. warm_up: first rows that fix scales, bandwidth and features, without a
        reference; no alarm is raised before them.
    standardize: divide columns by their scale in the first rows, or in the reference.
    kernel, bandwidth: those of the features, which are taken at the bandwidth, a half and a quarter of it: shifts are seen
        best at the first, changes of how columns go together often at the others only. n_features: how many at each.
    random_state: an int makes results repeat.

    Attributes
    ----------
    alarms_: all alarms. evidence_: over the line at which an alarm is raised, after the last tick. n_seen_: rows seen.
    dependence_: by how much more means of rows vary than those of independent rows; limits are that much wider.

    >>> import numpy as np
    >>> import supersample as ss
    >>> rows = np.random.default_rng(0).normal(size=(3_000, 4))
    >>> rows[2_000:, 1] += 1.0
    >>> detector = ss.ChangeDetector(random_state=0)
    >>> [alarm.change for alarm in detector.update(rows)]
    [2000]
    >>> detector.alarms_[0].changed
    ('x1',)

    """

    def __init__(
        self,
        reference: PointsLike | None = None,
        *,
        run_length: int = 10_000,
        guarantee: Literal["asymptotic", "exact"] = "asymptotic",
        at_least: float = 0.0,
        delta: float = 0.05,
        season: int | None = None,
        tick: int = 5,
        warm_up: int = 200,
        standardize: bool = True,
        kernel: KernelLike = "gaussian",
        bandwidth: Any = "median",
        n_features: int = 128,
        random_state: RandomState = None,
    ) -> None:
        choose(guarantee, "guarantee", ("asymptotic", "exact"))
        self.run_length, self.guarantee = check_count(run_length, "run_length", minimum=2), guarantee
        self.at_least, self.delta = _share(at_least, "at_least", 0.0, 2.0), _share(delta, "delta", 1e-12, 0.5)
        self.tick, self.warm_up = check_count(tick, "tick"), check_count(warm_up, "warm_up", minimum=2)
        self.season = None if season is None else check_count(season, "season", minimum=2 * self.tick)
        self.standardize, self.n_features = standardize, check_count(n_features, "n_features", minimum=2)
        if self.n_features % 2:
            raise InputError(f"n_features must be even, a cosine and a sine for each frequency, got {n_features}")
        self.kernel, self.random_state = as_kernel(kernel, bandwidth), random_state
        if not self.kernel.has_spectrum:
            raise InputError(f"kernel must be shift-invariant, got {self.kernel!r}; use a Gaussian, Laplacian or Matern kernel")
        self._by_bets = guarantee == "exact" and reference is not None
        self._seed: Seed = as_seed(random_state)
        self._alarms: tuple[Alarm, ...] = ()
        self._names: list[str] | None = None
        self._state: _State | None = None
        #: Rows after an alarm that become the next reference; with a season as many as were passed, so that it has all phases.
        self._n_next = _NEXT_REFERENCE
        if reference is not None:
            rows = check_points(reference, "reference", min_rows=2 * self.tick).astype(np.float64)
            self._names = _named(reference, rows.shape[1])
            self._n_next = _NEXT_REFERENCE if season is None else len(rows)
            self._state = self._referred(self._started(rows.shape[1]), rows)

    @one_at_a_time
    def update(self, X: PointsLike) -> list[Alarm]:
        """Take in more rows and return the alarms that they raise; if anything is wrong with X, nothing is taken in."""
        rows = check_points(X, "X", width=None if self._state is None else self._state.waiting.shape[1]).astype(np.float64)
        names = self._names or _named(X, rows.shape[1])
        state = self._state or self._started(rows.shape[1])
        state = replace(state, waiting=np.concatenate([state.waiting, rows]), n_seen=state.n_seen + len(rows))
        if state.plan is None and len(state.waiting) >= self.warm_up:
            state = replace(state, plan=self._planned(state.waiting[: self.warm_up]))
        raised: list[Alarm] = []
        while state.plan is not None and len(state.waiting) >= self.tick:
            state, alarm = self._taken(state, state.plan, names)
            raised += [] if alarm is None else [alarm]
        # One step: after an interrupt, all rows are taken in, or none.
        self.__dict__.update(_state=state, _names=names, _alarms=(*self._alarms, *raised))
        return raised

    @property
    def alarms_(self) -> tuple[Alarm, ...]:
        """All alarms, the first one first."""
        return self._alarms

    @property
    def evidence_(self) -> float:
        """The evidence of a change after the last tick, over the line at which an alarm is raised."""
        return 0.0 if self._state is None else self._state.evidence

    @property
    def n_seen_(self) -> int:
        """Rows seen."""
        return 0 if self._state is None else self._state.n_seen

    @property
    def dependence_(self) -> float:
        """By how much more means of rows vary than those of as many independent rows."""
        return 1.0 if self._state is None else float(self._state.watch.factors.max())

    def _started(self, width: int) -> _State:
        exact = self.guarantee == "exact"
        watched = watch.init(
            self.n_features * len(SCALES), self.run_length / self.tick, groups=len(SCALES), n_phases=self._n_phases,
            exact=exact, least=self.at_least, warm_up=float(self.warm_up),
        )  # fmt: skip
        none = np.empty((0, width))
        return _State(
            none, 0, None, watched, None, none, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64), none
        )  # fmt: skip

    def _planned(self, rows: Floats) -> _Plan:
        """Fix scales, bandwidth and features by the first rows, or the reference."""
        centre, scale = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
        if self.standardize:
            low, centre, high = np.quantile(rows, [0.25, 0.5, 0.75], axis=0)
            scale = np.where(high > low, (high - low) / _NORMAL_QUARTILES, rows.std(axis=0))
            scale = np.where(scale > 0, scale, 1.0)
        scaled = (rows - centre) / scale
        kernel = self.kernel
        if not kernel.is_resolved:
            same = bool((scaled == scaled[0]).all())
            state = self._seed.child("bandwidth").sequence()
            kernel = kernel.resolved_by(1.0) if same else kernel.resolve(scaled, random_state=state)
        return _Plan(centre, scale, waves_of(kernel, self._seed.child("features"), self.n_features))

    def _referred(self, state: _State, rows: Floats) -> _State:
        """Return the state in which rows are compared with a reference, whose rows have positions below 0."""
        plan, n = self._planned(rows), len(rows)
        places = np.arange(-n, 0)
        state = self._with_rows(replace(state, plan=plan), rows, places)
        state = replace(state, recent=state.recent[:0])
        features, whole = plan.features(rows), n // self.tick
        sums = features[n - whole * self.tick :].reshape(whole, self.tick, -1).sum(axis=1, dtype=np.float64)
        exact = self.guarantee == "exact"
        # Nothing is looked for within the reference; limits come from all of it.
        quiet = replace(state.watch, limits=NO_LIMITS, next_look=np.inf if exact else float(whole * self.tick))
        watched, _, _ = watch.advance(
            quiet, sums, np.full(whole, float(self.tick)), self._phases(np.arange(-whole, 0) * self.tick),
            lambda _, held: self._sampled(held, state, plan), self._seed,
        )  # fmt: skip
        phases, means = self._phases(places), np.zeros((self._n_phases, features.shape[1]))
        for phase in np.unique(phases).tolist():
            means[phase] = features[phases == phase].mean(axis=0, dtype=np.float64)
        players = self._bets(means, self._counted(phases)) if exact else None
        return replace(state, watch=watched, bets=players)

    def _counted(self, phases: Indices) -> Indices:
        """Return the rows of a reference in each phase; refuse too few to find anything by."""
        counts = np.bincount(phases, minlength=self._n_phases)
        if bets.slack_of(int(counts.min()), self._delta_each) >= 1.0:
            least = next(n for n in count(1) if bets.slack_of(n, self._delta_each) < 1.0)
            many = "" if self.season is None else f" in each of the {self._n_phases} phases of the season"
            raise InputError(
                f"reference must have at least {least} rows{many} for guarantee='exact', got {counts.min()}; pass more rows"
                f"{'' if self.season is None else ', or a larger tick, for fewer phases'}"
            )
        return counts

    @property
    def _delta_each(self) -> float:
        """The probability that the mean of one phase and one scale is further off than its slack."""
        return self.delta / self._n_phases / len(SCALES)

    def _bets(self, means: Floats, sizes: Floats | Indices) -> Bets:
        """Return the players against the mean features of each phase, of so many rows."""
        slacks = np.array([max(bets.slack_of(n, self._delta_each), self.at_least) for n in sizes.tolist()])
        return bets.init(means, slacks, float(self.run_length), len(SCALES))

    def _taken(self, state: _State, plan: _Plan, names: list[str]) -> tuple[_State, Alarm | None]:
        """Take in whole ticks until there are none, or one raises an alarm."""
        whole = min(len(state.waiting) // self.tick, _MOST_TICKS, self._until_reference(state))
        first, rows = state.n_taken, state.waiting[: whole * self.tick]
        features = plan.features(rows)
        sums = features.reshape(whole, self.tick, -1).sum(axis=1, dtype=np.float64)
        sizes, phases = np.full(whole, float(self.tick)), self._phases(first + np.arange(whole) * self.tick)

        def sample(tick: int, held: Watch) -> Sample:
            return self._sampled(held, self._with_rows(state, rows[: (tick + 1) * self.tick]), plan)

        found, players = None, state.bets
        if players is None:
            watched, evidence, found = watch.advance(state.watch, sums, sizes, phases, sample, self._seed)
            ticks = len(evidence)
            at = first + ticks * self.tick - 1
        else:
            players, evidence = bets.play(players, features, np.repeat(phases, self.tick))
            at, ticks = first + len(evidence) - 1, -(-len(evidence) // self.tick)
            watched, _, _ = watch.advance(state.watch, sums[:ticks], sizes[:ticks], phases[:ticks], sample, self._seed)
            if evidence[-1] >= 1.0:
                found = watch.located(watched, float(evidence[-1]), sample(ticks - 1, watched))
        after = self._with_rows(state, rows[: ticks * self.tick])
        after = replace(
            after, waiting=state.waiting[ticks * self.tick :], watch=watched, bets=players, evidence=float(evidence[-1])
        )
        return (self._next_reference(after), None) if found is None else self._alarmed(after, found, at, names)

    def _alarmed(self, state: _State, found: Found, at: int, names: list[str]) -> tuple[_State, Alarm]:
        """Return the alarm, and the state in which the rows since the change are what others are compared with."""
        few, many = (state.n_taken - ticks * self.tick for ticks in found.between)
        change = state.n_taken - found.ticks_after * self.tick
        between = max(0, many), min(at, few)
        told = self._told(state, change, names)
        alarm = Alarm("content", at, max(0, change), between, found.gap, found.evidence, **told)
        own = state.places >= state.n_taken - watch.ticks_kept(state.watch, found) * self.tick
        watched = watch.restarted(state.watch, found)
        if self.guarantee == "exact":
            watched = replace(watched, limits=exact_limits(watched.probability, len(SCALES)))
        return replace(
            state, watch=watched, bets=None, sample=state.sample[own], places=state.places[own], keys=state.keys[own]
        ), alarm  # fmt: skip

    def _until_reference(self, state: _State) -> int:
        """Return after how many ticks the rows since an alarm become the next reference of bets."""
        if not self._by_bets or state.bets is not None:
            return _MOST_TICKS
        return max(1, -(-int(self._n_next - state.watch.n_rows) // self.tick))

    def _next_reference(self, state: _State) -> _State:
        if not self._by_bets or state.bets is not None or state.watch.n_rows < self._n_next:
            return state
        players = self._bets(state.watch.means(), state.watch.sizes.sum(axis=0))
        return replace(state, bets=players, watch=replace(state.watch, limits=NO_LIMITS))

    def _phases(self, places: Indices) -> Indices:
        """Return the phases of rows at some positions, which are those of their ticks."""
        if self.season is None:
            return np.zeros(len(places), dtype=np.int64)
        return ((places - places % self.tick) % self.season) * self._n_phases // self.season

    @property
    def _n_phases(self) -> int:
        return 1 if self.season is None else min(_MOST_PHASES, self.season // self.tick)

    def _with_rows(self, state: _State, rows: Floats, places: Indices | None = None) -> _State:
        """Return the state with more rows among the sampled and the latest ones."""
        if places is None:
            places = state.n_taken + np.arange(len(rows))
        words = places.astype(np.int64).view(np.uint64) ^ np.uint64(self._seed.child("sample").sequence().generate_state(1)[0])
        keys = np.concatenate([state.keys, hash_words(words)])
        kept = np.sort(np.argsort(keys, kind="stable")[:_SAMPLE])
        return replace(
            state, sample=np.concatenate([state.sample, rows])[kept], places=np.concatenate([state.places, places])[kept],
            keys=keys[kept], recent=np.concatenate([state.recent, rows])[-_RECENT:],
        )  # fmt: skip

    def _sampled(self, held: Watch, state: _State, plan: _Plan) -> Sample:
        """Return the sampled rows less the means of their phases, and the variance of a row."""
        features = plan.features(state.sample).astype(np.float64)
        means, sizes = held.means(), held.sizes.sum(axis=0)
        residuals = features - means[self._phases(state.places)]
        lengths = np.square(means).reshape(len(means), len(SCALES), -1).sum(axis=2)
        return Sample(residuals, 1.0 - sizes / sizes.sum() @ lengths)

    def _told(self, state: _State, change: int, names: list[str]) -> dict[str, Any]:
        """Say what changed, by rows before and after."""
        recent = state.n_taken - len(state.recent) + np.arange(len(state.recent))
        after = np.concatenate(
            [state.recent[recent >= change], state.sample[(state.places >= change) & (state.places < recent[0])]]
        )
        before = state.sample[state.places < change]
        if min(len(before), len(after)) < _FEWEST:
            return {}
        left, right = (pa.table(dict(zip(names, each.T, strict=True))) for each in (before, after))
        first = summarize(left, min(50, len(before)), 0, random_state=0)
        second = summarize(right, like=first, random_state=0)
        return what_changed(first.compare(second), left, right)


def _named(given: Any, width: int) -> list[str]:
    names = check_names(given, None)
    return [f"x{place}" for place in range(width)] if names is None else [str(each) for each in names]


def _share(value: Any, name: str, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise InputTypeError(f"{name} must be a number, got {type(value).__name__}")
    if not least <= value <= most:
        raise InputError(f"{name} must lie between {least:g} and {most:g}, got {value}")
    return float(value)
