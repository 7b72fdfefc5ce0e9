"""Blocks that fit: how much memory a device has free, how many rows of a computation go into it, and what is too much."""

import os
import sys
from pathlib import Path
from typing import Any

from supersample.device.arrays import Home
from supersample.errors import InputError

__all__ = ["cut_for", "free_bytes", "in_words", "item_bytes", "require_room", "total_bytes"]

#: Assumed where neither the library nor the system says.
_UNKNOWN = 1 << 30
#: The share of what is free that one computation takes.
_SHARE = 0.5
#: Numbers of a block at most: more is no faster.
_MOST_ELEMENTS = 1 << 25


def free_bytes(home: Home) -> int:
    """Return how many bytes can still be taken on the device, those included that the library holds and does not use."""
    module = sys.modules.get(home.kind)
    if home.kind == "torch" and home.on_gpu:
        cuda: Any = module.cuda  # type: ignore[union-attr]
        return int(cuda.mem_get_info(home.device)[0] + cuda.memory_reserved(home.device) - cuda.memory_allocated(home.device))
    if home.kind == "cupy":
        pool: Any = module.get_default_memory_pool()  # type: ignore[union-attr]
        return int(home.device.mem_info[0] + pool.free_bytes())
    if home.kind == "jax":
        stats = home.device.memory_stats()
        if stats and "bytes_limit" in stats:
            return int(stats["bytes_limit"] - stats["bytes_in_use"])
    return _available_here()


def total_bytes(home: Home) -> int:
    """Return how many bytes the device has, taken or not: the same number at any time."""
    module = sys.modules.get(home.kind)
    if home.kind == "torch" and home.on_gpu:
        return int(module.cuda.mem_get_info(home.device)[1])  # type: ignore[union-attr]
    if home.kind == "cupy":
        return int(home.device.mem_info[1])
    return _pages_here("SC_PHYS_PAGES")


def _available_here() -> int:
    """Return the bytes of this machine that can be had: pages that only cache files count, where the system tells."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return _pages_here("SC_AVPHYS_PAGES")


def _pages_here(name: str) -> int:
    if name in getattr(os, "sysconf_names", {}):
        return int(os.sysconf(name) * os.sysconf("SC_PAGE_SIZE"))
    return _UNKNOWN


def item_bytes(home: Home, dtype: Any) -> int:
    """Return the bytes of one number."""
    return int(home.xp.finfo(dtype).bits) // 8


def cut_for(home: Home, n_rows: int, bytes_a_row: int, elements_a_row: int, what: str) -> list[slice]:
    """Cut rows into blocks that fit into the device's memory.

    bytes_a_row: what a row takes while it is worked on. what: the computation, for the error if not even one row fits.
    """
    fitting = int(_SHARE * free_bytes(home)) // max(1, bytes_a_row)
    if fitting < 1:
        require_room(home, int(bytes_a_row / _SHARE), what, "free some")
    step = max(1, min(fitting, _MOST_ELEMENTS // max(1, elements_a_row), n_rows))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def require_room(home: Home, needed: int, what: str, remedy: str) -> None:
    """Refuse a computation that would not fit, before it starts."""
    free = free_bytes(home)
    if needed > free:
        raise InputError(
            f"{what} would take {in_words(needed)} on {home.device}, which has {in_words(free)} free; {remedy}, or use a "
            f"device with more memory"
        )


def in_words(size: float) -> str:
    """Return a number of bytes as people say it."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} GB" if size < 1000 else f"{size:,.0f} GB"
