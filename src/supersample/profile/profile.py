"""The profile of a table: one profile for each column, brought up to date and merged together."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from supersample._checks import require
from supersample._stored import instance_of, stored, tuple_of
from supersample.errors import MismatchError
from supersample.profile import updating
from supersample.profile.column import ColumnProfile
from supersample.profile.updating import ColumnPlan

__all__ = ["Profile", "init", "merge", "update", "without_rare"]


@stored("Profile", {"columns": tuple_of(instance_of(ColumnProfile))})
@dataclass(frozen=True)
class Profile:
    """Statistics of all rows of a table, column by column.

    They do not depend on how the rows came in batches. Counts, extremes, moments, registers and histograms do not depend on
    the order of the rows either, nor on how parts were merged; frequent values do, within the bound that they state.
    """

    columns: tuple[ColumnProfile, ...]

    @property
    def rows(self) -> int:
        """Rows seen."""
        return self.columns[0].rows if self.columns else 0

    def __getitem__(self, name: str) -> ColumnProfile:
        """Return the profile of a column by name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def check(self) -> None:
        """Refuse contents that no table has."""
        names = [column.name for column in self.columns]
        require(len(set(names)) == len(names), "two profiles are of one column")
        require(all(column.rows == self.rows for column in self.columns), "the columns have different numbers of rows")
        for column in self.columns:
            column.check()


def init(columns: Sequence[ColumnPlan]) -> Profile:
    """Return the profile of a table without rows.

    >>> empty = init([ColumnPlan("x", pa.int64(), "number", centre=2.0)])
    >>> seen = update(empty, pa.record_batch({"x": [3, 1, None, 2]}))
    >>> (seen["x"].minimum, seen["x"].mean, seen["x"].quantile(0.5), seen["x"].missing, seen["x"].distinct)
    ('1', 2.0, 2.0, 1, 3)
    """
    return Profile(tuple(updating.begin(plan) for plan in columns))


def update(profile: Profile, batch: pa.RecordBatch) -> Profile:
    """Return the profile after more rows; the given one is not changed. Columns without a profile are ignored.

    O(rows) for each column, on one core: threads would mostly wait for each other.
    """
    missing = [column.name for column in profile.columns if column.name not in batch.schema.names]
    if missing:
        raise MismatchError(
            f"the rows must have the columns profiled before, got none named {missing[0]!r} among {batch.schema.names[:8]}; "
            f"pass the same columns"
        )
    return Profile(tuple(updating.update(column, batch.column(column.name)) for column in profile.columns))


def merge(left: Profile, right: Profile) -> Profile:
    """Return the profile of both data sets together; neither is changed, and their order does not matter."""
    names = [[column.name for column in each.columns] for each in (left, right)]
    if names[0] != names[1]:
        raise MismatchError(
            f"two profiles must be of the same columns to be merged, got {names[0][:8]} and {names[1][:8]}; make the second "
            f"one with summarize(..., like=first)"
        )
    return Profile(tuple(updating.merge(*pair) for pair in zip(left.columns, right.columns, strict=True)))


def without_rare(profile: Profile, min_count: int) -> Profile:
    """Return the profile without frequent texts that were counted less often; it can be read, but not continued.

    Numbers stay: their smallest and largest values are shown anyway.
    """
    return Profile(tuple(column.without_rare(min_count) for column in profile.columns)) if min_count > 1 else profile
