"""Do something at a chosen line of running code: what a signal or another thread does there by bad luck, done on purpose."""

import gc
import linecache
import sys

#: Where CPython never looks for signals and never hands over to another thread: it does so at calls and at jumps back. Raising
#: there would leave a block that has no way of being left.
_NO_MOMENTS = ("with ", "try:", "finally:", "else:", "@")
#: From 3.12 on a comprehension is no function of its own. Each item is told as its line again, and what is raised there is not
#: seen by the blocks around it (what a signal raises is): so a line that follows itself in its function is passed over.
_INLINE = sys.version_info >= (3, 12)


def at_line(work, number, action, modules, returns=()):
    """Return work(), having called action() before line `number` of those that it runs in some modules, in this thread.

    Lines are counted from 1 in the order in which they run; where there are fewer, action is not called. What action raises
    comes out of that line. returns: modules whose functions count once, when they return. Garbage is not collected meanwhile:
    what runs then comes at other lines each time, and what it raises is dropped.
    """
    files, seen, lines = {module.__file__ for module in modules}, 0, {}
    left = {module.__file__ for module in returns}

    def trace(frame, event, _):
        nonlocal seen
        file = frame.f_code.co_filename
        if file not in files and file not in left:
            return None
        again = _INLINE and lines.get(id(frame)) == frame.f_lineno  # by id: a frame kept here would live on with all it holds
        lines[id(frame)] = frame.f_lineno if event == "line" else None
        line = event == "line" and file in files and not again
        if line:
            line = not linecache.getline(file, frame.f_lineno).strip().startswith(_NO_MOMENTS)
        if line or (event == "return" and file in left):
            seen += 1
            if seen == number:
                sys.settrace(None)
                action()
        return trace

    before, collecting = sys.gettrace(), gc.isenabled()
    gc.disable()
    sys.settrace(trace)
    try:
        return work()
    finally:
        sys.settrace(before)
        if collecting:
            gc.enable()


def each_line(attempt):
    """Call attempt(1), attempt(2), ... until one returns False: that line was not reached. Return how many were."""
    number = 1
    while attempt(number):
        number += 1
    return number - 1
