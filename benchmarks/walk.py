"""The way of one row through the code, counted: `python -m benchmarks.walk`.

Functions of the package in the order of their first call in `summarize(path)`, `.prototypes`, `.save`, `.compare` and
`.report`. A hop is a change of file from one to the next, a return a hop to a file that was left before. The last lines count
only what someone reads who follows the calls to a certain depth: functions outside of modules whose names begin with an
underscore, first called with fewer than so many others of the package above them. To count another commit, put its `src`
first in PYTHONPATH.
"""

import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import supersample as ss

#: Depths to which calls are followed.
_DEPTHS = (4, 5)


class Call(NamedTuple):
    """The first call of a function: its file, below the package, and how many functions of the package were running."""

    file: str
    depth: int

    @property
    def is_private(self) -> bool:
        """Whether the module serves all packages, as those do whose names begin with an underscore."""
        return self.file.startswith("_")


def walk(folder: Path) -> None:
    """Go the way once."""
    summary = ss.summarize(folder / "x.parquet", 20, 4, random_state=0)
    _ = summary.prototypes
    summary.save(folder / "x.ss")
    summary.compare(ss.summarize(folder / "y.parquet", like=summary, random_state=1))
    summary.report(folder / "x.html")


def first_calls(folder: Path) -> list[Call]:
    """Return the first call of each function of the package, in their order."""
    root, found = str(Path(ss.__file__).parent), dict[tuple[str, str], Call]()

    def above(frame: FrameType | None) -> int:
        count = 0
        while frame is not None:
            count += frame.f_code.co_filename.startswith(root)
            frame = frame.f_back
        return count

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root) and not code.co_name.startswith("<"):
            key = (code.co_filename, code.co_qualname)
            if key not in found:
                found[key] = Call(str(Path(code.co_filename).relative_to(root)), above(frame.f_back))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        walk(folder)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(found.values())


def counted(calls: list[Call]) -> str:
    """Return functions, files, hops and returns in words."""
    files = [call.file for call in calls]
    hops = [place for place in range(1, len(files)) if files[place] != files[place - 1]]
    returns = sum(files[place] in files[:place] for place in hops)
    return f"{len(calls)} functions, {len(set(files))} files, {len(hops)} hops, {returns} returns"


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
    print(f"all: {counted(calls)}")
    for depth in _DEPTHS:
        shown = [call for call in calls if call.depth < depth and not call.is_private]
        print(f"depth below {depth}: {counted(shown)}")


if __name__ == "__main__":
    main()
