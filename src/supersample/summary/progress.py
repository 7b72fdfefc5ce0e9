"""The progress of a run, and a bar that shows it."""

import sys
from dataclasses import dataclass
from typing import Any

__all__ = ["Bar", "Progress"]


@dataclass(frozen=True)
class Progress:
    """The progress of a run: rows read, their total if known, MMD of the points held now, and seconds so far.

    start: rows that were read before, as the checkpoint says.

    >>> import numpy as np
    >>> import supersample as ss
    >>> told = []
    >>> _ = ss.summarize(np.arange(300.0)[:, None], prototypes=5, random_state=0, progress=told.append)
    >>> told[-1].rows, told[-1].total, told[-1].done
    (300, 300, True)
    """

    rows: int
    total: int | None
    mmd: float | None
    seconds: float
    done: bool
    start: int = 0


class Bar:
    """A progress bar on standard error: rows, rows a second, time left if the size is known, and the MMD so far."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._bar: Any = None

    def __call__(self, progress: Progress) -> None:
        """Update the bar."""
        from tqdm import tqdm

        if self._bar is None:
            self._bar = tqdm(
                desc=self._label,
                total=progress.total,
                initial=progress.start,
                unit=" rows",
                unit_scale=True,
                file=sys.stderr,
                dynamic_ncols=True,
                smoothing=0,
            )
            self._bar.start_t -= progress.seconds  # the first batch is read before there is anything to show
        if progress.mmd is not None:
            self._bar.set_postfix_str(f"MMD {progress.mmd:.2g}", refresh=False)
        self._bar.update(progress.rows - self._bar.n)
        if progress.done:
            self.close()

    def close(self) -> None:
        """End the bar as it is; later messages start on a new line."""
        if self._bar is not None:
            self._bar.close()
