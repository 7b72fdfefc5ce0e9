"""What people see of a history: one self-contained page along time."""

from supersample.report.timeline.view import HistoryView, view_of_history

__all__ = ["HistoryView", "view_of_history"]
