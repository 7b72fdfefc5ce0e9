"""Do something at a chosen line of running code: what a signal or another thread does there by bad luck, done on purpose."""

import linecache
import sys

#: Where CPython never looks for signals and never hands over to another thread: it does so at calls and at jumps back. Raising
#: there would leave a block that has no way of being left.
_NO_MOMENTS = ("with ", "try:", "finally:", "else:", "@")


def at_line(work, number, action, modules):
    """Return work(), having called action() before line `number` of those that it runs in some modules, in this thread.

    Lines are counted from 1 in the order in which they run; where there are fewer, action is not called. What action raises
    comes out of that line.
    """
    files, seen = {module.__file__ for module in modules}, 0

    def trace(frame, event, _):
        nonlocal seen
        if frame.f_code.co_filename not in files:
            return None
        text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        if event == "line" and not text.startswith(_NO_MOMENTS):
            seen += 1
            if seen == number:
                sys.settrace(None)
                action()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return work()
    finally:
        sys.settrace(before)


def each_line(attempt):
    """Call attempt(1), attempt(2), ... until one returns False: that line was not reached. Return how many were."""
    number = 1
    while attempt(number):
        number += 1
    return number - 1
