"""Run the papers' experiments: python -m benchmarks.papers --data DIR --out DIR [--only NAME ...] [--quick]."""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.papers import (
    criticisms,
    fastmmd,
    fastmmd_plan,
    geometric,
    geometric_rule,
    geometric_training,
    herding,
    reservoir,
)

#: Each paper's experiments: a function of the folder to write to, the folder of data sets, and whether to be quick.
PAPERS: dict[str, Callable[[Path, Path, bool], None]] = {
    "fastmmd": fastmmd.run,
    "fastmmd-plan": fastmmd_plan.run,
    "criticisms": criticisms.run,
    "geometric": geometric.run,
    "geometric-rule": geometric_rule.run,
    "geometric-training": geometric_training.run,
    "herding": herding.run,
    "reservoir": reservoir.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description="The papers' experiments.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--out", type=Path, required=True, help="folder to write pictures and numbers to")
    parser.add_argument("--only", nargs="+", choices=sorted(PAPERS), default=sorted(PAPERS), help="papers to run (all)")
    parser.add_argument("--quick", action="store_true", help="few trials and small sizes: does it run, not what it shows")
    arguments = parser.parse_args()
    for name in arguments.only:
        start = time.perf_counter()
        folder = arguments.out / name
        folder.mkdir(parents=True, exist_ok=True)
        print(f"== {name}")
        PAPERS[name](folder, arguments.data, arguments.quick)
        print(f"== {name}: {time.perf_counter() - start:.0f} s, written to {folder}")


if __name__ == "__main__":
    main()
