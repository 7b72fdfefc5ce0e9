"""Speed and memory, each as a ratio to a floor or a peer measured in the same run: `python -m benchmarks.speed`."""
