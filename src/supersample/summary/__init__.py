"""Summaries of whole tables; those of arrays, with scikit-learn's conventions, are in `sampler`."""

from supersample.summary.comparison import ColumnChange, Comparison
from supersample.summary.progress import Progress
from supersample.summary.summarizing import summarize
from supersample.summary.summary import Summary, load

__all__ = ["ColumnChange", "Comparison", "Progress", "Summary", "load", "summarize"]
