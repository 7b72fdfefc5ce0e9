"""Detectors of river, one for each column: an alarm of any column is one, and then all columns begin again."""

from collections.abc import Callable
from typing import Any

from benchmarks.changes.calibration import page_threshold
from benchmarks.changes.protocol import RUN_LENGTH, Detector, Look, OneByOne, Session, Task
from benchmarks.peers.judge import Floats

__all__ = ["RIVER"]

#: What Page-Hinkley subtracts from each value: half of the shift that it is to see soonest, in standard deviations.
_SLACK = 0.25
_WINDOW, _LATEST = 1_000, 100


def _columns(detector: Callable[[Any, int], Callable[[], Any]]) -> Callable[[], Callable[[Floats, Task], Session]]:
    """Return how to start: one detector a column, as `detector` makes them of river's module and the number of columns."""

    def start() -> Callable[[Floats, Task], Session]:
        from river import drift

        def begin(first: Floats, _: Task) -> Session:
            width = first.shape[1]
            one = detector(drift, width)

            def make() -> Look:
                columns = [one() for _ in range(width)]

                def look(row: Floats) -> bool:
                    found = False
                    for column, value in zip(columns, row.tolist(), strict=True):
                        column.update(value)
                        found |= column.drift_detected
                    return found

                return look

            return OneByOne(first, make)

        return begin

    return start


def _adwin(clock: int) -> Callable[[Any, int], Callable[[], Any]]:
    return lambda drift, width: lambda: drift.ADWIN(delta=clock / (RUN_LENGTH * width), clock=clock)


RIVER = (
    Detector(
        "ADWIN", "river", _columns(_adwin(32)),
        "`delta` bounds the probability of a false alarm at one look. It looks after every `clock` rows, 32 by default: "
        "`delta` = 32 / (10,000 d) for d columns.",
    ),
    Detector(
        "ADWIN, clock 1", "river", _columns(_adwin(1)),
        "The same with a look after every row: `clock` = 1, `delta` = 1 / (10,000 d).",
    ),
    Detector(
        "KSWIN", "river",
        _columns(
            lambda drift, width: lambda: drift.KSWIN(
                alpha=1.0 / (RUN_LENGTH * width), window_size=_WINDOW, stat_size=_LATEST, seed=0
            )
        ),
        "`alpha` is the p-value of a Kolmogorov-Smirnov test after every row: 1 / (10,000 d). The latest `stat_size` = 100 "
        "rows are compared with as many drawn from the rest of a window of `window_size` = 1,000; with the 30 of 100 that are "
        "its defaults, the test hardly ever reaches such a p-value.",
        slow=True, needs=_WINDOW,
    ),
    Detector(
        "PageHinkley", "river",
        _columns(
            lambda drift, width: lambda: drift.PageHinkley(
                delta=_SLACK, threshold=page_threshold(RUN_LENGTH * width, _SLACK), alpha=1.0
            )
        ),
        "`delta` is subtracted from each difference to the mean: 0.25 standard deviations, half of the shift that it is to see "
        "soonest. `threshold` is for a run length of 10,000 d rows of one column, both directions, by Siegmund's formula, "
        "which knows no forgetting: `alpha` = 1.",
    ),
)  # fmt: skip
