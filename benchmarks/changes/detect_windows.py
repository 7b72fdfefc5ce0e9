"""Detectors that compare a sliding window with a reference: frouros, alibi-detect."""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.changes.calibration import window_places, window_thresholds
from benchmarks.changes.protocol import RUN_LENGTH, Detector, Look, Session, Task, WithReference
from benchmarks.peers.judge import Floats, median_distance

__all__ = ["BOOTSTRAPS", "WINDOWED", "own_thresholds"]

#: Ten times the run length, as the documentation of alibi-detect asks for.
BOOTSTRAPS = 10 * RUN_LENGTH
#: For large changes, and for small ones.
_WINDOWS = 25, 100
#: Rows of a reference that the larger window and its bootstrap are of use with.
_REFERENCE = 1_000


def _thresholds(kernel: Floats, window: int, task: Task) -> list[float]:
    """Return the thresholds for a reference with these kernel values, from the cache if they are there."""
    key = hashlib.sha256(np.ascontiguousarray(kernel).tobytes()).hexdigest()[:32]
    path = task.cache / f"{key}-{window}-{BOOTSTRAPS}.npy"
    if not path.exists():
        places = window_places(len(kernel), window, BOOTSTRAPS, np.random.default_rng(0))
        found = window_thresholds(kernel, window, RUN_LENGTH, places)
        np.save(path.with_suffix(f".{task.seed}.tmp.npy"), found)
        path.with_suffix(f".{task.seed}.tmp.npy").replace(path)
    return [float(each) for each in np.load(path)]


def own_thresholds(window: int, run_length: int, bootstraps: int) -> tuple[list[float], list[float], float]:
    """Return thresholds by alibi-detect's own bootstrap and by ours, of the same permutations, and the seconds of its own."""
    import time

    import torch
    from alibi_detect.cd.pytorch.mmd_online import MMDDriftOnlineTorch

    rows = np.random.default_rng(0).normal(size=(1_000, 10)).astype(np.float32)
    torch.manual_seed(0)
    start = time.perf_counter()
    theirs = MMDDriftOnlineTorch(rows, run_length, window, n_bootstraps=bootstraps, verbose=False, device="cpu")
    seconds = time.perf_counter() - start
    torch.manual_seed(0)
    places = np.array([torch.randperm(len(rows)).numpy()[-(2 * window - 1) :] for _ in range(bootstraps)])
    ours = window_thresholds(theirs.k_xx.numpy(), window, run_length, places)
    return list(theirs.thresholds), [float(each) for each in ours], seconds


def _alibi(window: int) -> Callable[[], Callable[[Floats, Task], Session]]:
    """MMDDriftOnline; its thresholds are those of its own bootstrap, computed faster."""

    def start() -> Callable[[Floats, Task], Session]:
        import torch
        from alibi_detect.cd.pytorch.mmd_online import MMDDriftOnlineTorch

        def begin(first: Floats, task: Task) -> Session:
            class Quick(MMDDriftOnlineTorch):  # type: ignore[misc]
                def _configure_thresholds(self) -> None:
                    self.thresholds = _thresholds(self.k_xx.numpy(), window, task)

            def make(reference: Floats) -> Look:
                torch.manual_seed(task.seed)
                rows = reference.astype(np.float32)
                detector = Quick(rows, RUN_LENGTH, window, n_bootstraps=BOOTSTRAPS, verbose=False, device="cpu")
                return lambda row: bool(detector.predict(row.astype(np.float32))["data"]["is_drift"])

            return WithReference(first, make)

        return begin

    return start


def _frouros_mmd(window: int) -> Callable[[], Callable[[Floats, Task], Session]]:
    """MMDStreaming of frouros, which returns a distance, with the threshold of alibi-detect's bootstrap."""

    def start() -> Callable[[Floats, Task], Session]:
        from functools import partial

        from frouros.detectors.data_drift import MMDStreaming
        from frouros.utils.kernels import rbf_kernel

        def begin(first: Floats, task: Task) -> Session:
            def make(reference: Floats) -> Look:
                kernel = partial(rbf_kernel, sigma=median_distance(np.asarray(reference, dtype=np.float64)))
                threshold = _thresholds(kernel(reference, reference), window, task)[-1]
                detector = MMDStreaming(window_size=window, kernel=kernel)
                detector.fit(X=reference)

                def look(row: Floats) -> bool:
                    found: Any = detector.update(value=row)[0]
                    return found is not None and bool(found.distance > threshold)

                return look

            return WithReference(first, make)

        return begin

    return start


WINDOWED = (
    *(
        Detector(
            f"MMDDriftOnline, window {window}", "alibi-detect", _alibi(window),
            "`ert` is the expected run time: 10,000. `window_size`: small for large changes, large for small ones, so both are "
            "here. `n_bootstraps` = 100,000, ten times the run time, as its documentation asks for. Kernel: Gaussian, with the "
            "median distance, as it comes.",
            "older", reference=True, slow=True, needs=_REFERENCE,
        )
        for window in _WINDOWS
    ),
    *(
        Detector(
            f"MMDStreaming, window {window}", "frouros", _frouros_mmd(window),
            "It returns a distance and has no threshold. It gets the last one of alibi-detect's bootstrap on its own reference "
            "and kernel (Gaussian, median distance): after so many rows, that is the threshold which keeps the run length.",
            "older", reference=True, slow=True, needs=_REFERENCE,
        )
        for window in _WINDOWS
    ),
)  # fmt: skip
