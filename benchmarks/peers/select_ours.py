"""Our ways to choose M rows, each with the given Gaussian kernel and otherwise as it comes; and rows at random."""

import numpy as np

from benchmarks.peers.selection_protocol import EQUAL, Chooser, Chosen, Floats, Task

__all__ = ["critic", "herd", "random_rows", "sbq", "stream"]


def random_rows() -> Chooser:
    """Choose without looking."""

    def choose(rows: Floats, task: Task) -> Chosen:
        return Chosen(np.random.default_rng(task.seed).choice(len(rows), task.m, replace=False), {EQUAL: None})

    return choose


def stream() -> Chooser:
    """Read the rows once; reading the result, with its second look, is on the clock."""
    from supersample import SuperSampler

    def choose(rows: Floats, task: Task) -> Chosen:
        sampler = SuperSampler(task.m, bandwidth=task.bandwidth, random_state=task.seed)
        return Chosen(sampler.fit(rows).prototype_indices_, {EQUAL: None})

    return choose


def herd() -> Chooser:
    """Herd with all rows as candidates."""
    import supersample as ss

    def choose(rows: Floats, task: Task) -> Chosen:
        found = ss.herd(rows, task.m, kernel=ss.kernels.Gaussian(task.bandwidth), random_state=task.seed)
        return Chosen(found.indices, {EQUAL: None})

    return choose


def sbq() -> Chooser:
    """Choose by sequential Bayesian quadrature; the same points are judged with its weights and with equal ones."""
    import supersample as ss

    def choose(rows: Floats, task: Task) -> Chosen:
        found = ss.sbq(rows, task.m, kernel=ss.kernels.Gaussian(task.bandwidth), random_state=task.seed)
        return Chosen(found.indices, {"free": found.weights, EQUAL: None})

    return choose


def critic() -> Chooser:
    """Choose prototypes alone: criticisms are not meant to stand for the data."""
    import supersample as ss

    def choose(rows: Floats, task: Task) -> Chosen:
        found = ss.critic(rows, task.m, 0, kernel=ss.kernels.Gaussian(task.bandwidth), random_state=task.seed)
        return Chosen(found.prototypes.indices, {EQUAL: None})

    return choose
