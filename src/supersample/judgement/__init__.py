"""How far two data sets are from each other, and whether that could be chance; how sure an integral is."""

from supersample.judgement.circular import circular_discrepancy, circular_ensemble
from supersample.judgement.discrepancy import mmd2
from supersample.judgement.integral import Integral, integrate
from supersample.judgement.result import TestResult
from supersample.judgement.two_sample import two_sample_test

__all__ = ["Integral", "TestResult", "circular_discrepancy", "circular_ensemble", "integrate", "mmd2", "two_sample_test"]
