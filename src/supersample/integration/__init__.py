"""Integrals of costly functions, with the remaining uncertainty."""

from supersample.integration.ask_tell import Integration
from supersample.integration.evaluate import integrate
from supersample.integration.integral import Integral

__all__ = ["Integral", "Integration", "integrate"]
