"""What people see of a summary: one self-contained page."""

from supersample.report.page import write_comparison, write_report

__all__ = ["write_comparison", "write_report"]
