"""Run the peers benchmark: `python -m benchmarks.peers --data DIR --out DIR [--only NAME ...] [--quick]`."""

import argparse
import json
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.peers.children import interpreter
from benchmarks.peers.comparing import comparison_table, comparisons
from benchmarks.peers.selection_table import selection_table
from benchmarks.peers.workloads import workloads
from benchmarks.speed.report import surroundings

_PACKAGES = (
    *("aix360", "alibi-detect", "apricot-select", "coreax", "cvxpy", "datasketches", "frouros", "goodpoints", "hyppo", "jax"),
    *("mmd-critic", "numba", "numpy", "osqp", "scikit-learn", "scikit-learn-extra", "scipy", "supersample", "torch"),
)


def main() -> int:
    """Take the tables asked for, one JSON file each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description="Ours beside the field.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of data sets")
    parser.add_argument("--out", type=Path, default=Path("out/peers"), help="folder for NAME.json")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="tables to take; all by default")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    arguments = parser.parse_args()
    tables: dict[str, Callable[[], dict[str, Any]]] = {
        each.name: partial(selection_table, each) for each in workloads(arguments.data, quick=arguments.quick)
    }
    tables |= {each.name: partial(comparison_table, each) for each in comparisons(quick=arguments.quick)}
    wanted = arguments.only or list(tables)
    unknown = sorted(set(wanted) - set(tables))
    if unknown:
        parser.error(f"--only knows {', '.join(tables)}; got {', '.join(unknown)}")
    around = {**surroundings(_PACKAGES), "older_versions": _older_versions()}
    if around["load_before"] is not None and around["load_before"] > 0.5:
        print(f"The machine is not idle (load {around['load_before']:.1f}): times below may be off.")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        print(f"\n{name}", flush=True)
        start = time.perf_counter()
        file = arguments.out / f"{name}.json"
        file.unlink(missing_ok=True)  # what is there belongs to another run
        try:
            table = tables[name]()
        except FileNotFoundError as error:
            print(f"  not taken: {error}; pass the folder of data sets as --data", flush=True)
            continue
        seconds = time.perf_counter() - start
        content = {**table, "quick": arguments.quick, "seconds": seconds, "surroundings": around}
        file.write_text(json.dumps(_rounded(content), indent=1) + "\n", encoding="utf-8")
        print(f"  {seconds:.0f} s in all", flush=True)
    return 0


def _older_versions() -> dict[str, str]:
    """Return the versions in the environment of the older peers, or nothing where it is not there."""
    python = interpreter("older")
    if python is None:
        return {}
    asked = f"from benchmarks.speed.report import surroundings; import json; print(json.dumps(surroundings({_PACKAGES!r})))"
    done = subprocess.run([str(python), "-c", asked], stdout=subprocess.PIPE, text=True, check=True)
    versions: dict[str, str] = json.loads(done.stdout)["versions"]
    return versions


def _rounded(value: Any) -> Any:
    """Keep six significant digits: more would only make the file large."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


if __name__ == "__main__":
    raise SystemExit(main())
