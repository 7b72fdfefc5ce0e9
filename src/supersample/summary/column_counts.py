"""The counts by which columns are compared: of all rows, or of the samples where rows count by weights."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import pyarrow as pa

from supersample._typing import Floats
from supersample.profile import ColumnProfile, Profile
from supersample.selection.stream.lifecycle import Stream
from supersample.summary.change_words import IN_SAMPLES
from supersample.summary.column_tests import Finding, by_counts, findings
from supersample.summary.depending import ColumnFactors, Factors
from supersample.summary.group_changes import by_groups
from supersample.summary.sample_counts import SampleCounts, sample_counts
from supersample.summary.state import Running
from supersample.summary.value_shares import n_counted
from supersample.summary.word_changes import change_of_words

__all__ = ["ColumnCounts", "column_counts"]


class ColumnCounts(NamedTuple):
    """The counts that columns are tested by: of all rows, or of the samples where those do not count as they should.

    told: profiles of all rows, which put means and spreads into words; those that are tested where there are none. samples:
    where the profiles are of the samples. drawn: columns whose values are counted in samples by profiles that are else of all
    rows. mark: what says of numbers that they are those of samples, nothing where samples hold all rows.
    """

    profiles: tuple[Profile, Profile]
    told: tuple[Profile, Profile]
    samples: tuple[SampleCounts, SampleCounts] | None
    drawn: Collection[str]
    mark: str

    def of(self, name: str) -> tuple[ColumnProfile, ColumnProfile]:
        """Return the profiles of a column."""
        return self.profiles[0][name], self.profiles[1][name]

    def factors(
        self, name: str, role: str, values: Sequence[pa.Array], own: Sequence[ColumnFactors], factors: Sequence[Factors]
    ) -> list[ColumnFactors]:
        """Return the factors of a column on both sides; own: those of all rows. values: of the rows of the samples."""
        if self.samples is None:
            return list(own)
        # Of a few rows with weights, the variance may not show: both sides are taken to have that of the one that shows more.
        designs = [side.designs(name, role, held) for side, held in zip(self.samples, values, strict=True)]
        largest = [max(getattr(each, part) for each in designs) for part in ("values", "missing", "spread")]
        out = []
        for sample, side, each in zip(self.samples, factors, own, strict=True):
            parts = zip(largest, (each.values, each.missing, each.spread), strict=True)
            out.append(ColumnFactors(*(sample.variance * design * side.sampled(part) for design, part in parts)))
        return out

    def findings(self, name: str, role: str, sampled: Finding, factors: Sequence[ColumnFactors], rarest: int) -> list[Finding]:
        """Return the answers about a column; sampled: the one from its coordinates in the samples."""
        pair, of_samples = self.of(name), self._of_samples(name)
        told = pair if of_samples else (self.told[0][name], self.told[1][name])
        if self.samples is not None and rarest > 1:  # no row is counted more often than this
            rarest *= max(each.most for each in self.samples)
        found = findings(*pair, role, told=told, sampled=sampled, min_count=rarest, factors=factors)
        return [self._marked(each, of_samples, name in self.drawn) for each in found]

    def of_words(
        self, name: str, values: Sequence[pa.Array], shares: Sequence[Floats], factors: Sequence[ColumnFactors], rarest: int
    ) -> list[Finding]:
        """Return what the words of a column of free text say, none if they were not counted. values: of the rows of samples."""
        found = change_of_words(*self.of(name), values, shares, rarest, (factors[0].values, factors[1].values))
        return [] if found is None else [self._marked(found, self._of_samples(name), False)]

    def _of_samples(self, name: str) -> bool:
        """Return whether all that is counted of a column is counted in samples: where sides do not read it alike, too."""
        pairs = zip(self.of(name), (self.told[0][name], self.told[1][name]), strict=True)
        alike = all((each.values, each.reading) == (whole.values, whole.reading) for each, whole in pairs)
        return self.samples is not None or not alike

    def _marked(self, found: Finding, of_samples: bool, drawn: bool) -> Finding:
        """Return an answer whose words say so where their numbers are those of samples; drawn: where shares of values are."""
        shares = drawn and "%" in found.words and not found.words.startswith(("missing ", "unreadable "))
        says = found.words and not found.words.endswith(self.mark)
        return found._replace(words=found.words + self.mark) if says and (of_samples or shares) else found

    def effective(self, name: str, role: str, factors: Sequence[ColumnFactors]) -> tuple[float, float] | None:
        """Return as how many independent rows the values of each side count in counts; None if they are not counted."""
        pair = self.of(name)
        if not (by_counts(*pair, role) or by_groups(*pair, role)):
            return None
        left, right = (n_counted(each) / factor.values for each, factor in zip(pair, factors, strict=True))
        return left, right


def column_counts(
    states: tuple[Running, Running], of_all: tuple[Profile | None, Profile | None], streams: tuple[Stream, Stream],
    drawn: Collection[str] = (),
) -> ColumnCounts:  # fmt: skip
    """Return the profiles of both sides, of the samples if rows have weights or lose them, or an earlier version kept none."""
    left, right = states
    whole = all(len(each.background.rows) >= each.n_seen for each in streams)
    mark = "" if whole else IN_SAMPLES
    if left.profile is not None and right.profile is not None and left.counts_alike and right.counts_alike:
        own = left.profile, right.profile
        return ColumnCounts(own, (of_all[0] or own[0], of_all[1] or own[1]), None, drawn, mark)
    samples = sample_counts(left, streams[0]), sample_counts(right, streams[1])
    counted = samples[0].profile, samples[1].profile
    return ColumnCounts(counted, counted, samples, drawn, mark)
