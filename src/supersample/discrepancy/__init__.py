"""The discrepancy between two data sets, and tests of whether it could be chance."""

from supersample.discrepancy.circular import circular_discrepancy, circular_ensemble
from supersample.discrepancy.mmd import mmd2
from supersample.discrepancy.result import TestResult
from supersample.discrepancy.two_sample import two_sample_test

__all__ = ["TestResult", "circular_discrepancy", "circular_ensemble", "mmd2", "two_sample_test"]
