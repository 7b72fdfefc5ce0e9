"""Measurements: speed, memory and the experiments of the papers."""
