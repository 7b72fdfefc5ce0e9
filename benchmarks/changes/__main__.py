"""Run the benchmark of changes: `python -m benchmarks.changes --data DIR --out DIR [--only NAME ...] [--quick]`."""

import argparse
import json
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.changes.pace import bootstrapped, paced
from benchmarks.changes.protocol import RUN_LENGTH, Detector
from benchmarks.changes.streams import StreamSet, stream_sets
from benchmarks.changes.watching import DETECTORS, watched
from benchmarks.peers.children import interpreter, measured
from benchmarks.speed.report import surroundings

_PACKAGES = ("alibi-detect", "frouros", "numba", "numpy", "river", "scikit-learn", "scipy", "supersample", "torch")
#: Seconds after which a detector is given up on one kind of stream.
_TIMEOUT = 3_600.0


def main() -> int:
    """Take the tables asked for, one JSON file each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.changes", description="Alarms of ours beside the field.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of data sets")
    parser.add_argument("--out", type=Path, default=Path("out/changes"), help="folder for NAME.json")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="tables to take; all by default")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--fast", action="store_true", help="leave slow detectors out, which take most of the time")
    parser.add_argument("--workers", type=int, default=2, help="processes side by side, of one thread each; alone for times")
    arguments = parser.parse_args()
    tables: dict[str, Callable[[], dict[str, Any]]] = {
        each.name: partial(_stream_table, each, arguments.workers, fast=arguments.fast)
        for each in stream_sets(arguments.data, quick=arguments.quick)
    }
    tables["pace"] = partial(_pace_table, arguments.quick)
    wanted = arguments.only or list(tables)
    unknown = sorted(set(wanted) - set(tables))
    if unknown:
        parser.error(f"--only knows {', '.join(tables)}; got {', '.join(unknown)}")
    around = {**surroundings(_PACKAGES), "older_versions": _older_versions()}
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
        seconds = round(time.perf_counter() - start, 1)
        content = {"name": name, **table, "quick": arguments.quick, "seconds": seconds, "surroundings": around}
        file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        print(f"  {seconds:.0f} s in all", flush=True)
    return 0


def _stream_table(streams: StreamSet, workers: int, *, fast: bool) -> dict[str, Any]:
    """Draw the streams, and run every detector over them, slow ones over some."""
    with TemporaryDirectory() as folder:
        drawn = [streams.draw(seed) for seed in range(streams.draws)]
        for seed, each in enumerate(drawn):
            np.save(Path(folder) / f"{seed}.npy", each.rows)
            np.save(Path(folder) / f"{seed}-part.npy", each.rows[: streams.part])
        thresholds, compiled = _kept("thresholds"), _kept("compiled")
        changes = [each.changes for each in drawn]
        options = {name: getattr(streams, name) for name in ("first", "horizon", "once", "categories")}

        def row(place: int) -> dict[str, Any] | None:
            detector = DETECTORS[place]
            left_out = _left_out(detector, streams, fast=fast)
            if left_out is None:
                return None
            count, ending = (streams.few, "-part") if detector.slow else (streams.draws, "")
            files = [str(Path(folder) / f"{seed}{ending}.npy") for seed in range(count)]
            found = {"error": left_out} if left_out else measured(
                watched, detector.environment, threads=1, place=place, files=files, changes=changes[:count], options=options,
                cache=str(thresholds), compiled=compiled, timeout=_TIMEOUT,
            )  # fmt: skip
            print(f"  {detector.package} {detector.name}: {_told(found)}", flush=True)
            return {"detector": detector.name, "package": detector.package, **found}

        with ThreadPoolExecutor(workers) as pool:
            rows = [each for each in pool.map(row, range(len(DETECTORS))) if each is not None]
    described = {name: getattr(streams, name) for name in ("title", "kind", "draws", "few", "part", "horizon", "first")}
    width, length = int(drawn[0].rows.shape[1]), len(drawn[0].rows)
    return {**described, "columns": width, "length": length, "run_length": RUN_LENGTH, "rows": rows}


def _left_out(detector: Detector, streams: StreamSet, *, fast: bool) -> str | None:
    """Return why a detector is not run on streams, nothing if it is, and None if it is not for them."""
    if (detector.only and streams.name not in detector.only) or (detector.category and not streams.categories):
        return None
    if detector.needs > streams.first:
        return f"needs {detector.needs:,} rows, and there are {streams.first:,} before the first change"
    return "slow, and left out (--fast)" if fast and detector.slow else ""


def _kept(name: str) -> Path:
    """Return a folder for what takes long and is the same each time: thresholds of a reference, and compiled code."""
    folder = Path("out/changes-kept") / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


def _told(found: dict[str, Any]) -> str:
    if "error" in found:
        return str(found["error"])
    caught = sum(each is not None for each in found["delays"])
    return (
        f"{caught} of {len(found['delays'])} changes found, {found['elsewhere']} alarms elsewhere in {found['watched']:,} "
        f"rows, {found['seconds']:.0f} s"
    )


def _pace_table(quick: bool) -> dict[str, Any]:
    """Time every detector alone, and alibi-detect's own bootstrap."""
    around = surroundings(_PACKAGES)
    if around["load_before"] is not None and around["load_before"] > 0.5:
        print(f"  The machine is not idle (load {around['load_before']:.1f}): times may be off.")
    rows = []
    for place, detector in enumerate(DETECTORS):
        found = measured(paced, detector.environment, place=place, rows=200_000, seconds=1.0 if quick else 6.0)
        print(f"  {detector.package} {detector.name}: {found}", flush=True)
        rows.append({"detector": detector.name, "package": detector.package, "setting": detector.setting, **found})
    own = measured(bootstrapped, "older", window=25, bootstraps=100 if quick else 2_000)
    print(f"  bootstrap of alibi-detect: {own}", flush=True)
    return {"kind": "pace", "rows": rows, "bootstrap": own}


def _older_versions() -> dict[str, str]:
    """Return the versions in the environment of the older peers, or nothing where it is not there."""
    python = interpreter("older")
    if python is None:
        return {}
    asked = f"from benchmarks.speed.report import surroundings; import json; print(json.dumps(surroundings({_PACKAGES!r})))"
    done = subprocess.run([str(python), "-c", asked], stdout=subprocess.PIPE, text=True, check=True)
    versions: dict[str, str] = json.loads(done.stdout)["versions"]
    return versions


if __name__ == "__main__":
    raise SystemExit(main())
