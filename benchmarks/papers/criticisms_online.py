"""The draft's two algorithms side by side: Online Greedy and the faster one on the same rows, in several orders, and over D."""

from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.ticker import NullLocator

import supersample as ss
from benchmarks.papers.criticisms_choice import Choice, Judge, batch, drafted, kernel_of, online, streamed
from benchmarks.papers.criticisms_data import Images
from benchmarks.papers.criticisms_gallery import CRITICISMS, PROTOTYPES
from benchmarks.papers.figures import panels, write_numbers

__all__ = ["online_curves"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

_ROWS = (250, 500, 1_000, 2_000)
_FEATURES = (32, 64, 128, 256, 512, 1_024, 2_048)
_ORDERS = 5
#: Features of the faster algorithm where their number is not what is varied.
_D = 512


def online_curves(out: Path, name: str, images: Images, quick: bool, pool: Executor) -> None:
    """Place both algorithms between random sets (0) and batch greedy (1), by rows seen and by the number of features."""
    rows = (200, 400) if quick else _ROWS
    points = images.points[: rows[-1]]
    kernel, judge = kernel_of(images.points), Judge(points, kernel_of(images.points))
    greedy = pool.submit(batch, points, kernel, PROTOTYPES, CRITICISMS).result()
    rng = np.random.default_rng(14)
    drawn = [rng.choice(len(points), PROTOTYPES + CRITICISMS, replace=False) for _ in range(100)]
    bottom = np.mean([[judge.J(each[:PROTOTYPES]), judge.F(each[PROTOTYPES:], greedy.prototypes)] for each in drawn], axis=0)
    top = np.array([judge.J(greedy.prototypes), judge.F(greedy.criticisms, greedy.prototypes)])

    def place(choice: Choice) -> Floats:
        found = np.array([judge.J(choice.prototypes), judge.F(choice.criticisms, greedy.prototypes)])
        return np.asarray((found - bottom) / (top - bottom))

    orders = range(2 if quick else _ORDERS)
    numbers: dict[str, Any] = {"rows": rows, "orders": len(orders), "random": bottom, "batch": top}
    lines: dict[str, dict[int, Floats]] = {}
    for method in ("Online Greedy", "faster algorithm", "SuperSampler"):
        lines[method] = {
            n: np.array([place(each) for each in pool.map(partial(_in_order, method, points, kernel, n, _D), orders)])
            for n in rows
        }
    over = {
        n_features: np.array(
            [
                place(each)
                for each in pool.map(partial(_in_order, "faster algorithm", points, kernel, rows[-1], n_features), orders)
            ]
        )
        for n_features in (_FEATURES[:2] if quick else _FEATURES)
    }
    for method, line in {**lines, "faster algorithm, by D": over}.items():
        numbers[method] = line
        listed = ", ".join(
            f"{key}: J {each[:, 0].mean():.3f} ({each[:, 0].min():.3f}), F {each[:, 1].mean():.3f} ({each[:, 1].min():.3f})"
            for key, each in line.items()
        )
        print(f"online  {name} {method:22} mean (least) of {len(orders)} orders at {listed}")
    write_numbers(out / f"online-{name}", numbers)
    _draw(out / f"online-{name}", lines, over)


def _draw(path: Path, lines: dict[str, dict[int, Floats]], over: dict[int, Floats]) -> None:
    styles = {"Online Greedy": ("#D55E00", "^"), "faster algorithm": ("#0072B2", "o"), "SuperSampler": ("#009E73", "s")}
    with panels(path, 3) as axes:
        for which, title in enumerate(("(a) prototypes, J", "(b) criticisms, F")):
            for method, line in lines.items():
                colour, marker = styles[method]
                axes[which].plot(
                    list(line), [each[:, which].mean() for each in line.values()], color=colour, marker=marker, label=method
                )
            axes[which].set(xscale="log", xlabel="rows seen", ylabel="random 0, batch 1", title=title)
            axes[which].set_xticks(list(line), [f"{n:,}" for n in line])
            axes[which].xaxis.set_minor_locator(NullLocator())
        axes[0].legend(loc="lower right")
        for which, title in enumerate(("J", "F")):
            axes[2].plot(list(over), [each[:, which].mean() for each in over.values()], marker="os"[which], label=title)
        axes[2].set(xscale="log", xlabel="features D", ylabel="random 0, batch 1", title="(c) faster algorithm, by D")
        axes[2].legend(loc="lower right")


def _in_order(method: str, points: Floats, kernel: ss.kernels.Kernel, n: int, n_features: int, seed: int) -> Choice:
    """Run a method over the first n rows of an order; rows are given back in the old one."""
    order = np.random.default_rng([15, seed]).permutation(len(points))[:n]
    if method == "Online Greedy":
        found = online(points[order], kernel, PROTOTYPES, CRITICISMS)
    elif method == "faster algorithm":
        found = drafted(points[order], kernel, PROTOTYPES, CRITICISMS, n_features, seed)
    else:
        found = streamed(points[order], kernel, PROTOTYPES, CRITICISMS, seed)
    return Choice(order[found.prototypes], order[found.criticisms], found.seconds)
