"""Which points stand for the data."""

from supersample.selection.critic import critic
from supersample.selection.herding import herd
from supersample.selection.online_greedy import online_critic
from supersample.selection.quadrature import sbq, wkh
from supersample.selection.result import Critique, Selection

__all__ = ["Critique", "Selection", "critic", "herd", "online_critic", "sbq", "wkh"]
