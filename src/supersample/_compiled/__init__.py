"""Compiled loops: plain arrays in, preallocated arrays out; no validation, no randomness, nothing of ours imported."""
