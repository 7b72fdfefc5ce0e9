"""What is kept of a data set."""

from supersample.summary.sampler import SuperSampler

__all__ = ["SuperSampler"]
