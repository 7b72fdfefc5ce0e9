"""Which points stand for the data."""

from supersample.selection.critic import critic
from supersample.selection.frank_wolfe import frank_wolfe
from supersample.selection.herding import herd
from supersample.selection.online_greedy import online_critic
from supersample.selection.quadrature import sbq, wkh
from supersample.selection.result import Critique, Selection
from supersample.selection.reweighting import quadrature_weights

__all__ = ["Critique", "Selection", "critic", "frank_wolfe", "herd", "online_critic", "quadrature_weights", "sbq", "wkh"]
