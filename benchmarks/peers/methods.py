"""Every method of selection: what it is called, whose it is, where it runs, and whether it can be given many rows."""

from collections.abc import Callable
from typing import NamedTuple

from benchmarks.peers import select_coreax, select_goodpoints, select_others, select_ours
from benchmarks.peers.children import Environment
from benchmarks.peers.choice import Chooser

__all__ = ["METHODS", "Method"]


class Method(NamedTuple):
    """A way to choose M rows.

    package: what has to be installed; "supersample" is ours, and "none" a baseline. scales: has a place in the tables with many
    rows; what it is left out for stands in `limit`. environment: "older" is the one with NumPy below 2.
    """

    name: str
    package: str
    make: Callable[[], Chooser]
    limit: str = ""
    environment: Environment = "peers"

    @property
    def scales(self) -> bool:
        """Whether many rows can be given to it."""
        return not self.limit


_MATRIX = "holds the N x N kernel matrix"

METHODS = (
    Method("random rows", "none", select_ours.random_rows),
    Method("stream", "supersample", select_ours.stream),
    Method("herd", "supersample", select_ours.herd),
    Method("sbq", "supersample", select_ours.sbq),
    Method("critic", "supersample", select_ours.critic),
    Method("kernel thinning", "goodpoints", select_goodpoints.kernel_thinning, _MATRIX),
    Method("Compress++, g = 0", "goodpoints", select_goodpoints.compress_0),
    Method("Compress++, g = 4", "goodpoints", select_goodpoints.compress_4),
    Method("herding", "coreax", select_coreax.herding),
    Method("iterative herding", "coreax", select_coreax.iterative_herding),
    Method("kernel thinning", "coreax", select_coreax.kernel_thinning, _MATRIX),
    Method("Compress++, g = 4", "coreax", select_coreax.compress),
    Method("RPCholesky", "coreax", select_coreax.rp_cholesky),
    Method("RPCholesky, weighted", "coreax", select_coreax.rp_cholesky_weighted),
    Method("facility location", "apricot-select", select_others.facility_location, _MATRIX),
    Method("ProtoDash", "aix360", select_others.protodash, "N x M steps of interpreted Python", "older"),
    Method("prototypes", "mmd-critic", select_others.mmd_critic, _MATRIX),
    Method("density sketch", "datasketches", select_others.density_sketch),
    Method("k-means, nearest rows", "scikit-learn", select_others.k_means),
    Method("k-medoids", "scikit-learn-extra", select_others.k_medoids, "holds the N x N distances", "older"),
)
