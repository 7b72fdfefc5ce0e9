"""Rare groups that no prototype can be spent on: how many of ten hold a criticism, wherever they come in the stream."""

from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import supersample as ss
from benchmarks.papers.criticisms_choice import batch, drafted, streamed
from benchmarks.papers.criticisms_data import GROUPS, ORDERS, Order, with_rare_groups
from benchmarks.papers.figures import write_numbers

__all__ = ["rare_groups"]

Indices = npt.NDArray[np.int64]

_PROTOTYPES = _CRITICISMS = 20
#: In medians of the distances; the first is what the package takes by default.
_BANDWIDTHS = (1.0, 0.5, 0.25)


class _Trial(NamedTuple):
    """Groups with a criticism, by method; the stream's prototypes in groups; the least distance of a group to all else."""

    found: dict[str, int]
    prototypes: int
    apart: float


def rare_groups(out: Path, quick: bool, pool: Executor) -> None:
    """Count the groups found by the stream, by the draft's stream, by batch, and by 20 random rows."""
    n, seeds = (5_000, 2) if quick else (20_000, 10)
    numbers: dict[str, object] = {"N": n, "seeds": seeds, "prototypes": _PROTOTYPES, "criticisms": _CRITICISMS}
    for bandwidth in _BANDWIDTHS:
        for order in ORDERS:
            trials = list(pool.map(partial(_trial, n=n, order=order, bandwidth=bandwidth), range(seeds)))
            found = {name: [trial.found[name] for trial in trials] for name in trials[0].found}
            spent = [trial.prototypes for trial in trials]
            apart = min(trial.apart for trial in trials)
            numbers[f"bandwidth {bandwidth:g}, {order}"] = {
                "groups_with_a_criticism": found,
                "prototypes_in_groups": spent,
                "nearest_other_point_in_bandwidths": apart,
            }
            listed = ", ".join(f"{name} {np.mean(counts):.1f} (least {min(counts)})" for name, counts in found.items())
            print(
                f"rare groups  bandwidth {bandwidth:<4g} {order:6} of {GROUPS}: {listed}; prototypes there: at most "
                f"{max(spent)}; "
                f"nearest other point: {apart:.1f} bandwidths; at least 9 in every stream: "
                f"{'met' if min(found['stream']) >= GROUPS - 1 else 'MISSED'}"
            )
    write_numbers(out / "rare-groups", numbers)


def _trial(seed: int, n: int, order: Order, bandwidth: float) -> _Trial:
    points, groups = with_rare_groups(n, order, seed)
    kernel = ss.kernels.Gaussian(bandwidth)
    shown = streamed(points, kernel, _PROTOTYPES, _CRITICISMS, seed)
    held = drafted(points, kernel, _PROTOTYPES, _CRITICISMS, 512, seed)
    chosen = {"stream": shown.criticisms, "draft's stream": held.criticisms}
    if order == "spread":  # the others do not depend on the order
        chosen["batch"] = batch(points, kernel, _PROTOTYPES, _CRITICISMS).criticisms
        chosen["random rows"] = np.random.default_rng([16, seed]).choice(n, _CRITICISMS, replace=False)
    apart = min(
        float(np.hypot(*(points[groups != group][:, None] - points[groups == group]).transpose(2, 0, 1)).min())
        for group in range(GROUPS)
    )
    found = {name: int(np.unique(groups[rows][groups[rows] >= 0]).size) for name, rows in chosen.items()}
    return _Trial(found, int(np.sum(groups[shown.prototypes] >= 0)), apart / bandwidth)
