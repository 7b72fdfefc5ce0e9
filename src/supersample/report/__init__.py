"""What people see of a summary, a comparison or a history: one self-contained page."""

from supersample.report.page import write_comparison, write_history, write_report

__all__ = ["write_comparison", "write_history", "write_report"]
