"""Target measures: what a selection is to stand for, with its mean embedding z(y) and its energy E."""

from supersample.measures.base import Measure
from supersample.measures.empirical import Empirical
from supersample.measures.mixture import GaussianMixture
from supersample.measures.uniform import Uniform

__all__ = ["Empirical", "GaussianMixture", "Measure", "Uniform"]
