"""The background sample of a stream on a device: its times are drawn on the host, and only the rows that enter come there.

Neither must wait for the device: times are drawn on other cores before they are needed, and rows start on their way before
the work that follows them.
"""

from collections.abc import Callable, Iterator

import numpy as np

from supersample._random import Seed
from supersample._threads import ahead, cut
from supersample._typing import Floats, Indices
from supersample.device.arrays import Home
from supersample.selection.stream import background
from supersample.selection.stream.background import Background
from supersample.selection.stream.plan import CHUNK
from supersample.selection.stream.rows import Rows
from supersample.selection.stream.rows_on_device import RowsOnDevice

__all__ = ["Times", "start_background"]

#: Chunks that one core draws at a time: a task of a millisecond. Each core is one task ahead.
_TASK = 8


class Times:
    """The exponential draws by which the background sample is taken: those of the host's stream, chunk by chunk.

    seed: that of all draws of this sample. chunk, used: the place of the first row: the number of its chunk, and the rows of
    that chunk before it. n_rows: rows whose draws may be asked for. Nothing is drawn before the first are asked for.
    """

    def __init__(self, seed: Seed, chunk: int, used: int, n_rows: int) -> None:
        self._seed, self._chunk, self._skipped = seed, chunk, used
        self._n_chunks = -(-(used + n_rows) // CHUNK)
        self._coming: Iterator[Floats] | None = None
        self._drawn = np.empty(0)

    def following(self, count: int) -> Floats:
        """Return the draws of the next rows."""
        if self._coming is None:
            self._coming = ahead(self._draw, cut(self._n_chunks, _TASK))
            self._drawn = next(self._coming)[self._skipped :]
        parts = [self._drawn]
        while (missing := count - sum(part.size for part in parts)) > 0:
            parts.append(next(self._coming))
        if missing < 0:
            parts[-1], self._drawn = np.split(parts[-1], [missing])
        else:
            self._drawn = np.empty(0)
        return np.concatenate(parts)

    def _draw(self, task: slice) -> Floats:
        """Draw some chunks, each from a seed of its own."""
        numbers = range(self._chunk + task.start, self._chunk + task.stop)
        return np.concatenate([self._seed.child(each).generator().standard_exponential(CHUNK) for each in numbers])


def start_background(sample: Background, block: RowsOnDevice, times: Floats, size: int, home: Home) -> Callable[[], Background]:
    """Start to copy the rows of a block that enter the sample to the host; the function that is returned adds them."""
    places = _entering(sample, block, times)
    if places.size == 0:
        return lambda: sample
    coming = block.start_to_host(places, home)
    return lambda: background.update(sample, coming(), size, times[places])


def _entering(sample: Background, block: RowsOnDevice, times: Floats) -> Indices:
    """Return the rows that may enter; `background.update` looks at these exactly."""
    if not np.isfinite(sample.next_mantissa):
        return np.arange(times.size)
    if block.weights is None:
        limit = np.ldexp(sample.next_mantissa, sample.next_exponent)
        return np.flatnonzero(times <= limit * (1.0 + 1e-12))
    mantissas, exponents = np.frexp(times / block.weights.mantissas)
    drawn = background.Timed(Rows.none(0), mantissas, exponents - block.weights.exponents)
    return np.flatnonzero(drawn.before(sample.next_mantissa, sample.next_exponent))
