"""A summary at one moment: its state, which never changes, and what follows from it, computed when it is first asked for."""

from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from supersample._typing import Floats, Indices
from supersample.discrepancy.bounds import BoundInputs
from supersample.discrepancy.certificate import equal_weights
from supersample.selection.stream.missed_and_rare import KINDS
from supersample.selection.stream.plan import Plan
from supersample.summary import state as states
from supersample.summary.depending import drained, factors_of, measures_of
from supersample.summary.outcome import Outcome, outcome_of
from supersample.summary.profile_weights import profile_weights
from supersample.summary.row_store import held_points
from supersample.summary.state import Running, State

__all__ = ["Snapshot"]


class Snapshot:
    """The state of a summary, the same with encoding and maps fixed, and the outcome: prototypes, criticisms, MMD."""

    def __init__(self, state: State, settled: Running | None = None, outcome: Outcome | None = None) -> None:
        self.state = state
        if settled is not None:
            self.settled = settled
        if outcome is not None:
            self.outcome = outcome

    @cached_property
    def settled(self) -> Running:
        """The state with encoding and maps fixed, from however few rows."""
        return states.settle(self.state)

    @cached_property
    def outcome(self) -> Outcome:
        """The rows that represent the data, those that these miss, and how good they are. Takes the second look."""
        outcome = outcome_of(self.settled.stream)
        assert outcome is not None  # a settled stream has a plan, so it has rows
        return outcome

    @cached_property
    def effective_rows(self) -> float:
        """How many independent rows of equal weight tell as much about means as all rows do."""
        held = drained(self.settled)
        measures = measures_of(self.settled, held)
        return held.moments.effective_rows / (1.0 if measures is None else factors_of(measures).joint)

    @cached_property
    def bound_inputs(self) -> BoundInputs:
        """The weighted prototypes, and what bounds on their MMD are computed from."""
        held, found = drained(self.settled), self.outcome
        points = held_points(self.settled.stream, found.prototypes)
        sample, _, held_out = held.matched
        count = self.effective_rows if held.aim is None else held_out.effective_rows
        return BoundInputs(points, found.weights, self.plan.held_out, held_out, sample, count)

    def fixed(self) -> "Snapshot":
        """Return this moment with its settled state for its state, so that more rows change neither encoding nor maps."""
        return Snapshot(self.settled, self.settled, self.__dict__.get("outcome"))

    @property
    def plan(self) -> Plan:
        """Kernel and feature maps."""
        return self.settled.stream.fixed_plan

    @property
    def prototypes(self) -> pa.Table:
        """The rows that represent the data."""
        return self._rows(self.outcome.prototypes, _weight=self.outcome.weights, _share=self.outcome.shares)

    @property
    def criticisms(self) -> pa.Table:
        """The rows that the prototypes miss."""
        found = self.outcome
        kinds = np.array(KINDS)[found.kinds]
        return self._rows(
            found.criticisms, _kind=kinds, _share=found.criticism_shares, _witness=found.witness, _nearest=found.nearest
        )

    @property
    def background(self) -> pa.Table:
        """A uniform random sample of the rows."""
        return self._rows(self.outcome.background, _weight=self.outcome.background_shares)

    def weights(self, weighting: str) -> Floats:
        """Return the weights of the prototypes, by one of the schemes that `Summary.weights` explains."""
        if weighting == "uniform":
            return equal_weights(self.outcome.prototypes.size)
        return (self._profile_weights if weighting == "profile" else self.outcome.weights).copy()

    @cached_property
    def _profile_weights(self) -> Floats:
        positions = self.outcome.prototypes
        rows, points = self.settled.kept.at(positions), held_points(self.settled.stream, positions)
        return profile_weights(self.settled, rows, points, self.outcome.weights)

    def _rows(self, positions: Indices, **more: npt.NDArray[np.generic]) -> pa.Table:
        table = self.settled.kept.at(positions).append_column("_row", pa.array(positions))
        for name, values in more.items():
            table = table.append_column(name, pa.array(values))
        return table
