"""The state of a stream: plain data, everything that is needed to go on."""

from dataclasses import dataclass

from supersample._stored import INTEGER, instance_of, optional, stored
from supersample.embedding.moments import Moments
from supersample.selection.stream.background import Background
from supersample.selection.stream.criticisms import Criticisms
from supersample.selection.stream.plan import Plan, Settings
from supersample.selection.stream.reservoir import Reservoir
from supersample.selection.stream.rows import Rows

__all__ = ["Stream"]


@stored(
    "Stream",
    {
        "settings": instance_of(Settings),
        "width": INTEGER,
        "plan": optional(instance_of(Plan)),
        "n_seen": INTEGER,
        "n_used": INTEGER,
        "chunks": INTEGER,
        "pending": instance_of(Rows),
        "moments": instance_of(Moments),
        "held_out": instance_of(Moments),
        "reservoir": instance_of(Reservoir),
        "criticisms": instance_of(Criticisms),
        "background": instance_of(Background),
    },
)
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
