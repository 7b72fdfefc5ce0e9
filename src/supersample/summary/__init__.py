"""Summaries: of arrays with scikit-learn's conventions, and of whole tables."""

from supersample.summary.comparison import ColumnChange, Comparison
from supersample.summary.progress import Progress
from supersample.summary.sampler import SuperSampler
from supersample.summary.summarize import summarize
from supersample.summary.summary import Summary, load

__all__ = ["ColumnChange", "Comparison", "Progress", "Summary", "SuperSampler", "load", "summarize"]
