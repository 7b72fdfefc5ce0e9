"""Integrals of costly functions, with the uncertainty that is left."""

from supersample.integration.integral import Integral, integrate

__all__ = ["Integral", "integrate"]
