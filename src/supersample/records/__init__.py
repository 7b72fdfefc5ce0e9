"""Rows in: what callers pass is checked once, here, and goes on as plain float arrays."""
