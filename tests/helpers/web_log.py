"""A day of a web server's log, healthy or with a checkout that breaks after noon."""

import numpy as np
import pyarrow as pa

#: Endpoints with their shares of requests, the share of POST among these, and the median of their latency in milliseconds.
PATHS = {
    "/": (0.22, 0.0, 18.0),
    "/search": (0.20, 0.0, 95.0),
    "/product": (0.19, 0.0, 42.0),
    "/cart": (0.12, 0.4, 35.0),
    "/checkout": (0.12, 0.8, 120.0),
    "/login": (0.07, 0.7, 55.0),
    "/static": (0.06, 0.0, 4.0),
    "/api/stock": (0.02, 0.0, 25.0),
}
COUNTRIES = {"US": 0.35, "DE": 0.2, "FR": 0.13, "GB": 0.12, "JP": 0.1, "BR": 0.06, "IN": 0.04}
AGENTS = {"Chrome": 0.5, "Safari": 0.24, "Firefox": 0.12, "Edge": 0.09, "curl": 0.03, "bot": 0.02}
#: How healthy requests are answered; of requests of /checkout after noon of a bad day, this share is answered 500 besides.
STATUSES = {200: 0.93, 301: 0.04, 404: 0.028, 500: 0.002}
BROKEN = 2 / 3
_DAY, _NOON = 86_400_000, 43_200_000


def day(seed, rows=5_000, *, bad=False, date="2024-05-01"):
    """Return the requests of one day in the order of their times; 500 is about 21 times as common on a bad one."""
    rng = np.random.default_rng([seed, 71, bad])
    clock = np.sort(rng.integers(0, _DAY, rows))
    path = _drawn(rng, {name: each[0] for name, each in PATHS.items()}, rows)
    posts = np.array([PATHS[each][1] for each in path])
    status = _drawn(rng, STATUSES, rows).astype(np.int64)
    latency = np.array([PATHS[each][2] for each in path]) * rng.lognormal(0.0, 0.5, rows)
    size = np.where(status == 200, rng.lognormal(9.0, 0.8, rows), 300.0 + rng.integers(0, 200, rows))
    fails = bad & (path == "/checkout") & (clock >= _NOON) & (rng.random(rows) < BROKEN)
    status[fails] = 500
    size[fails] = 300.0 + rng.integers(0, 200, int(fails.sum()))
    return pa.table(
        {
            "timestamp": (np.datetime64(date, "ms") + clock.astype("timedelta64[ms]")),
            "path": pa.array(path.tolist()),
            "method": pa.array(np.where(rng.random(rows) < posts, "POST", "GET").tolist()),
            "status": status,
            "latency_ms": latency.round(1),
            "bytes": size.astype(np.int64),
            "country": pa.array(_drawn(rng, COUNTRIES, rows).tolist()),
            "agent": pa.array(_drawn(rng, AGENTS, rows).tolist()),
        }
    )


def days(seed, count=4, rows=20_000, *, broken_at=None, start="2024-05-01"):
    """Return the requests of several days with a daily cycle: by night there are fewer, and more of them are from bots.

    broken_at: the moment from which /checkout is answered 500, as in `day`; None for never.
    """
    rng = np.random.default_rng([seed, 72])
    n = count * rows
    first = np.datetime64(start, "ms")
    # Times by rejection: the rate at noon is four times that of midnight.
    clock = np.sort(_by_rate(rng, n, count))
    hour = (clock % _DAY) / _DAY
    light = 0.5 - 0.5 * np.cos(2.0 * np.pi * hour)  # 0 at midnight, 1 at noon
    path = _drawn(rng, {name: each[0] for name, each in PATHS.items()}, n)
    path = np.where((path == "/static") & (rng.random(n) < light), "/search", path)
    posts = np.array([PATHS[each][1] for each in path])
    status = _drawn(rng, STATUSES, n).astype(np.int64)
    latency = np.array([PATHS[each][2] for each in path]) * rng.lognormal(0.0, 0.5, n) * (0.8 + 0.6 * light)
    size = np.where(status == 200, rng.lognormal(9.0, 0.8, n), 300.0 + rng.integers(0, 200, n))
    if broken_at is not None:
        late = first + clock.astype("timedelta64[ms]") >= np.datetime64(broken_at, "ms")
        fails = late & (path == "/checkout") & (rng.random(n) < BROKEN)
        status[fails] = 500
        size[fails] = 300.0 + rng.integers(0, 200, int(fails.sum()))
    agent = _drawn(rng, AGENTS, n)
    return pa.table(
        {
            "timestamp": first + clock.astype("timedelta64[ms]"),
            "path": pa.array(path.tolist()),
            "method": pa.array(np.where(rng.random(n) < posts, "POST", "GET").tolist()),
            "status": status,
            "latency_ms": latency.round(1),
            "bytes": size.astype(np.int64),
            "country": pa.array(_drawn(rng, COUNTRIES, n).tolist()),
            "agent": pa.array(np.where((agent == "curl") & (rng.random(n) > light), "bot", agent).tolist()),
        }
    )


def _by_rate(rng, n, count):
    found = np.empty(0, dtype=np.int64)
    while found.size < n:
        drawn = rng.integers(0, count * _DAY, n)
        rate = 0.625 - 0.375 * np.cos(2.0 * np.pi * (drawn % _DAY) / _DAY)
        found = np.concatenate([found, drawn[rng.random(n) < rate]])
    return found[:n]


def broken(rows):
    """Return which rows are requests of /checkout that were answered 500."""
    return (rows["path"].to_numpy() == "/checkout") & (rows["status"].to_numpy() == 500)


def kinds_of(rows):
    """Return what each request of a log is, but for its numbers."""
    return [tuple(each.values()) for each in rows.select(["path", "method", "status", "country", "agent"]).to_pylist()]


def n_alike(rows):
    """Return how many pairs of requests are of one kind, with a latency and a size within a fifth of each other."""
    kinds = kinds_of(rows)
    numbers = np.log(np.stack([rows[name].to_numpy().astype(float) for name in ("latency_ms", "bytes")], axis=1))
    near = np.abs(numbers[:, None] - numbers[None]).max(axis=2) < np.log(1.2)
    return sum(near[a, b] and kinds[a] == kinds[b] for a in range(len(rows)) for b in range(a))


def _drawn(rng, shares, rows):
    values = np.array(list(shares), dtype=object)
    return values[rng.choice(len(values), rows, p=list(shares.values()))]
