"""Replace a data set, or a stream without end, by the few real points that stand for it."""

import sys

from supersample import errors, features
from supersample.embedding import MeanEmbedding
from supersample.engines import summarize
from supersample.features import kernels
from supersample.judgement import TestResult, circular_discrepancy, circular_ensemble, mmd2, two_sample_test
from supersample.selection import Critique, Selection, critic, online_critic
from supersample.summary import Comparison, Progress, Summary, SuperSampler, load

# `import supersample.kernels` works as `supersample.kernels` does: kernels live with the features that approximate them.
sys.modules[__name__ + ".kernels"] = kernels

__all__ = [
    "Comparison",
    "Critique",
    "MeanEmbedding",
    "Progress",
    "Selection",
    "Summary",
    "SuperSampler",
    "TestResult",
    "circular_discrepancy",
    "circular_ensemble",
    "critic",
    "errors",
    "features",
    "kernels",
    "load",
    "mmd2",
    "online_critic",
    "summarize",
    "two_sample_test",
]
