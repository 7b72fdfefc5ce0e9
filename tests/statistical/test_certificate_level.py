"""Two standard errors of a certificate cover the exact MMD about 95 times in 100, over the kernels with a spectrum.

Of all kernels together at least 94% of the whole study's runs are covered, of one kernel at least 85% of its 60 runs. The
sum of two kernels is covered least: 90% of them (`docs/decisions/025-errors-that-cover.md`).
Streams here are longer than their background sample, which is made small for it: an MMD of rows that are all in the background
is exact. The default run has a fixed seed for each case; the whole study (`make level`) has 420 runs and prints a table.
"""

import numpy as np
import pyarrow as pa
import pytest

import stream_oracles
import supersample as ss
from supersample.discrepancy.certificate import certify
from supersample.kernels import Gaussian, Laplacian
from supersample.selection.stream import polish
from supersample.selection.stream.plan import Settings

BACKGROUND = 1000
KERNELS = ("gaussian", "laplacian", "cauchy", "matern12", "matern32", "matern52", "sum")
SHAPES = ("normal", "mixture", "heavy tails", "one column", "mixed table", "a number and a state")
SIZES = (20, 100)


@pytest.fixture(autouse=True)
def short_backgrounds(monkeypatch):
    """Keep few background rows, as beside a long stream, and polish less, which changes what is measured and not how."""
    monkeypatch.setattr(Settings, "n_background", property(lambda self: max(BACKGROUND, self.n_prototypes)))
    monkeypatch.setattr(polish, "_KICKS", 3)


def points_of(shape, n_rows, rng):
    if shape == "mixture":
        return stream_oracles.mixture(n_rows, rng, width=3)[0]
    if shape == "heavy tails":
        return rng.standard_t(2.5, size=(n_rows, 5))
    return rng.exponential(size=(n_rows, 1)) if shape == "one column" else rng.normal(size=(n_rows, 2))


def table_of(n_rows, rng):
    kind = rng.choice(3, n_rows, p=[0.6, 0.3, 0.1])
    kinds = np.array(["a", "b", "c"])[kind]
    return pa.table(
        {"x": rng.normal(kind * 2.0, 1.0), "tail": rng.standard_t(3, n_rows), "kind": kinds, "yes": rng.random(n_rows) < 0.2}
    )


def kernel_of(name, points):
    """A kernel by name, or the sum of a rough and a smooth one with bandwidths near the median distances."""
    if name != "sum":
        return name
    apart = points[:500] - points[500:1000]
    return Laplacian(float(np.median(np.abs(apart).sum(axis=1)))) + Gaussian(
        float(np.median(np.linalg.norm(apart, axis=1))) / 2
    )


def measured(name, shape, size, n_rows, seed):
    """Return the certificate, that of the held-out terms alone, and the exact MMD of the same prototypes to all rows."""
    rng = np.random.default_rng([KERNELS.index(name), SHAPES.index(shape), size, seed])
    if shape in ("mixed table", "a number and a state"):
        table = table_of(n_rows, rng)
        table = table.select(["x", "kind"]) if shape == "a number and a state" else table
        kernel = kernel_of(name, rng.normal(size=(1000, 40)) / np.sqrt(10))
        summary = ss.summarize(table, size, 0, kernel=kernel, random_state=seed)
        settled = summary._snapshot.settled
        data = settled.encoding.points(table.combine_chunks().to_batches()[0])
        chosen, weights = data[summary.prototypes["_row"].to_numpy()], summary.weights()
        found = summary.mmd, summary.mmd_error
        plan, moments = settled.stream.plan, ss.selection.stream.drain(settled.stream).held_out
    else:
        data = points_of(shape, n_rows, rng)
        sampler = ss.SuperSampler(size, kernel=kernel_of(name, data), random_state=seed).fit(data)
        chosen, weights, found = sampler.prototypes_, sampler.weights_, (sampler.mmd_, sampler.mmd_error_)
        selected = sampler._now.selected
        plan, moments = selected.plan, selected.held_out
    truth = np.sqrt(ss.mmd2(chosen, data, kernel=plan.kernel, weight_x=weights))
    return np.array([*found, *certify(plan.held_out, moments, chosen, weights), truth])


def scores(runs, first):
    """How many errors each estimate lies above the truth."""
    return (runs[:, first] - runs[:, -1]) / runs[:, first + 1]


def test_two_errors_cover_the_exact_mmd():
    """One seed a case: 35 runs. A coverage of 95% has more than 6 misses in 35 with a chance of 0.3%, for other seeds."""
    runs = np.array([measured(name, shape, 20, 2000, 0) for name in KERNELS for shape in SHAPES[1:]])
    assert (np.abs(scores(runs, 0)) > 2).sum() <= 6
    assert (np.abs(scores(runs, 2)) > 2).sum() <= 6
    # The control takes most of the error away, and the errors say so; nor are they far too large.
    assert np.median(runs[:, 1] / runs[:, 3]) < 0.3
    assert np.sqrt(np.mean(scores(runs, 0) ** 2)) > 0.5
    apart = np.abs(np.log(runs[:, [0, 2]] / runs[:, -1:]))
    assert np.median(apart[:, 0]) < 0.5 * np.median(apart[:, 1])


@pytest.mark.level
def test_coverage_of_two_errors():
    """420 runs; 94% of them and more are covered, without a control 90%. The seeds took no part in any choice."""
    runs = {
        name: np.array([
            measured(name, shape, size, 3000, 3000 + seed) for shape in SHAPES for size in SIZES for seed in range(5)
        ])
        for name in KERNELS
    }  # fmt: skip
    runs["all"] = np.concatenate(list(runs.values()))
    line = ["kernel", "runs", *(f"{by}: covered | too low, too high | error" for by in ("certificate", "terms alone"))]
    print("\n| " + " | ".join(line) + " |")  # noqa: T201
    for name, found in runs.items():
        line = [name, str(len(found))]
        for first in (0, 2):
            z = scores(found, first)
            line += [f"{np.mean(np.abs(z) <= 2):.1%}", f"{(z < -2).sum()}, {(z > 2).sum()}"]
            line += [f"{np.median(found[:, first + 1] / found[:, -1]):.1%}"]
        print("| " + " | ".join(line) + " |")  # noqa: T201
    for first, least in ((0, 0.94), (2, 0.9)):
        z = scores(runs["all"], first)
        assert np.mean(np.abs(z) <= 2) >= least
        # 94% of 60 runs, less three binomial standard deviations.
        assert min(np.mean(np.abs(scores(found, first)) <= 2) for found in runs.values()) >= 0.85
