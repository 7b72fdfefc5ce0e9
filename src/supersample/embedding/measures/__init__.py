"""Target measures: what a selection is to stand for, with its mean embedding z(y) and its energy E."""

from supersample.embedding.measures.base import Measure
from supersample.embedding.measures.empirical import Empirical
from supersample.embedding.measures.mixture import GaussianMixture
from supersample.embedding.measures.uniform import Uniform

__all__ = ["Empirical", "GaussianMixture", "Measure", "Uniform"]
