"""Executions shared out among processes that may crash, hang or ask for too much memory without taking the caller along."""

import collections
import faulthandler
import multiprocessing
import resource
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from fuzz.targets import TARGETS

#: Seconds that one execution may take, and bytes of memory that it may ask for beyond what its process has by then.
_LONGEST = 60
_MOST_MEMORY = 2 << 30


def work(name, seed, first, last, step, at, counts):
    """Execute every `step`-th of a range in this process; `at` tells the parent where it is."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # a file for each execution need not reach a disk
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        target = TARGETS[name](folder)
        tally = collections.Counter()
        for index in range(first, last, step):
            at.value = index
            _limit_memory()
            try:
                tally[target.execute(seed, index)] += 1
            except BaseException:
                traceback.print_exc()
                sys.exit(1)
        counts.put(tally)


def _limit_memory():
    """Limit the memory of this process; allocators keep the addresses of what they gave back, so the limit moves on."""
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (held + _MOST_MEMORY, most))


def run(name, total, seed, workers):
    """Share executions out among processes; return the counts, None after a finding."""
    context = multiprocessing.get_context("spawn")
    counts = context.Queue()
    places = [context.Value("q", index) for index in range(workers)]
    children = [
        context.Process(target=work, args=(name, seed, index, total, workers, places[index], counts))
        for index in range(workers)
    ]
    for child in children:
        child.start()
    since = [(time.monotonic(), -1)] * workers
    whole, ended = collections.Counter(), 0
    while ended < workers:
        time.sleep(0.2)
        while not counts.empty():
            whole += counts.get()
            ended += 1
        for index, (child, place) in enumerate(zip(children, places, strict=True)):
            if place.value != since[index][1]:
                since[index] = (time.monotonic(), place.value)
            hangs = child.is_alive() and time.monotonic() - since[index][0] > _LONGEST + 60 * (since[index][1] < workers)
            if hangs or child.exitcode not in (None, 0):
                what = f"took more than {_LONGEST} s" if hangs else f"ended its process with {child.exitcode}"
                print(f"FOUND: {name}, execution {place.value} of seed {seed} {what}; again: --only {name} --at {place.value}")
                for each in children:
                    each.kill()
                return None
    for child in children:
        child.join()
    return whole
