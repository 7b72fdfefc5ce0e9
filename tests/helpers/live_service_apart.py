"""A service in a process of its own, so that its memory, files, threads and listeners are nobody else's."""

import multiprocessing
import os
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from live_services import running

__all__ = ["apart", "here", "looked_at"]

#: Seconds until a service has noticed that connections are closed, and between two looks at that.
_PATIENCE, _LOOK = 60.0, 0.05


def looked_at(service):
    """Return what a service of this process holds."""
    hub, streams = service.service.hub, service.service.streams.values()
    found = {
        "threads": threading.active_count(), "listeners": len(hub._listeners), "bytes of bodies": service.service.bodies._held,
        "waiting rows": sum(each.waiting_rows for each in streams),
    }  # fmt: skip
    if Path("/proc/self/fd").is_dir():
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        found["megabytes"] = round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)
        found["files"] = len(list(Path("/proc/self/fd").iterdir()))
    return found


def settled(look):
    """Return what a service holds once nothing is under way: what was cut off is noticed a moment later."""
    end = time.monotonic() + _PATIENCE
    found = look()
    while time.monotonic() < end:
        time.sleep(_LOOK)
        before, found = found, look()
        still = ("threads", "files")
        if not (found["listeners"] or found["bytes of bodies"] or found["waiting rows"]) and all(
            before.get(each) == found.get(each) for each in still
        ):
            break
    return found


@contextmanager
def here(settings):
    """Run a service in this process; yield its address and a function that looks at it."""
    with running(settings) as service:
        yield service.url, lambda: looked_at(service)


@contextmanager
def apart(settings):
    """Run a service in a process of its own, in the same way."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(settings, theirs))
    process.start()

    def look():
        mine.send("look")
        return mine.recv()

    try:
        yield mine.recv(), look
    finally:
        mine.send(None)
        process.join()


def _serve(settings, told):
    with running(settings, lambda *_, **__: None) as service:  # nothing of what happens is kept
        told.send(service.url)
        while told.recv() is not None:
            told.send(looked_at(service))
