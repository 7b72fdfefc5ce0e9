"""A stream fed under alarms that strike at any moment, as a program of its own that tells in JSON what came of it.

An alarm raises KeyboardInterrupt wherever Python happens to be. In the process of the tests that may be inside pytest or inside
Hypothesis, so this program imports neither: `python tests/helpers/interrupts.py sampler`.
"""

import hashlib
import json
import linecache
import signal
import sys
import time

import numpy as np

import supersample as ss

#: Interrupts that a report needs, and rounds in which they must come: an alarm may come after the call has ended, and Python
#: drops what is raised while it clears an object away.
_ENOUGH, _MOST_ROUNDS = 24, 100
#: Locks and pools of the standard library are themselves not safe from interrupts: one that strikes just after a condition was
#: entered keeps it locked for ever. There an alarm waits, except where these modules do nothing but wait for other threads.
_UNSAFE = ("/threading.py", "/concurrent/futures/thread.py", "/concurrent/futures/_base.py")
_WAITING = "waiter.acquire()"


class _Alarm:
    """A timer that raises KeyboardInterrupt once, and only while it is armed."""

    def __init__(self):
        self.armed = False
        signal.signal(signal.SIGALRM, self.strike)

    def strike(self, _, frame):
        if not self.armed:
            return
        if _unsafe(frame):
            signal.setitimer(signal.ITIMER_REAL, 2e-5)
            return
        self.armed = False
        raise KeyboardInterrupt

    def interrupts(self, work, seconds):
        """Call work() and interrupt it after some seconds; return whether the interrupt was seen."""
        try:
            self.armed = True
            signal.setitimer(signal.ITIMER_REAL, seconds)
            work()
            self.armed = False
        except KeyboardInterrupt:
            return True
        finally:
            self.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
        return False


def _unsafe(frame):
    file = frame.f_code.co_filename
    return file.endswith(_UNSAFE) and linecache.getline(file, frame.f_lineno).strip() != _WAITING


def _fed(take, seen, batches, longest, alarm, rng):
    """Feed batches, each interrupted at random moments until it is in; return how often, and counts of rows that are torn."""
    count, torn = 0, []
    for index, batch in enumerate(batches, 1):
        expected = index * len(batch)
        while seen() < expected:
            struck = alarm.interrupts(lambda batch=batch: take(batch), float(rng.uniform(1e-5, longest)))
            count += struck
            if seen() not in ((expected - len(batch), expected) if struck else (expected,)):
                torn.append([seen(), expected])
                break
            longest *= 1.05  # slow machines must get a call done at some time
    return count, torn


def _timed(take, batches):
    """Feed batches; return the seconds of a call, the median of those after the first."""
    times = []
    for batch in batches:
        started = time.perf_counter()
        take(batch)
        times.append(time.perf_counter() - started)
    return float(np.median(times[1:]))


def _rounds(make, read, batches, seed):
    """Feed one object undisturbed and others under alarms; return a report with what both show in the end.

    make() returns an object, the function that feeds it, and one that counts the rows fed to it; read(object) returns what is
    to be the same. The undisturbed one comes first, so that nothing is imported or compiled under an alarm.
    """
    rng, alarm = np.random.default_rng(seed), _Alarm()
    undisturbed, take, _ = make()
    seconds = _timed(take, batches)
    report = {"expected": read(undisturbed), "found": [], "interrupts": 0, "torn": []}
    while report["interrupts"] < _ENOUGH and len(report["found"]) < _MOST_ROUNDS:
        disturbed, take, seen = make()
        count, torn = _fed(take, seen, batches, seconds, alarm, rng)
        report["interrupts"] += count
        report["torn"] += torn
        moment = 0.01
        while alarm.interrupts(lambda disturbed=disturbed: read(disturbed), moment):
            moment *= 2
        report["found"].append(read(disturbed))
    return report


def sampler():
    """Twelve batches for a sampler."""
    batches = np.random.default_rng(0).normal(size=(12, 1_000, 3))

    def make():
        made = ss.SuperSampler(15, 4, bandwidth=1.0, random_state=0)
        return made, made.partial_fit, lambda: made.n_seen_ if hasattr(made, "_now") else 0

    def read(made):
        return [made.prototype_indices_.tolist(), made.criticism_indices_.tolist(), made.mmd_]

    return _rounds(make, read, batches, 1)


def summary():
    """Seven batches for a summary that has one."""
    first, *batches = np.random.default_rng(2).normal(size=(8, 800, 2))

    def make():
        made = ss.summarize(first, prototypes=10, criticisms=2, random_state=0)
        return made, made.update, lambda: made.n_seen - 800

    return _rounds(make, lambda made: hashlib.sha256(made.to_bytes()).hexdigest(), batches, 3)


if __name__ == "__main__":
    json.dump({"sampler": sampler, "summary": summary}[sys.argv[1]](), sys.stdout)
