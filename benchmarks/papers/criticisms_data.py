"""What the experiments on prototypes and criticisms run on: sets of images, and groups too rare to be prototypes."""

from math import isqrt
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["GROUPS", "ORDERS", "Images", "Order", "image_sets", "read_images", "with_rare_groups"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

Order = Literal["early", "late", "spread"]
ORDERS: tuple[Order, ...] = ("early", "late", "spread")
#: Of the rare-group data: the number of groups and the share of each.
GROUPS, SHARE = 10, 0.002


class Images(NamedTuple):
    """Square grey images, one a row with values in [0, 1], and their labels where there are any."""

    points: Floats
    labels: Indices | None
    side: int


def image_sets(folder: Path) -> dict[str, Path]:
    """Return the files with a column `image` of fixed-size lists; NAME_train beside NAME_test is held out, not a set."""
    found = {}
    for path in sorted(folder.glob("*.parquet")):
        schema = pq.read_schema(path)
        if "image" not in schema.names or not pa.types.is_fixed_size_list(schema.field("image").type):
            continue
        if not (path.stem.endswith("_train") and path.with_stem(path.stem.removesuffix("_train") + "_test").exists()):
            found[path.stem] = path
    return found


def read_images(path: Path, count: int, seed: int) -> Images:
    """Return `count` images at random, in random order: files may be sorted."""
    table = pq.read_table(path)
    order = np.random.default_rng([10, seed]).permutation(table.num_rows)[:count]
    width = table.schema.field("image").type.list_size
    values = table["image"].combine_chunks().flatten().to_numpy().reshape(-1, width)[order]
    points: Floats = values / (255.0 if values.dtype == np.uint8 else 1.0)
    labels = table["label"].to_numpy()[order].astype(np.int64) if "label" in table.column_names else None
    if isqrt(width) ** 2 != width:
        raise ValueError(f"images in {path} must be square and grey, got {width} values each; give another set")
    return Images(points, labels, isqrt(width))


def with_rare_groups(n: int, order: Order, seed: int) -> tuple[Floats, Indices]:
    """Return n points in the plane, and the rare group of each, -1 for the rest.

    Five Gaussians in the middle hold 98%; the median distance of their points is 1. Ten tight groups of 0.2% lie on a circle
    around them, over four units from all else; they come first, last or anywhere.
    """
    rng = np.random.default_rng([11, seed])
    angles = 2.0 * np.pi * (np.arange(GROUPS) + rng.random()) / GROUPS
    groups = np.repeat(np.arange(GROUPS), round(SHARE * n))
    rare = 9.0 * np.column_stack([np.cos(angles), np.sin(angles)])[groups] + 0.1 * rng.standard_normal((groups.size, 2))
    turn = 2.0 * np.pi * rng.integers(5, size=n - groups.size) / 5
    common = 0.6 * np.column_stack([np.cos(turn), np.sin(turn)]) + 0.34 * rng.standard_normal((turn.size, 2))
    points, labels = np.concatenate([rare, common]), np.concatenate([groups, np.full(turn.size, -1)])
    shuffled = rng.permutation(n)
    if order != "spread":
        is_common = labels[shuffled] < 0
        shuffled = shuffled[np.argsort(is_common if order == "early" else ~is_common, kind="stable")]
    return points[shuffled], labels[shuffled]
