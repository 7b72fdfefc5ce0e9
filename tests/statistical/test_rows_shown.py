"""Rows that a comparison shows of a web log in which one endpoint broke: how many of them are the rows that broke.

`make level` prints it for twenty pairs of days of two sizes; the suite has three pairs, in `tests/unit/test_telling_rows.py`.
"""

import numpy as np
import pytest

import supersample as ss
import web_log


@pytest.mark.level
@pytest.mark.parametrize("rows", [5_000, 20_000])
def test_of_each_of_twenty_pairs_most_rows_shown_are_those_that_broke(rows):
    shown, alike, times = [], [], []
    for seed in range(100, 120):
        tables = web_log.day(seed, rows), web_log.day(seed, rows, bad=True, date="2024-05-02")
        left = ss.summarize(tables[0], 20, 5, random_state=seed)
        found = left.compare(ss.summarize(tables[1], like=left, random_state=seed + 1)).right_rows
        failed = [int((each["status"].to_numpy() == 500).sum()) for each in tables]
        times.append(failed[1] / max(failed[0], 1))
        shown.append(int(web_log.broken(found).sum()))
        alike.append(web_log.n_alike(found))
    print(f"\n{rows:,} + {rows:,} rows, 500s {np.mean(times):.0f} times as common on average")  # noqa: T201
    print(f"  of ten rows, {np.mean(shown):.1f} broke on average, {min(shown)} at least; pairs alike: {sum(alike)}")  # noqa: T201
    assert min(shown) >= 5
    assert sum(alike) == 0
