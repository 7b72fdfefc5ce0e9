"""Which points represent the data."""

from supersample.selection.batch.frank_wolfe import frank_wolfe
from supersample.selection.batch.herding import herd
from supersample.selection.batch.quadrature import sbq, wkh
from supersample.selection.batch.reweighting import quadrature_weights
from supersample.selection.result import Selection

__all__ = ["Selection", "frank_wolfe", "herd", "quadrature_weights", "sbq", "wkh"]
