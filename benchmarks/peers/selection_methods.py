"""Every method of selection: what it is called, whose it is, where it runs, and whether it can be given many rows."""

import math
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.peers import select_coreax, select_goodpoints, select_others, select_ours
from benchmarks.peers.children import Environment
from benchmarks.peers.selection_protocol import Chooser

__all__ = ["METHODS", "Method"]


class Method(NamedTuple):
    """A way to choose M rows.

    package: what has to be installed; "supersample" is ours, and "none" a baseline. most_rows: it is left out of tables with
    more, for the reason in `limit`. environment: "older" is the one with an older NumPy and SciPy.
    """

    name: str
    package: str
    make: Callable[[], Chooser]
    most_rows: float = math.inf
    limit: str = ""
    environment: Environment = "peers"


#: The largest size for methods that hold an N x N matrix, which at the next, four times as large, is 17 GB or more.
_LARGE = 16_384
_MATRIX = "holds an N x N matrix, 17 GB or more"
_INTERPRETED = "takes N x M steps of interpreted Python, many minutes"

METHODS = (
    Method("random rows", "none", select_ours.random_rows),
    Method("stream", "supersample", select_ours.stream),
    Method("herd", "supersample", select_ours.herd),
    Method("sbq", "supersample", select_ours.sbq),
    Method("critic", "supersample", select_ours.critic),
    Method("kernel thinning", "goodpoints", select_goodpoints.kernel_thinning, _LARGE, _MATRIX),
    Method("Compress++ (g = 0)", "goodpoints", select_goodpoints.compress_0),
    Method("Compress++ (g = 4)", "goodpoints", select_goodpoints.compress_4),
    Method("herding", "coreax", select_coreax.herding, _LARGE, _MATRIX),
    Method("iterative herding", "coreax", select_coreax.iterative_herding, _LARGE, _MATRIX),
    Method("kernel thinning", "coreax", select_coreax.kernel_thinning, _LARGE, _MATRIX),
    Method("Compress++ (g = 4)", "coreax", select_coreax.compress),
    Method("RPCholesky", "coreax", select_coreax.rp_cholesky),
    Method("RPCholesky with weights", "coreax", select_coreax.rp_cholesky_weighted),
    Method("facility location", "apricot-select", select_others.facility_location, _LARGE, _MATRIX),
    Method("ProtoDash", "aix360", select_others.protodash, _LARGE, _INTERPRETED, "older"),
    Method("prototypes", "mmd-critic", select_others.mmd_critic, _LARGE, _MATRIX),
    Method("density sketch", "datasketches", select_others.density_sketch),
    Method("k-means nearest rows", "scikit-learn", select_others.k_means),
    Method("k-medoids", "scikit-learn-extra", select_others.k_medoids, _LARGE, _MATRIX, "older"),
)
