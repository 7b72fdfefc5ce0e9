"""goodpoints: kernel thinning on the stored kernel matrix, its fastest form, and Compress++ at two oversamplings."""

import numpy as np

from benchmarks.peers.selection_protocol import EQUAL, Chooser, Chosen, Floats, Task

__all__ = ["compress_0", "compress_4", "kernel_thinning"]


def kernel_thinning() -> Chooser:
    """Halve log2(N / M) times with the target kernel itself, as generalised kernel thinning proposes, then swap."""
    from goodpoints import compressc, kt

    def choose(rows: Floats, task: Task) -> Chosen:
        n = len(rows)
        matrix = np.empty((n, n))
        compressc.compute_K(rows, np.arange(n), b"gaussian", np.array([2.0 * task.bandwidth**2]), matrix)
        halvings = (n // task.m).bit_length() - 1
        return Chosen(kt.thin_K(matrix, matrix, halvings, seed=task.seed, unique=True), {EQUAL: None})

    return choose


def compress_0() -> Chooser:
    """Compress++ as it comes."""
    return _compress(0)


def compress_4() -> Chooser:
    """Compress++ with the oversampling that its paper uses."""
    return _compress(4)


def _compress(oversampling: int) -> Chooser:
    from goodpoints.compress import compresspp_kt

    def choose(rows: Floats, task: Task) -> Chosen:
        assert task.m * task.m == len(rows), "Compress++ gives the root of N"
        found = compresspp_kt(rows, b"gaussian", k_params=np.array([2.0 * task.bandwidth**2]), g=oversampling, seed=task.seed)
        return Chosen(found, {EQUAL: None})

    return choose
