"""An attack on a service, over several connections at a time: hostile requests, and between them some whose answer is known.

`python -m live_attack --requests 100000` attacks a service in a process of its own, and compares what it holds after a tenth of
the requests with what it holds at the end.
"""

import argparse
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from live_answers import asked, check_sound
from live_hostile import EXPECTED, request_of
from live_known import KNOWN, ROWS
from live_service_apart import apart, here, settled
from live_services import TOKENS, client_of, send, settings_of
from supersample.live.settings import Limits, StreamSettings

__all__ = ["attack"]

#: One request of so many is one whose answer is known; connections at a time; rounds between which nothing is under way.
_SHARE, _CONNECTIONS, _ROUNDS = 3, 8, 10
#: Batches that a service learns from, with what that loads, before it is measured. Batches after them have higher numbers.
_LEARNED, _NUMBERS = 12, 1_000
#: What a service may hold more at the end than after the first round: all sockets are closed; a pool of four threads starts one
#: when it needs it; pages of memory vary.
_MORE = {"files": 0, "threads": 4, "megabytes": 20.0}
#: What a wrong answer raises, or none at all.
_WRONG = AssertionError, KeyError, ValueError, OSError
_HISTORY = {"time": "when", "every": "10s", "random_state": 0}


def attack(folder, count, seed=0, connections=_CONNECTIONS, rounds=_ROUNDS, *, alone=False):
    """Attack a service; return how often each status came, how often each known answer did, and what was held when.

    alone: whether the service runs in a process of its own, so that what is held is what it holds.
    """
    rng = np.random.default_rng(seed)
    limits = Limits(body=20_000, decoded=1 << 20, seconds=2.0)
    streams = [StreamSettings(name, _HISTORY) for name in ("rides", "good")]
    statuses, known, held, number = Counter(), Counter(), [], 0
    with (apart if alone else here)(settings_of(Path(folder), *streams, tokens=TOKENS, limits=limits)) as (url, look):
        learned = _learned(url) if alone else 0
        with ThreadPoolExecutor(connections) as pool:
            for _ in range(rounds):
                hostile, friendly = [], []
                for _ in range(count // rounds):
                    if number % _SHARE == 0:
                        which = KNOWN[number // _SHARE % len(KNOWN)]
                        friendly.append(pool.submit(_known, which, url, _NUMBERS + number))
                    else:
                        hostile.append(pool.submit(_hostile, url, request_of(rng)))
                    number += 1
                statuses.update(each.result() for each in hostile)
                known.update(each.result() for each in friendly)
                held.append(settled(look))
        _same_as_before(url, learned + ROWS * known[KNOWN[0].name])
    for name in ("listeners", "bytes of bodies", "waiting rows"):
        assert held[-1][name] == 0, (name, held[-1])
    return statuses, known, held


def check_flat(held):
    """Fail if a service of its own process holds more at the end than after the first round."""
    grown = {name: held[-1][name] - held[0][name] for name in _MORE if name in held[0]}
    assert all(each <= _MORE[name] for name, each in grown.items()), grown


def _learned(url):
    """Send rows that the stream learns from, and return how many."""
    with client_of(SimpleNamespace(url=url), TOKENS["send"]) as client:
        return sum(send(client, number, "good").json()["rows"] for number in range(_LEARNED))


def _hostile(url, request):
    try:
        answer = asked(url, request)
        assert answer.status in EXPECTED, answer
        check_sound(answer)
    except _WRONG as error:
        raise AssertionError(f"{error!r} for {request[:500]!r}") from error
    return answer.status


def _known(which, url, number):
    try:
        which.ask(url, number)
    except _WRONG as error:
        raise AssertionError(f"{which.name}: {error!r}") from error
    return which.name


def _same_as_before(url, rows):
    """Fail unless the service answers, and has the rows of the good batches and no other."""
    with client_of(SimpleNamespace(url=url), TOKENS["read"]) as client:
        assert client.get("/health").json() == {"status": "ok"}
        assert client.get("/ready").json() == {"status": "ready"}
        assert {each["name"]: each["rows"] for each in client.get("/streams").json()["streams"]} == {"rides": 0, "good": rows}


def table(statuses, known, held):
    """Return what came of it as lines of text."""
    lines = ["hostile requests by status (0: closed without an answer)"]
    lines += [f"  {status:>3} {count:>9,}" for status, count in sorted(statuses.items())]
    lines += ["requests whose answer is known, all of them answered so"]
    lines += [f"  {count:>9,}  {name}" for name, count in known.items()]
    lines += [f"{'held, when nothing is under way':<32} {'after 10%':>12} {'at the end':>12}"]
    lines += [f"  {name:<30} {held[0][name]:>12,} {held[-1][name]:>12,}" for name in held[0]]
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option, value in (("--requests", 100_000), ("--seed", 0), ("--connections", _CONNECTIONS)):
        parser.add_argument(option, type=int, default=value)
    options = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        found = attack(place, options.requests, options.seed, options.connections, alone=True)
    print(table(*found))  # noqa: T201
    check_flat(found[2])
    print(f"{options.requests:,} requests in {time.monotonic() - start:,.0f} s, no wrong answer")  # noqa: T201
