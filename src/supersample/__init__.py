"""Replace a data set, or a stream without end, by the few real points that stand for it."""

import sys
from typing import TYPE_CHECKING

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
from supersample.summary import Comparison, Progress, Summary, load

if TYPE_CHECKING:
    from supersample.summary.sampler import SuperSampler
else:

    def __getattr__(name):
        """Import the estimator when it is first asked for: scikit-learn takes as long to import as all the rest together."""
        if name == "SuperSampler":
            from supersample.summary.sampler import SuperSampler

            globals()[name] = SuperSampler
            return SuperSampler
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
