"""Input of rows: what callers pass is checked once, here, and converted to plain float arrays."""
