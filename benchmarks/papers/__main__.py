"""Run the papers' experiments: python -m benchmarks.papers --data DIR --out DIR [--only NAME ...] [--quick]."""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.papers import (
    criticisms,
    fastmmd,
    fastmmd_cost,
    fastmmd_plan,
    geometric,
    geometric_atoms,
    geometric_rule,
    geometric_speed,
    geometric_training,
    herding,
    herding_exchange,
    herding_frontier,
    reservoir,
    reservoir_cost,
    reservoir_filter,
    reservoir_sequences,
)

Run = Callable[[Path, Path, bool], None]

#: The experiments of each paper: functions of the folder to write to, the folder of data sets, and whether to be quick.
PAPERS: dict[str, dict[str, Run]] = {
    "reservoir": {
        "reservoir-figures": reservoir.run,
        "reservoir-cost": reservoir_cost.run,
        "reservoir-filter": reservoir_filter.run,
        "reservoir-sequences": reservoir_sequences.run,
    },
    "criticisms": {"criticisms-figures": criticisms.run},
    "fastmmd": {"fastmmd-figures": fastmmd.run, "fastmmd-plan": fastmmd_plan.run, "fastmmd-cost": fastmmd_cost.run},
    "herding": {
        "herding-figures": herding.run,
        "herding-exchange": herding_exchange.run,
        "herding-frontier": herding_frontier.run,
    },
    "geometric": {
        "geometric-figure1": geometric.run,
        "geometric-rule": geometric_rule.run,
        "geometric-atoms": geometric_atoms.run,
        "geometric-training": geometric_training.run,
        "geometric-speed": geometric_speed.run,
    },
}


def main() -> None:
    parts = {name: run for paper in PAPERS.values() for name, run in paper.items()}
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description="The papers' experiments.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--out", type=Path, required=True, help="folder to write pictures and numbers to")
    parser.add_argument(
        "--only", nargs="+", choices=[*PAPERS, *parts], default=list(PAPERS), help="papers, or parts of them (all)"
    )
    parser.add_argument("--quick", action="store_true", help="few trials and small sizes: does it run, not what it shows")
    arguments = parser.parse_args()
    for name in [part for each in arguments.only for part in PAPERS.get(each, {each: None})]:
        start = time.perf_counter()
        folder = arguments.out / name
        folder.mkdir(parents=True, exist_ok=True)
        print(f"== {name}")
        parts[name](folder, arguments.data, arguments.quick)
        print(f"== {name}: {time.perf_counter() - start:.0f} s, written to {folder}")


if __name__ == "__main__":
    main()
