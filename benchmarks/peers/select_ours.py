"""Our ways to choose M rows, each with the given Gaussian kernel and otherwise as it comes; and rows at random."""

import numpy as np

from benchmarks.peers.choice import EQUAL, Chooser, Chosen, Floats

__all__ = ["critic", "herd", "random_rows", "sbq", "stream"]


def random_rows() -> Chooser:
    """Choose without looking."""

    def choose(rows: Floats, m: int, bandwidth: float, seed: int) -> Chosen:
        return Chosen(np.random.default_rng(seed).choice(len(rows), m, replace=False), {EQUAL: None})

    return choose


def stream() -> Chooser:
    """Read the rows once; reading the result, with its second look, is on the clock."""
    from supersample import SuperSampler

    def choose(rows: Floats, m: int, bandwidth: float, seed: int) -> Chosen:
        return Chosen(SuperSampler(m, bandwidth=bandwidth, random_state=seed).fit(rows).prototype_indices_, {EQUAL: None})

    return choose


def herd() -> Chooser:
    """Herd with all rows as candidates."""
    import supersample as ss

    def choose(rows: Floats, m: int, bandwidth: float, seed: int) -> Chosen:
        return Chosen(ss.herd(rows, m, kernel=ss.kernels.Gaussian(bandwidth), random_state=seed).indices, {EQUAL: None})

    return choose


def sbq() -> Chooser:
    """Choose by sequential Bayesian quadrature; the same points are judged with its weights and with equal ones."""
    import supersample as ss

    def choose(rows: Floats, m: int, bandwidth: float, seed: int) -> Chosen:
        found = ss.sbq(rows, m, kernel=ss.kernels.Gaussian(bandwidth), random_state=seed)
        return Chosen(found.indices, {"free": found.weights, EQUAL: None})

    return choose


def critic() -> Chooser:
    """Choose prototypes alone: criticisms are not meant to stand for the data."""
    import supersample as ss

    def choose(rows: Floats, m: int, bandwidth: float, seed: int) -> Chosen:
        found = ss.critic(rows, m, 0, kernel=ss.kernels.Gaussian(bandwidth), random_state=seed)
        return Chosen(found.prototypes.indices, {EQUAL: None})

    return choose
