"""Prototypes and criticisms of three methods as pictures side by side, with the time of each."""

from concurrent.futures import Executor
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

import supersample as ss
from benchmarks.papers.criticisms_choice import Choice, Judge, batch, kernel_of, nearest_error, online, streamed
from benchmarks.papers.criticisms_data import Images
from benchmarks.papers.figures import write_numbers

__all__ = ["CRITICISMS", "PROTOTYPES", "gallery"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

PROTOTYPES, CRITICISMS = 60, 20
_COLUMNS = 10


def gallery(out: Path, name: str, images: Images, held_out: Images | None, quick: bool, pool: Executor) -> None:
    """Choose by batch, online greedy and fast stream; draw, time and score what they chose."""
    points, kernel = images.points, kernel_of(images.points)
    first = points[: 300 if quick else 2000]  # online greedy takes each row against all before it
    chosen = {
        "batch": pool.submit(batch, points, kernel, PROTOTYPES, CRITICISMS).result(),
        "online greedy": pool.submit(_warm_online, first, kernel).result(),
        "fast stream": pool.submit(_warm_streamed, points, kernel).result(),
    }
    judge = Judge(points, kernel)
    numbers: dict[str, object] = {"N": len(points), "N of online greedy": len(first), "bandwidth": kernel.bandwidth}
    for method, choice in chosen.items():
        n = len(first) if method == "online greedy" else len(points)
        found: dict[str, Any] = {
            "rows": n,
            "seconds": choice.seconds,
            "J": judge.J(choice.prototypes),
            "F": judge.F(choice.criticisms, choice.prototypes),
            "sum_of_witnesses": judge.parts_of_f(choice.criticisms, choice.prototypes)[0],
        }
        if images.labels is not None:
            counts = np.bincount(images.labels[choice.prototypes], minlength=images.labels.max() + 1)
            found["prototypes_by_label"] = counts.tolist()
            if held_out is not None and held_out.labels is not None:
                mine = choice.prototypes
                found["error"] = nearest_error(points[mine], images.labels[mine], held_out.points, held_out.labels)
        numbers[method] = found
        listed = ", ".join(f"{key} {value:.4g}" for key, value in found.items() if isinstance(value, float))
        print(f"gallery  {name} {method:13} {n:,} rows: {listed}")
    write_numbers(out / f"gallery-{name}", numbers)
    _draw(out / f"gallery-{name}.png", images, chosen, len(first))


def _warm_online(points: Floats, kernel: ss.kernels.Kernel) -> Choice:
    online(points[:90], kernel, PROTOTYPES, CRITICISMS)
    return online(points, kernel, PROTOTYPES, CRITICISMS)


def _warm_streamed(points: Floats, kernel: ss.kernels.Kernel) -> Choice:
    streamed(points[:100], kernel, 10, 5, seed=0)  # compiles
    return streamed(points, kernel, PROTOTYPES, CRITICISMS, seed=0)


def _draw(path: Path, images: Images, chosen: dict[str, Choice], first: int) -> None:
    tall = [PROTOTYPES // _COLUMNS, CRITICISMS // _COLUMNS]
    with mpl.rc_context({"font.size": 9, "axes.titlesize": 9}):
        figure = Figure(figsize=(9.6, 3.1), layout="constrained")
        axes = figure.subplots(2, len(chosen), height_ratios=tall, squeeze=False)
        for column, (method, choice) in enumerate(chosen.items()):
            of = f" of the first {first:,}" if method == "online greedy" else ""
            _mosaic(axes[0, column], images, choice.prototypes)
            axes[0, column].set_title(f"({'abc'[column]}) {method}{of}: prototypes")
            _mosaic(axes[1, column], images, choice.criticisms)
            axes[1, column].set_title("criticisms")
        drawn = BytesIO()
        figure.savefig(drawn, dpi=100)
    # Sixteen greys halve the file.
    Image.open(drawn).convert("L").quantize(16).save(path, optimize=True)


def _mosaic(axis: Axes, images: Images, rows: Indices) -> None:
    """Draw images by label where there are any, ten a line, with a light line between them."""
    if images.labels is not None:
        rows = rows[np.argsort(images.labels[rows], kind="stable")]
    side, lines = images.side, -(-len(rows) // _COLUMNS)
    canvas = np.zeros((lines * _COLUMNS, side, side))
    canvas[: len(rows)] = images.points[rows].reshape(-1, side, side)
    axis.imshow(
        canvas.reshape(lines, _COLUMNS, side, side).swapaxes(1, 2).reshape(lines * side, _COLUMNS * side),
        cmap="gray_r",
        vmin=0.0,
        vmax=1.0,
        interpolation="antialiased",
    )
    for place in range(1, _COLUMNS):
        axis.axvline(place * side - 0.5, color="0.85", linewidth=0.5)
    for place in range(1, lines):
        axis.axhline(place * side - 0.5, color="0.85", linewidth=0.5)
    axis.set(xticks=[], yticks=[])
