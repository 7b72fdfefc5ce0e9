"""Comparison of two summaries without the data: whether they differ, in which columns, and where.

One verdict: the tests of single columns share 60% of the level, the correlations of pairs of columns have 10% of it, and the
joint test, of all columns in the kernel together, has 30%, or 40% where no pairs can be tested (Holm's rule with weights). The
p-value of the comparison is the smallest adjusted one, so that it can never say something else than the list of columns.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from supersample._threads import one_blas_thread
from supersample._typing import Floats
from supersample.discrepancy.count_tests import weighted_holm
from supersample.discrepancy.feature_test import Embedded, compare_embedded
from supersample.discrepancy.pair_tests import LEAST
from supersample.discrepancy.result import TestResult
from supersample.features import Fourier
from supersample.kernels import Gaussian
from supersample.profile import Profile
from supersample.records.encoding import same_points
from supersample.selection.stream.lifecycle import Stream
from supersample.summary.apart import brought_together
from supersample.summary.bad_cells import brought_to_text
from supersample.summary.column_counts import column_counts
from supersample.summary.column_tests import Finding, Verdict, verdict_of, words_of_samples
from supersample.summary.comparison import LEVEL, ColumnChange, Comparison, PairChange, nothing_found
from supersample.summary.depending import ColumnFactors, Factors, Measures, drained, factors_of, measures_of, shaped
from supersample.summary.notes import Note
from supersample.summary.pair_scores import PairScores
from supersample.summary.state import Running, same_maps
from supersample.summary.telling_rows import Group, Shown, telling_rows

__all__ = ["compare"]

#: Features of one column's test, and its fixed seed: the same two summaries always give the same answer.
_COLUMN_FEATURES, _COLUMN_SEED = 128, 20140507
#: Parts of the level: of the joint test, and that of correlations in it, where there are any to test; columns share the rest.
#: Most changes that are not in one column are in two; what is left for the joint test are those spread over many.
_JOINT, _PAIRS = 0.4, 0.1
#: Changes of a column that are put into words.
_TOLD = 3
#: A variance this small relative to the largest square is rounding error of the mean.
_NO_SPREAD = 1e-24


@one_blas_thread()
def compare(left: Running, right: Running, at_least: float = 0.0, level: float = LEVEL) -> Comparison:
    """Compare two settled states. O(B D^2 + columns B F) for B background rows.

    Those that do not share their encoding and feature maps are compared by their background samples and profiles.
    at_least: differences below this are taken for none: jointly of MMD, in a column of two shares. level: at which they are
    said to differ, and rows are shown.
    """
    kept = left.kept, right.kept
    left, right = brought_to_text(left, right)
    of_all = left.profile, right.profile
    notes: tuple[Note, ...] = ()
    known = measures_of(left, drained(left)), measures_of(right, drained(right))
    factors = _factors(*known), _factors(*known[::-1])
    alike = left.schema == right.schema and same_points(left.encoding, right.encoding)
    apart, drawn = not (alike and same_maps(left.stream, right.stream)), frozenset[str]()
    if apart:
        left, right, notes, drawn = brought_together(left, right)
        factors = factors[0].of_sample(drawn), factors[1].of_sample(drawn)
    first, second = drained(left), drained(right)
    samples = _embedded(first, factors[0]), _embedded(second, factors[1])
    # The coordinates in which dependence was measured are those of the stream, not those that samples are brought to.
    stretched = samples if apart else tuple(map(_shaped, samples, (left, right), (first, second), factors))
    test = compare_embedded(stretched[0], stretched[1])
    witness = samples[0].mean - samples[1].mean
    joint = TestResult(
        statistic=test.statistic,
        pvalue=test.pvalue,
        null="spectral",
        method="features",
        estimator="biased",
        kernel=first.fixed_plan.kernel,
        n_x=first.n_seen,
        n_y=second.n_seen,
        n_features=first.fixed_plan.feature_map.n_features,
        null_quantiles=test.null_quantiles(),
    )
    answers = _answers((left, right), of_all, (first, second), factors, drawn)
    pvalue, columns, pairs = _changes(answers, joint, at_least, level)
    unseen = _filled_later((left, right))
    rows = telling_rows(
        Shown(left, first, kept[0], witness),
        Shown(right, second, kept[1], -witness),
        [each.name for each in columns if each.name not in unseen],
        _named(pvalue, columns, pairs, unseen, level),
    )
    return Comparison(
        **(vars(joint) | {"pvalue": pvalue}),
        columns=columns,
        pairs=pairs,
        joint=joint,
        left_rows=rows[0],
        right_rows=rows[1],
        notes=notes,
        at_least=at_least,
        level=level,
        smaller=_smaller(answers, joint, at_least, level),
        effective_rows=None if None in known else (samples[0].effective_rows, samples[1].effective_rows),
        dependence=(factors[0].joint, factors[1].joint),
        dependent=answers.dependent,
    )


def _factors(mine: Measures | None, theirs: Measures | None) -> Factors:
    return Factors() if mine is None else factors_of(mine, theirs)


def _depends(name: str, states: tuple[Running, Running], factors: Sequence[ColumnFactors]) -> bool:
    """Return whether values of a column depend on those before them on a side, or whether they are missing does, if any are."""
    profiles = [state.profile[name] for state in states if state.profile is not None]
    gaps = len(profiles) < len(states) or any(each.missing for each in profiles)
    return max(max(each.values, each.spread, each.missing if gaps else 1.0) for each in factors) > 1.0


def _embedded(state: Stream, factors: Factors) -> Embedded:
    sums = state.moments.sums()
    rows = state.background.rows
    features = state.fixed_plan.feature_map.transform(rows.points).astype(np.float64)
    return Embedded(
        state.moments.mean(), state.moments.effective_rows / factors.joint, features, state.background.shares(), _ratios(state),
        float(sums[-1] / sums[-2]),
    )  # fmt: skip


def _shaped(sample: Embedded, state: Running, held: Stream, factors: Factors) -> Embedded:
    return sample._replace(features=shaped(sample.features, state, held, factors))


def _ratios(state: Stream) -> Floats:
    weights = state.background.rows.relative_weights()
    return np.asarray(weights / float(state.background.shares() @ weights))


class _Answers(NamedTuple):
    """What was found in each column: its MMD, and MMD^2 beyond chance; the findings; as how many rows its sides count.

    scores: of the columns whose pairs are tested. dependent: the columns whose rows depend on those before them.
    """

    names: list[str]
    mmds: list[tuple[float, float]]
    findings: list[list[Finding]]
    effective: list[tuple[float, float] | None]
    scores: PairScores
    dependent: tuple[str, ...]


def _answers(
    states: tuple[Running, Running], of_all: tuple[Profile | None, Profile | None], streams: tuple[Stream, Stream],
    factors: tuple[Factors, Factors], drawn: Collection[str],
) -> _Answers:  # fmt: skip
    """Test each column by itself.

    of_all: the profiles of all rows, which put means and spreads into words where the states have profiles of samples.
    drawn: the columns whose values the profiles of the states count in samples.
    """
    shares = [each.background.shares() for each in streams]
    roles = {note.name: note.kind for note in states[0].encoding.notes}
    in_kernel = states[0].encoding.groups()
    rarest = max(each.request.options.min_count for each in states)
    paired = PairScores(shares, list(roles.values()).count("category"))
    counts = column_counts(states, of_all, streams, drawn)
    out = _Answers([], [], [], [], paired, ())
    dependent = []
    blocks = (_blocks(state, held) for state, held in zip(states, streams, strict=True))
    for (name, mine, *columns), (_, theirs, other) in zip(*blocks, strict=True):
        columns.append(other)
        own = [each.of(name) for each in factors]
        of_pairs = [each.sampled(mean.values) for each, mean in zip(factors, own, strict=True)]
        if roles[name] in ("number", "boolean"):
            there = [each[:, -1] == 0 for each in (mine, theirs)]
            paired.add(name, [each[:, 0] for each in (mine, theirs)], there, of_pairs)
        elif roles[name] == "category":
            paired.add_category(name, columns, of_pairs)
        of_samples = [each.sampled(mean.largest) for each, mean in zip(factors, own, strict=True)]
        dependent += [name] if name in in_kernel and _depends(name, states, own) else []
        mmd, pvalue, excess = _column_test([mine, theirs], shares, of_samples)
        sampled = Finding(pvalue, 1.0, mmd, words_of_samples(roles[name], columns, shares, rarest, counts.mark))
        sizes = [1.0 / float(share @ share) / factor for share, factor in zip(shares, of_samples, strict=True)]
        in_tests = counts.factors(name, roles[name], columns, own, factors)
        out.names.append(name)
        out.mmds.append((mmd, excess))
        told = counts.findings(name, roles[name], sampled, in_tests, rarest)
        out.findings.append(told + counts.of_words(name, columns, shares, in_tests, rarest))
        out.effective.append(counts.effective(name, roles[name], in_tests) or (sizes[0], sizes[1]))
    for name in _filled_later(states):
        values = [_values_of(state, held, name) for state, held in zip(states, streams, strict=True)]
        in_tests = counts.factors(name, "constant", values, [each.of(name) for each in factors], factors)
        out.names.append(name)
        out.mmds.append((0.0, 0.0))
        out.findings.append(counts.findings(name, "constant", Finding(1.0, 1.0, 0.0, ""), in_tests, rarest))
        out.effective.append(counts.effective(name, "constant", in_tests))
    return out._replace(dependent=tuple(dependent))


def _changes(
    answers: _Answers, joint: TestResult, at_least: float, level: float
) -> tuple[float, tuple[ColumnChange, ...], tuple[PairChange, ...]]:
    """Return the smallest adjusted p-value of all tests, the joint one included, and the changes of columns and pairs."""
    found = [verdict_of(each, at_least) for each in answers.findings]
    pairs = answers.scores.test(at_least)
    together = [] if pairs is None else [min(each.pvalue for each in pairs)]
    weights = [*[(1.0 - _JOINT) / len(found)] * len(found), *[_PAIRS] * len(together), _JOINT - _PAIRS * len(together)]
    whole = joint.pvalue if joint.statistic >= at_least**2 else 1.0
    adjusted = weighted_holm(np.array([*(each.pvalue for each in found), *together, whole]), np.array(weights))
    if len(found) == 1 and found[0].difference >= at_least:  # then the joint test is one of this column, too
        adjusted[0] = adjusted.min()
    total = sum(excess for _, excess in answers.mmds) or 1.0
    changes = [
        ColumnChange(name, mmd, float(p), excess / total, verdict.difference, _told(verdict, float(p), at_least, level), rows)
        for name, (mmd, excess), verdict, p, rows in zip(
            answers.names, answers.mmds, found, adjusted[: len(found)], answers.effective, strict=True
        )
    ]
    ordered = sorted(changes, key=lambda each: (each.pvalue, -each.share, each.name))
    named = [
        replace(each, pvalue=max(min(1.0, each.pvalue * float(adjusted[len(found)]) / together[0]), LEAST))
        for each in pairs or ()
    ]
    return float(adjusted.min()), tuple(ordered), tuple(sorted(named, key=lambda each: each.pvalue))


def _smaller(answers: _Answers, joint: TestResult, at_least: float, level: float) -> tuple[str, ...]:
    """Return the columns that differ, but by less than is to count, the largest difference first."""
    columns = _changes(answers, joint, 0.0, level)[1] if at_least > 0.0 else ()
    below = [each for each in columns if each.pvalue <= level and each.difference < at_least]
    return tuple(each.name for each in sorted(below, key=lambda each: -each.difference))


def _values_of(state: Running, held: Stream, name: str) -> pa.Array:
    """Return the values of a column in the rows of the background sample."""
    (batch,) = state.kept.at(held.background.rows.positions).combine_chunks().to_batches()
    return state.encoding.column(batch, name)


def _filled_later(states: tuple[Running, Running]) -> list[str]:
    """Return the columns that held nothing but missing values where the encoding was learned, and hold more on a side."""
    profiles = [state.profile for state in states]
    if None in profiles:
        return []
    empty = [note.name for note in states[0].encoding.notes if note.kind == "constant" and note.width == 0]
    return [name for name in empty if any(each is not None and each[name].count > 0 for each in profiles)]


def _told(verdict: Verdict, adjusted: float, at_least: float, level: float) -> str:
    """Put the clearest change of a column into words, and others that would be found by themselves."""
    if adjusted == 1.0:
        return nothing_found(at_least)
    factor = adjusted / verdict.pvalue
    told = enumerate(verdict.told[:_TOLD])
    return "; ".join(words for place, (pvalue, words) in told if place == 0 or pvalue * factor <= level)


def _blocks(state: Running, held: Stream) -> Iterator[tuple[str, Floats, pa.Array]]:
    """Yield each column with the coordinates of its background rows, including one that marks missing values, and its values.

    In the kernel, columns without missing values in the rows learned from have one coordinate for these all together.
    """
    rows = state.kept.at(held.background.rows.positions).combine_chunks()
    (batch,) = rows.to_batches()
    for block in (*state.encoding.blocks, *state.encoding.aside):
        out = np.zeros((rows.num_rows, block.width + 1))
        values = state.encoding.column(batch, block.name)
        absent = block.fill(values, out[:, :-1])
        if absent is not None:
            out[:, -1] = absent
        yield block.name, out, values


def _column_test(sides: list[Floats], shares: list[Floats], factors: list[float]) -> tuple[float, float, float]:
    """Return MMD, p-value, and MMD^2 beyond its mean under the null, of some coordinates of the background samples.

    factors: of the variances of the samples' means.
    """
    sizes = [1.0 / float(each @ each) / factor for each, factor in zip(shares, factors, strict=True)]
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


def _named(
    pvalue: float, columns: Sequence[ColumnChange], pairs: Sequence[PairChange], unseen: Collection[str], level: float
) -> list[Group] | None:
    """Return the columns and pairs that changed, the clearest first; none if only the joint test says so, None if none does.

    unseen: columns whose values nothing was learned of, so that no rows can be told by them.
    """
    if pvalue > level:
        return None
    found: list[tuple[float, Group]] = [(each.pvalue, (each.name,)) for each in columns if each.pvalue <= level]
    found += [(each.pvalue, each.columns) for each in pairs if each.pvalue <= level]
    told = [group for _, group in sorted(found, key=lambda each: each[0]) if not set(group) & set(unseen)]
    return told if told or not found else None
