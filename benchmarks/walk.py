"""The way of one row through the code, counted: `python -m benchmarks.walk`.

Functions of the package in the order of their first call in `summarize(path)`, `.prototypes`, `.save`, `.compare` and
`.report`. A hop is a change of file from one to the next, a return a hop to a file that was left before. To count another
commit, put its `src` first in PYTHONPATH.
"""

import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import supersample as ss


def walk(folder: Path) -> None:
    """Go the way once."""
    summary = ss.summarize(folder / "x.parquet", 20, 4, random_state=0)
    _ = summary.prototypes
    summary.save(folder / "x.ss")
    summary.compare(ss.summarize(folder / "y.parquet", like=summary, random_state=1))
    summary.report(folder / "x.html")


def first_calls(folder: Path) -> list[tuple[str, str]]:
    """Return file and name of each function of the package, in the order of their first calls."""
    root, found = str(Path(ss.__file__).parent), dict[tuple[str, str], None]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root) and not code.co_name.startswith("<"):
            found.setdefault((code.co_filename, code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        walk(folder)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(found)


def main() -> None:
    """Print the counts."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("x", "y"):
            table = pa.table({"a": rng.normal(size=7_000), "c": rng.choice(["x", "y"], 7_000)})
            pq.write_table(table, folder / f"{file}.parquet")
        walk(folder)  # imports and compiled loops are no part of the way
        calls = first_calls(folder)
    files = [file for file, _ in calls]
    hops = [place for place in range(1, len(files)) if files[place] != files[place - 1]]
    returns = sum(files[place] in files[:place] for place in hops)
    print(f"{len(calls)} functions, {len(set(files))} files, {len(hops)} hops, {returns} returns")


if __name__ == "__main__":
    main()
