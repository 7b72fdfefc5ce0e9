"""Summaries of whole tables; those of arrays, with scikit-learn's conventions, are in `sampler`."""

from supersample.summary.comparison import ColumnChange, Comparison, PairChange
from supersample.summary.progress import Progress
from supersample.summary.summarizing import summarize
from supersample.summary.summary import Summary, load

__all__ = ["ColumnChange", "Comparison", "PairChange", "Progress", "Summary", "load", "summarize"]
