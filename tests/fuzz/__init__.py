"""Damaged and hostile bytes for everything that reads bytes: `make fuzz`, and a short run in the test suite."""
