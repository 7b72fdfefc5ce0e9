"""Replace a data set, or a stream without end, by the few real points that stand for it."""

import sys

from supersample import errors, features
from supersample.embedding import MeanEmbedding, measures
from supersample.engines import herd, sbq, summarize, wkh
from supersample.features import kernels
from supersample.judgement import (
    Integral,
    TestResult,
    circular_discrepancy,
    circular_ensemble,
    integrate,
    mmd2,
    two_sample_test,
)
from supersample.selection import (
    Critique,
    Selection,
    critic,
    frank_wolfe,
    online_critic,
    quadrature_weights,
)
from supersample.summary import Comparison, Progress, Summary, SuperSampler, load

# `import supersample.kernels` works as `supersample.kernels` does: kernels live with the features that approximate them.
sys.modules[__name__ + ".kernels"] = kernels
# Measures live with the embeddings that they have.
sys.modules[__name__ + ".measures"] = measures

__all__ = [
    "Comparison",
    "Critique",
    "Integral",
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
    "frank_wolfe",
    "herd",
    "integrate",
    "kernels",
    "load",
    "measures",
    "mmd2",
    "online_critic",
    "quadrature_weights",
    "sbq",
    "summarize",
    "two_sample_test",
    "wkh",
]
