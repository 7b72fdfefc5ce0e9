"""Compiled loops: plain arrays in, preallocated arrays out; no validation, no randomness, no imports of the package."""
