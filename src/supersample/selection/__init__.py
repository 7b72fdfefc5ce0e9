"""Which points stand for the data."""
