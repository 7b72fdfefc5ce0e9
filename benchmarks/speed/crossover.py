"""From how many points on the tree is faster than exact search."""

import math

from benchmarks.speed.report import Benchmark, Context, Result, Row
from benchmarks.speed.timing import in_child
from benchmarks.speed.tree_search import fit_and_read
from supersample.kernels import Gaussian
from supersample.selection.stream.plan import Settings

__all__ = ["BENCHMARK"]


def _run(context: Context) -> Result:
    n = 10_000 if context.quick else 200_000
    sizes = (200, 1_000) if context.quick else (200, 500, 1_000, 2_000, 5_000, 10_000)
    rows: list[Row] = []
    ratios = []
    for m in sizes:
        exact, tree = (in_child(fit_and_read, n=n, m=m, search=search) for search in ("exact", "tree"))
        ratios.append(exact["fit"] / tree["fit"])
        rows.append(
            {
                "M": m,
                "exact s": exact["fit"],
                "tree s": tree["fit"],
                "exact / tree": ratios[-1],
                "exact true MMD": exact["mmd"],
                "tree true MMD": tree["mmd"],
                "exact before the second look": exact["held_mmd"],
                "tree before it": tree["held_mmd"],
            }
        )
    chosen = next(m for m in range(1, 1 << 20) if Settings(m, Gaussian(1.0)).use_tree)
    return Result(
        rows, [], [f"N = {n:,}, d = 2; {_crossing(sizes, ratios)}; search='auto' takes the tree from M = {chosen:,} on"]
    )


def _crossing(sizes: tuple[int, ...], ratios: list[float]) -> str:
    """Say from where on the tree stays faster, on a straight line between logarithms."""
    slower = [index for index, ratio in enumerate(ratios) if ratio < 1.0]
    if not slower:
        return f"the tree is faster from M = {sizes[0]:,} on"
    last = slower[-1]
    if last == len(sizes) - 1:
        return f"exact search is faster up to M = {sizes[-1]:,}, the most tried"
    below, above = math.log(ratios[last]), math.log(ratios[last + 1])
    low, high = math.log(sizes[last]), math.log(sizes[last + 1])
    return f"they cross at M = {math.exp(low - (high - low) * below / (above - below)):,.0f}"


BENCHMARK = Benchmark(
    "exact search against the tree, M = 200 to 10,000",
    [
        "One fit each, in two dimensions with features='auto'; where the lines cross depends on the data and the map.",
        "The tree gives up quality for speed: where it is only a little faster, exact search is the better choice.",
    ],
    _run,
)
