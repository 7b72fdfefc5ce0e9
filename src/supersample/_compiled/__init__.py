"""Compiled loops: plain arrays in, preallocated arrays out; no validation, no randomness, no imports of the package.

Each states its `fastmath`: one that did not would inherit it from the loop that calls it first, and be cached like that.
"""
