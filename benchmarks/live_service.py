"""The service as a process of its own, for measurements: started, looked at, killed, and started again on the same folder."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["Served", "children", "megabytes", "table"]


def children(process: int) -> list[int]:
    """Return the processes that a process has started, and those that they have, as Linux lists them."""
    found: list[int] = []
    for each in Path(f"/proc/{process}/task").glob("*/children"):
        for one in map(int, each.read_text().split()):
            found += [one, *children(one)]
    return found


def megabytes(process: int) -> float:
    """Return the memory that a process holds, as Linux counts it; 0 if it has ended."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Served:
    """`supersample watch` with a configuration. url: where it is. process: that of the service."""

    url: str
    process: "subprocess.Popen[str]"

    def __init__(self, folder: Path, streams: Mapping[str, Mapping[str, Any]], limits: Mapping[str, int] | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        lines: list[str] = []
        tables = {"limits": limits or {}, **{f"streams.{name}": values for name, values in streams.items()}}
        for name, values in tables.items():  # texts and numbers are the same in JSON and in TOML
            lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
        config = folder / "config.toml"
        config.write_text("\n".join(lines) + "\n")
        command = [sys.executable, "-m", "supersample", "watch", "--config", str(config), "-o", str(folder / "state")]
        self._command = [*command, "--port", "0", "--json"]

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("the service did not start; what it printed says why")
        self.url = json.loads(line)["url"]

    def kill(self) -> None:
        """End it by SIGKILL, as a lost machine does."""
        self.process.kill()
        self.process.communicate()

    def stop(self) -> None:
        """Let it save and end."""
        self.process.terminate()
        self.process.communicate(timeout=300)

    def memory(self) -> tuple[float, float]:
        """Return the megabytes of the service, and of the processes that it has started."""
        return megabytes(self.process.pid), sum(map(megabytes, children(self.process.pid)))

    def __enter__(self) -> "Served":
        """Start it."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End it, however the block ended."""
        if self.process.poll() is None:
            self.stop()


def table(rows: list[tuple[str, Any]]) -> str:
    """Return names and values as lines of two columns."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(
        f"{name:<{width}}  {value:,}" if isinstance(value, int) else f"{name:<{width}}  {value}" for name, value in rows
    )
