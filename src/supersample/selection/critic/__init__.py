"""Prototypes and criticisms of rows that are all in memory, in batch or one after the other."""

from supersample.selection.critic.batch import critic
from supersample.selection.critic.online import online_critic
from supersample.selection.result import Critique

__all__ = ["Critique", "critic", "online_critic"]
