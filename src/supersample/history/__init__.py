"""Time: changes of streams, and histories that can be asked about any two ranges."""

from supersample.history.alarm import Alarm
from supersample.history.detector import ChangeDetector
from supersample.history.history import History
from supersample.history.period import Period

__all__ = ["Alarm", "ChangeDetector", "History", "Period"]
