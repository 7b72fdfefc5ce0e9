"""Target measures: the distributions that a selection represents, with mean embedding z(y) and energy E."""

from supersample.measures.base import Measure
from supersample.measures.empirical import Empirical
from supersample.measures.mixture import GaussianMixture
from supersample.measures.uniform import Uniform

__all__ = ["Empirical", "GaussianMixture", "Measure", "Uniform"]
