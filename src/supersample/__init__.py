"""Replace a data set, or a stream without end, by the few real points that stand for it."""

import sys

from supersample import errors, features
from supersample.embedding import MeanEmbedding, measures
from supersample.features import kernels
from supersample.judgement import TestResult, circular_discrepancy, circular_ensemble, mmd2, two_sample_test
from supersample.selection import Critique, Selection, critic, herd, online_critic, sbq, wkh
from supersample.summary import SuperSampler

# `import supersample.kernels` works as `supersample.kernels` does: kernels live with the features that approximate them.
sys.modules[__name__ + ".kernels"] = kernels
# Measures live with the embeddings that they have.
sys.modules[__name__ + ".measures"] = measures

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
    "herd",
    "kernels",
    "measures",
    "mmd2",
    "online_critic",
    "sbq",
    "two_sample_test",
    "wkh",
]
