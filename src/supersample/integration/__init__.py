"""Integrals of costly functions, with the remaining uncertainty."""

from supersample.integration.integral import Integral, integrate

__all__ = ["Integral", "integrate"]
