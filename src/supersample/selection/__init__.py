"""Which points stand for the data."""

from supersample.selection.critic import critic
from supersample.selection.result import Critique, Selection

__all__ = ["Critique", "Selection", "critic"]
