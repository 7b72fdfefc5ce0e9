"""What the report needs of a summary and of a comparison: public attributes only."""

from collections.abc import Sequence
from typing import Any, Protocol

import pyarrow as pa

from supersample._typing import Floats
from supersample.features.kernels import Kernel

__all__ = ["Change", "Column", "Compared", "Reading", "Summarised"]


class Column(Protocol):
    """How one column was read."""

    @property
    def name(self) -> str:
        """What the source calls it."""

    @property
    def type(self) -> str:
        """Its Arrow type, in words."""

    @property
    def kind(self) -> str:
        """How it counts: number, boolean, category, time, vector, weight, or left out."""

    @property
    def width(self) -> int:
        """How many numbers it became."""

    @property
    def weight(self) -> float:
        """How much it counts in the kernel."""

    @property
    def note(self) -> str:
        """What a reader should know of it."""


class Reading(Protocol):
    """The state of the certificate after some rows."""

    @property
    def rows(self) -> int:
        """Rows seen by then."""

    @property
    def mmd(self) -> float:
        """MMD of the prototypes of that moment."""

    @property
    def error(self) -> float:
        """Its standard error."""

    @property
    def random_mmd(self) -> float:
        """MMD of as many rows drawn at random."""


class Change(Protocol):
    """What one column adds to a difference."""

    @property
    def name(self) -> str:
        """What the source calls it."""

    @property
    def mmd(self) -> float:
        """MMD between the two sides in this column alone."""

    @property
    def pvalue(self) -> float:
        """Its p-value, adjusted for the number of columns."""

    @property
    def share(self) -> float:
        """Its part of the sum over columns."""


class Compared(Protocol):
    """The result of comparing two summaries."""

    @property
    def pvalue(self) -> float:
        """The chance of a difference at least as large between samples of one population."""

    @property
    def mmd(self) -> float:
        """How far apart the two are."""

    @property
    def columns(self) -> Sequence[Change]:
        """The columns, strongest first."""

    @property
    def changed(self) -> Sequence[str]:
        """Names of the columns that differ by themselves."""

    @property
    def left_rows(self) -> pa.Table:
        """Rows more common on the left."""

    @property
    def right_rows(self) -> pa.Table:
        """Rows more common on the right."""

    @property
    def n_left(self) -> int:
        """Rows seen on the left."""

    @property
    def n_right(self) -> int:
        """Rows seen on the right."""


class Summarised(Protocol):
    """A summary, as far as the page shows it."""

    n_seen: int
    mmd: float
    mmd_error: float
    random_mmd: float
    energy: float
    source: str
    kernel: Kernel
    prototypes: pa.Table
    criticisms: pa.Table
    background: pa.Table
    columns: Sequence[Column]
    history: Sequence[Reading]

    def bound(self, delta: float = 0.05) -> float:
        """Return the bound on MMD that holds with probability 1 - delta."""

    def encode(self, table: Any) -> Floats:
        """Return rows as the numbers in which the kernel works."""

    def compare(self, other: Any) -> Any:
        """Compare with another summary of the same encoding."""
