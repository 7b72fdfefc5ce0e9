"""The stream of the live demo: requests of a web shop, with a cycle of a day, a sudden change and a slow drift."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["BREAK", "DAYS", "DRIFT", "SETTLED", "START", "Hour", "hours"]

#: The first hour, in seconds since 1970 (1 May 2024), and days in all.
START, DAYS = 1_714_521_600, 9
#: Hours from the start: the checkout breaks; answers get slower, by so much a day, until they do not any more.
BREAK, DRIFT, SETTLED, SLOWER = 84, 132, 180, 0.15
_ROWS = 260
_PATHS = ("/", "/search", "/item", "/cart", "/checkout")


class Hour(NamedTuple):
    """The requests of an hour."""

    number: int
    rows: "pa.Table"


def hours(seed: int = 0) -> Iterator[Hour]:
    """Yield the requests, hour by hour."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    for number in range(24 * DAYS):
        day = np.sin(2.0 * np.pi * (number % 24 - 9.0) / 24.0)  # most at three in the afternoon
        n = int(rng.poisson(_ROWS * (1.0 + 0.6 * day)))
        seconds = np.sort(rng.uniform(START + 3_600 * number, START + 3_600 * (number + 1), n))
        path = rng.choice(len(_PATHS), n, p=[0.2, 0.2, 0.25, 0.15, 0.2])
        fails = rng.random(n) < np.where((path == 4) & (number >= BREAK), 0.7, 0.01)
        drift = 1.0 + SLOWER * min(max(number - DRIFT, 0), SETTLED - DRIFT) / 24.0
        milliseconds = drift * (1.0 + 0.3 * day) * rng.gamma(4.0, 20.0, n) * np.array([0.6, 1.4, 1.0, 0.8, 1.6])[path]
        yield Hour(
            number,
            pa.table(
                {
                    "when": (seconds * 1e6).astype("datetime64[us]"),
                    "path": np.array(_PATHS)[path],
                    "status": np.where(fails, 500, 200),
                    "milliseconds": milliseconds.round(1),
                    "country": rng.choice(["DE", "FR", "IT", "ES", "PL"], n, p=[0.4, 0.25, 0.15, 0.12, 0.08]),
                }
            ),
        )
