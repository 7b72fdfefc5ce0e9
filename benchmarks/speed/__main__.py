"""Run the speed benchmarks: `python -m benchmarks.speed --data DIR --out DIR [--only NAME ...] [--quick]`."""

import argparse
import traceback
from pathlib import Path

from benchmarks.speed import (
    adaptive,
    batch_wide,
    blobs,
    comparing,
    criticisms,
    crossover,
    discrepancy,
    embedding,
    engines,
    first_use,
    floor,
    herding,
    long_stream,
    many_points,
    maps,
    memory,
    merging,
    one_thread,
    order,
    parts,
    passes,
    permutations,
    ridge,
    stream,
    summarizing,
    thinning,
    tree_search,
    wide_rows,
)
from benchmarks.speed.report import Benchmark, Context, print_caveats, print_result, surroundings, write_json

_MODULES = (
    discrepancy, maps, permutations, floor, memory, embedding, stream, thinning, order, ridge, adaptive, passes, tree_search,
    crossover, long_stream, merging, criticisms, summarizing, comparing, engines, herding, first_use,
    many_points, wide_rows, batch_wide, blobs, parts, one_thread,
)  # fmt: skip
#: Benchmarks by the name of their module, in the order in which they run.
BENCHMARKS: dict[str, Benchmark] = {module.__name__.rpartition(".")[2]: module.BENCHMARK for module in _MODULES}


def main() -> int:
    """Run what was asked for; fail only if a benchmark crashes, since a missed target is a result."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description="Speed and memory, as ratios from one run.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of data sets")
    parser.add_argument("--out", type=Path, default=Path("out/speed"), help="folder for NAME.json")
    parser.add_argument(
        "--only", nargs="+", choices=tuple(BENCHMARKS), default=tuple(BENCHMARKS), metavar="NAME", help=", ".join(BENCHMARKS)
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, no verdicts")
    parser.add_argument("--against", type=Path, metavar="PATH", help="an older checkout, which batch_wide is measured beside")
    arguments = parser.parse_args()
    context = Context(arguments.data, arguments.out, arguments.quick, arguments.against)
    around = surroundings()
    print(f"{around['machine']}, {around['cores']} cores; Python {around['python']}; {_listed(around['versions'])}")
    if around["load_before"] is not None and around["load_before"] > 0.5:
        print(f"The machine is not idle (load {around['load_before']:.1f}): ratios below may be off.")
    crashed = []
    for name in arguments.only:
        print_caveats(name, BENCHMARKS[name], context)
        try:
            result = BENCHMARKS[name].run(context)
        except Exception:
            traceback.print_exc()
            crashed.append(name)
            continue
        print_result(result, context)
        print(f"  {write_json(name, BENCHMARKS[name], result, context)}", flush=True)
    if crashed:
        print(f"\nCrashed: {', '.join(crashed)}")
    print(f"\nAgain: python -m benchmarks.speed --data {context.data} --out {context.out}{' --quick' if context.quick else ''}")
    return 1 if crashed else 0


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


if __name__ == "__main__":
    raise SystemExit(main())
