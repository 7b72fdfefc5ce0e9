"""Alarms with a guarantee for any law: bets against a stored reference.

Players bet, row by row, that the mean features have left those of the reference. Under no change no bet is worth more than it
costs, so the mean wealth W of all players has W_t - t a supermartingale, and the mean time until it reaches a line gamma is at
least gamma: an e-detector (Shekhar and Ramdas 2021; Shin, Ramdas and Rinaldo 2022). Rows may depend on each other and have any
law, as long as the mean of each, given those before it, stays within the slack of the reference's mean.
"""

from dataclasses import dataclass, replace

import numpy as np

from supersample._compiled import betting
from supersample._typing import Features, Floats, Indices

__all__ = ["Bets", "init", "play", "slack_of"]

#: Rows that the recent means of the players remember, and their stakes. Fixed beforehand: short ones find large changes soon,
#: long ones with small stakes find small changes at all.
_MEMORIES, _STAKES = np.array([32.0, 128.0, 512.0]), np.array([0.25, 0.5, 1.0])


@dataclass(frozen=True)
class Bets:
    """The players of one reference, the line, and what each player has.

    means, slacks: the mean features of the reference, and what they may be off by, for each phase of the season.
    """

    means: Floats
    slacks: Floats
    line: float
    recent: Floats
    masses: Floats
    wealth: Floats


def slack_of(n_reference: float, delta: float) -> float:
    """Return how far the mean of n rows with |phi| <= 1 is from that of their law, at most, with probability 1 - delta.

    (1 + sqrt(2 log(1 / delta))) / sqrt n, by McDiarmid's inequality; 2 for certain.
    """
    return min(2.0, float((1.0 + np.sqrt(2.0 * np.log(1.0 / delta))) / np.sqrt(max(n_reference, 1.0))))


def init(means: Floats, slacks: Floats, run_length: float, groups: int) -> Bets:
    """Return the players before the first round. run_length: in rows. groups: of equal size, that features stand in.

    means, slacks: of each phase.
    """
    size = _MEMORIES.size
    return Bets(
        means, slacks, run_length, np.zeros((size, means.shape[1])), np.zeros(size), np.zeros((groups, size, _STAKES.size))
    )  # fmt: skip


def play(state: Bets, features: Features, phases: Indices) -> tuple[Bets, Floats]:
    """Return the players after some rows, and mean wealth over the line after each; they stop at the row where it reaches 1.

    A bet pays (<g, phi - mean> - slack) / (1 + |mean| + slack), at least -1 for |phi| <= 1, so that wealth is never negative.
    """
    after = replace(state, recent=state.recent.copy(), masses=state.masses.copy(), wealth=state.wealth.copy())
    lengths = np.linalg.norm(state.means.reshape(len(state.means), len(state.wealth), -1), axis=2)
    scales = 1.0 + lengths + state.slacks[:, None]
    evidence = np.zeros(len(features))
    played = betting.bet(
        features, phases, state.means, state.slacks, scales, 1.0 - 1.0 / _MEMORIES, _STAKES, after.recent, after.masses,
        after.wealth, state.line, evidence,
    )  # fmt: skip
    return after, evidence[:played]
