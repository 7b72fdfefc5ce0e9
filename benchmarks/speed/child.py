"""The other end of `timing.in_child`: call module:function with JSON arguments and print its result as the last line."""

import importlib
import json
import sys

from benchmarks.speed.timing import peak_mb

if __name__ == "__main__":
    module, _, function = sys.argv[1].partition(":")
    outcome = getattr(importlib.import_module(module), function)(**json.loads(sys.argv[2]))
    print(json.dumps({**outcome, "peak_mb": peak_mb()}))
