"""Every two-sample test: imports first, then a function of two samples and a task."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers.children import Environment
from benchmarks.peers.selection_protocol import Floats

__all__ = ["LEVEL", "TESTS", "Outcome", "Task", "Test", "Tester"]

LEVEL = 0.05


class Outcome(NamedTuple):
    """A p-value, or None where a test gives none; and the probability with which it rejects at 5%."""

    pvalue: float | None
    rejects: float


class Task(NamedTuple):
    """The bandwidth of the Gaussian kernel, how many permutations where there are any, and the seed."""

    bandwidth: float
    permutations: int
    seed: int


#: A test's function imports what it needs and returns one of these; the clock starts after that.
Tester = Callable[[Floats, Floats, Task], Outcome]


class Test(NamedTuple):
    """A two-sample test; `limit` says why it is left out with many rows, and is empty where it is not."""

    name: str
    package: str
    make: Callable[[], Tester]
    limit: str = ""
    environment: Environment = "peers"


def ours(**options: Any) -> Callable[[], Tester]:
    """Return how to make a test of ours with these options."""

    def make() -> Tester:
        import supersample as ss

        def test(x: Floats, y: Floats, task: Task) -> Outcome:
            kernel = ss.kernels.Gaussian(task.bandwidth)
            return _outcome(
                ss.two_sample_test(x, y, kernel=kernel, n_resamples=task.permutations, random_state=task.seed, **options).pvalue
            )

        return test

    return make


def hyppo_permutation() -> Tester:
    """hyppo's MMD with permutations on all cores."""
    from hyppo.ksample import MMD

    def test(x: Floats, y: Floats, task: Task) -> Outcome:
        found = MMD(compute_kernel="gaussian", gamma=0.5 / task.bandwidth**2)
        return _outcome(found.test(x, y, reps=task.permutations, workers=-1, auto=False, random_state=task.seed).pvalue)

    return test


def hyppo_fast() -> Tester:
    """hyppo's MMD as it comes: a chi-squared approximation in place of permutations."""
    from hyppo.ksample import MMD

    def test(x: Floats, y: Floats, task: Task) -> Outcome:
        return _outcome(MMD(compute_kernel="gaussian", gamma=0.5 / task.bandwidth**2).test(x, y, auto=True).pvalue)

    return test


def goodpoints_ctt() -> Tester:
    """Compress Then Test with its 32 bins and oversampling 4; it gives no p-value but a probability of rejecting."""
    from goodpoints.ctt import ctt

    def test(x: Floats, y: Floats, task: Task) -> Outcome:
        seeds = {"null_seed": task.seed, "statistic_seed": task.seed + 1}
        found = ctt(x, y, 4, B=task.permutations, s=16, lam=math.sqrt(2.0) * task.bandwidth, alpha=LEVEL, **seeds)
        return Outcome(None, float(found.rejects))

    return test


def frouros_mmd() -> Tester:
    """frouros' MMD with its permutation callback on all cores, whose p-value is by its method "auto"."""
    from functools import partial

    from frouros.callbacks import PermutationTestDistanceBased
    from frouros.detectors.data_drift import MMD
    from frouros.utils.kernels import rbf_kernel

    def test(x: Floats, y: Floats, task: Task) -> Outcome:
        callback = PermutationTestDistanceBased(num_permutations=task.permutations, num_jobs=-1, random_state=task.seed)
        detector = MMD(kernel=partial(rbf_kernel, sigma=task.bandwidth), callbacks=callback)
        detector.fit(X=x)
        return _outcome(detector.compare(X=y)[1]["PermutationTestDistanceBased"]["p_value"])

    return test


def alibi_mmd() -> Tester:
    """alibi-detect's MMD on PyTorch."""
    import torch
    from alibi_detect.cd import MMDDrift

    def test(x: Floats, y: Floats, task: Task) -> Outcome:
        torch.manual_seed(task.seed)
        options = {"sigma": np.array([task.bandwidth]), "configure_kernel_from_x_ref": False, "device": "cpu"}
        detector = MMDDrift(x, backend="pytorch", n_permutations=task.permutations, **options)
        return _outcome(detector.predict(y)["data"]["p_val"])

    return test


def _outcome(pvalue: float) -> Outcome:
    return Outcome(float(pvalue), float(pvalue <= LEVEL))


_QUADRATIC = "takes or holds (n + m)^2 kernel values for each permutation"

TESTS = (
    Test("permutation (1,024 Fourier features)", "supersample", ours(method="fourier", null="permutation")),
    Test("permutation (exact kernel)", "supersample", ours(method="exact", null="permutation"), _QUADRATIC),
    Test("spectral", "supersample", ours(method="fourier", null="spectral")),
    Test("block", "supersample", ours(method="block")),
    Test("MMD (permutation)", "hyppo", hyppo_permutation, _QUADRATIC),
    Test("MMD (chi-squared)", "hyppo", hyppo_fast, "holds (n + m)^2 kernel values"),
    Test("CTT (g = 4)", "goodpoints", goodpoints_ctt),
    Test("MMD (permutation)", "frouros", frouros_mmd, _QUADRATIC, "older"),
    Test("MMD (permutation)", "alibi-detect", alibi_mmd, "holds (n + m)^2 kernel values", "older"),
)
