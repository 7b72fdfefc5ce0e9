"""Explicit feature maps phi of kernels, with phi(x).phi(y) close to k(x, y)."""

from supersample.features.base import FeatureMap
from supersample.features.fastfood import Fastfood
from supersample.features.fisher import Fisher
from supersample.features.fourier import Fourier
from supersample.features.landmark import Landmark
from supersample.features.named import FeaturesLike, register
from supersample.features.nystroem import Nystroem
from supersample.features.planning import n_features_for

__all__ = [
    "Fastfood", "FeatureMap", "FeaturesLike", "Fisher", "Fourier", "Landmark", "Nystroem", "n_features_for", "register",
]  # fmt: skip
