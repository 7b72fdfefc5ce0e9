"""Distributed herding: each of s machines chooses from its own random share, and a last run chooses from their choices.

Algorithm 2 of Khanna, Hodgkinson and Mahoney 2021. All machines have the same target, that of all rows: a first pass computes
its embedding.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supersample._random import Seed, as_seed
from supersample._typing import Floats, Indices
from supersample._validation import check_count
from supersample.embedding import moments
from supersample.engines.herding_tasks import METHODS, arrays_of, choose_from, deal_out, embed, matrix, moments_of
from supersample.engines.partition_tasks import spread_rows, tree
from supersample.engines.protocol import Cluster
from supersample.errors import InputError
from supersample.kernels import as_kernel
from supersample.measures.mean_only import MeanOnly
from supersample.selection import Selection
from supersample.selection.stream.plan import Plan, Settings, make_plan
from supersample.selection.stream.rows import Rows

__all__ = ["Distributed", "select"]


@dataclass(frozen=True)
class Distributed(Selection):
    """The best of s + 1 selections: one from each of the s parts, and one from their union.

    runs: MMD of each to the target, that of the union last, infinite if nothing was chosen; best: the index of the one
    returned, the nearest of those that had m rows to choose from. choices: the rows that each of the s + 1 chose, in its order.
    """

    runs: Floats = field(default_factory=lambda: np.empty(0))
    best: int = 0
    choices: tuple[Indices, ...] = ()


def select(cluster: Cluster, method: str, options: Mapping[str, Any]) -> Distributed:
    """Choose m rows of a cluster's frame by Algorithm 2, with as many random parts as the frame has partitions.

    Without a target, the rows themselves are the target: a first pass computes their mean features, and held-out features
    measure the s + 1 results. A "median" bandwidth is that of some rows. Each part costs 1 / s of a single run, and the
    parts run in parallel; the last run has s m candidates and runs on the caller. A worker holds its share of the rows.
    """
    given = {name: value for name, value in options.items() if name not in ("candidates", "m")}
    m, seed = check_count(options["m"], "m"), as_seed(given.pop("random_state"))
    if given["resume"] is not None:
        raise InputError("resume must be left out for candidates on a cluster; gather them, or choose again")
    names, points = _first_points(cluster)
    plan = _planned(given, points, m, seed)
    METHODS[method](points[:1], min(m, 1), **given)  # refuses wrong options before all rows are read
    passed = [moments_of(each) for each in cluster.each(lambda index, rows: embed(index, rows, names, plan))]
    counts = [rows for rows, _ in passed]
    if not given["replace"] and m > sum(counts):
        raise InputError(f"m must not be more than the {sum(counts)} candidates, got {m}; ask for fewer")
    if plan is not None:
        first, second = (tree([sums[place] for _, sums in passed], moments.merge).mean() for place in (0, 1))
        given["target"] = MeanOnly(plan.feature_map, first, plan.held_out, second, points.shape[1])
    given["random_state"] = seed.child("choice").sequence()
    found = cluster.grouped(
        lambda index, rows: deal_out(index, rows, names, counts, seed), lambda pieces: choose_from(pieces, m, method, given)
    )
    return _best(found, m, method, given, np.concatenate([[0], np.cumsum(counts)[:-1]]))


def _best(found: list[bytes], m: int, method: str, given: Mapping[str, Any], offsets: Any) -> Distributed:
    """Choose once more, from the choices of the parts, and return the best of all, except for parts that had too few rows."""
    parts = [arrays_of(each) if each else None for each in found]
    held = [each for each in parts if each is not None]
    none = np.empty(0, dtype=np.int64)
    choices = [none if each is None else offsets[each["parts"]] + each["places"] for each in parts]
    rows, first = np.unique(np.concatenate(choices), return_index=True)
    union = np.concatenate([each["points"] for each in held])[first]
    runs = np.array([each["mmd"][-1] if each is not None and each["mmd"].size else np.inf for each in (*parts, None)])
    if len(rows) == 0:
        nothing, note = np.empty(0), str(held[0]["note"])
        return Distributed(none, held[0]["points"], nothing, nothing, note, None, runs, 0, (*choices, none))
    last: Selection = METHODS[method](union, m if given["replace"] else min(m, len(union)), **given)
    runs[-1] = last.mmd[-1] if last.mmd.size else np.inf
    choices.append(rows[last.indices])
    whole = [each is not None and (given["replace"] or int(each["rows"]) >= m) for each in parts]
    best = int(np.argmin(np.where([*whole, True], runs, np.inf)))
    one = parts[best] if best < len(parts) else None
    points, weights, mmd, note = (
        (last.points, last.weights, last.mmd, last.note)
        if one is None
        else (one["points"], one["weights"], one["mmd"], str(one["note"]))
    )
    return Distributed(choices[best], points, weights, mmd, note, last.kernel, runs, best, tuple(choices))


def _first_points(cluster: Cluster) -> tuple[list[str], Floats]:
    """Return the column names, and as many rows as a warm-up needs, or all if there are fewer."""
    tables = spread_rows(cluster.count, cluster.heads)
    if not tables:
        raise InputError("candidates must have at least one row, got none")
    batches = [batch for table in tables.values() for batch in table.to_batches()]
    names = batches[0].schema.names
    return names, np.concatenate([matrix(batch, names) for batch in batches])


def _planned(given: dict[str, Any], points: Floats, m: int, seed: Seed) -> Plan | None:
    """Fix one kernel and features for all parts; return the maps of the first pass if the rows are the target."""
    features = given["features"]
    if features is None:
        kernel = as_kernel(given["kernel"], given["bandwidth"])
        given["kernel"] = kernel.resolve(points, random_state=seed.child("bandwidth").sequence())
        given["bandwidth"] = "median"  # the kernel already has its own
    if given["target"] is not None:
        return None
    if given["refine"]:
        raise InputError("refine=True needs a target of its own on a cluster, where rows are known by their mean features only")
    kernel = given["kernel"] if features is None else features.kernel
    half = np.full(len(points), 0.5)
    rows = Rows(points, np.arange(len(points)), half, np.ones(len(points), dtype=np.int64))
    plan = make_plan(Settings(n_prototypes=m, kernel=kernel, features=features or "auto", seed=seed), rows)
    given["features"], given["kernel"] = plan.feature_map, "gaussian"  # the default: features carry their kernel
    return plan
