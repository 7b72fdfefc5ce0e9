"""Run in another environment: load the files of a folder and save them again, and write files of its own."""

import json
import platform
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from golden.make import MADE
from supersample.summary.state_file import restore, store

#: One file of each kind: saved by a user, left by a run, sent between workers.
PASSED = ("summary", "checkpoint", "partition")


def saved_again(data, name):
    """Return the bytes that this version writes for what it read from some."""
    restored = restore(data, name)
    return store(
        restored.state, kind=restored.kind, source=restored.source, settled=restored.settled, outcome=restored.outcome,
        **restored.more,
    )  # fmt: skip


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name in PASSED:
        (folder / f"{name}-back.ss").write_bytes(saved_again((folder / f"{name}.ss").read_bytes(), name))
        (folder / f"{name}-theirs.ss").write_bytes(MADE[name]())
    python = ".".join(platform.python_version_tuple()[:2])
    sys.stdout.write(json.dumps({"python": python, "numpy": np.__version__, "pyarrow": pa.__version__}))
