"""compare on a known change: electricity before and after, from two stored summaries."""

import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
from scipy import stats

import supersample as ss
from benchmarks.speed.report import Benchmark, Context, Result, Row, Target

__all__ = ["BENCHMARK"]

#: Where the second state's columns begin to vary, in rows of the file.
_CHANGE = 17_424
#: The columns that are constant before it.
_BEGUN = {"transfer", "vicdemand", "vicprice"}
_LEVEL = 0.05


def _run(context: Context) -> Result:
    table = pq.read_table(context.data / "electricity.parquet")
    before, after = table.slice(0, _CHANGE), table.slice(_CHANGE)
    first = ss.summarize(before, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        for name, made in (("first", first), ("second", ss.summarize(after, like=first, random_state=1))):
            made.save(Path(folder) / name)
        start = time.perf_counter()
        found = ss.load(Path(folder) / "first").compare(ss.load(Path(folder) / "second"))
        seconds = time.perf_counter() - start
    rows: list[Row] = []
    changed = set()
    for each in found.columns:
        whole = stats.ks_2samp(before.column(each.name).to_numpy(), after.column(each.name).to_numpy())
        if len(found.columns) * whole.pvalue <= _LEVEL:
            changed.add(each.name)
        rows.append(
            {"column": each.name, "share": each.share, "MMD": each.mmd, "p-value": each.pvalue, "KS, all rows": whole.statistic}
        )
    leading = {each.name for each in found.columns[: len(_BEGUN)]}
    wrong = len(set(found.changed) ^ changed)
    return Result(
        rows,
        [
            Target("p-value of the first part of electricity against the second", found.pvalue, "at most", 1e-6),
            Target("of the three columns that begin to vary there, listed first", len(leading & _BEGUN), "at least", 3),
            Target("columns named wrongly or missed, against a Kolmogorov-Smirnov test with all rows", wrong, "at most", 0),
        ],
        [f"{found.n_left:,} and {found.n_right:,} rows; loading and comparing took {seconds:.2f} s; MMD {found.mmd:.3g}"],
    )


BENCHMARK = Benchmark(
    "compare: the change at row 17,424 of electricity.parquet, from two stored summaries",
    [
        "vicprice, vicdemand and transfer are constant up to that row and vary after it; prices and demand drift as well.",
        "Which columns changed is decided by Kolmogorov-Smirnov tests with all rows, Bonferroni over the columns.",
    ],
    _run,
)
