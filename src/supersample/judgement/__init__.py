"""How far two data sets are from each other, and whether that could be chance."""

from supersample.judgement.circular import circular_discrepancy, circular_ensemble
from supersample.judgement.discrepancy import mmd2
from supersample.judgement.result import TestResult
from supersample.judgement.two_sample import two_sample_test

__all__ = ["TestResult", "circular_discrepancy", "circular_ensemble", "mmd2", "two_sample_test"]
