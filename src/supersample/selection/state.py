"""The state of a stream: plain data, everything that is needed to go on."""

from dataclasses import dataclass

from supersample.embedding.moments import Moments
from supersample.selection.background import Background
from supersample.selection.criticisms import Criticisms
from supersample.selection.plan import Plan, Settings
from supersample.selection.reservoir import Reservoir
from supersample.selection.rows import Rows

__all__ = ["Stream"]


@dataclass(frozen=True)
class Stream:
    """Everything that is needed to go on. Until the warm-up is over there is no plan, and all rows wait in `pending`.

    n_seen counts all rows, n_used those of positive weight that were taken in; chunks counts chunks begun.
    """

    settings: Settings
    width: int
    plan: Plan | None
    n_seen: int
    n_used: int
    chunks: int
    pending: Rows
    moments: Moments
    held_out: Moments
    reservoir: Reservoir
    criticisms: Criticisms
    background: Background
