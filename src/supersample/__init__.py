"""Replace a data set, or a stream without end, by the few real points that stand for it."""

import sys

from supersample import errors, features
from supersample.embedding import MeanEmbedding
from supersample.features import kernels
from supersample.judgement import TestResult, circular_discrepancy, circular_ensemble, mmd2, two_sample_test
from supersample.selection import Critique, Selection, critic, online_critic
from supersample.summary import SuperSampler

# `import supersample.kernels` works as `supersample.kernels` does: kernels live with the features that approximate them.
sys.modules[__name__ + ".kernels"] = kernels

__all__ = [
    "Critique",
    "MeanEmbedding",
    "Selection",
    "SuperSampler",
    "TestResult",
    "circular_discrepancy",
    "circular_ensemble",
    "critic",
    "errors",
    "features",
    "kernels",
    "mmd2",
    "online_critic",
    "two_sample_test",
]
