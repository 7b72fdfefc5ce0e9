"""Statistics of all rows, column by column: state and pure functions, deterministic, mergeable, with stated errors."""

from supersample.profile.column import ColumnProfile, Counted, Reads
from supersample.profile.profile import Profile, init, merge, update, without_rare
from supersample.profile.table import QUANTILES, to_table
from supersample.profile.updating import ColumnPlan, floats_of, texts_of

__all__ = [
    "QUANTILES", "ColumnPlan", "ColumnProfile", "Counted", "Profile", "Reads", "floats_of", "init", "merge", "texts_of",
    "to_table", "update", "without_rare",
]  # fmt: skip
