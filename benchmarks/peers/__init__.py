"""Ours beside the field: the same rows, the same kernel, one judge, time and memory together: `python -m benchmarks.peers`."""
