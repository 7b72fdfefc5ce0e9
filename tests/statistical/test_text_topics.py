"""Free text whose mix of topics moves by 10 points is found in 5,000 + 5,000 rows; the same mix, as often as the level says.

Default run: 3 pairs of moved mixes, whose p-values lie below 1e-8, and 10 pairs of equal ones, allowed so many rejections that
a correct test exceeds it with a chance of 1e-5. The whole study asks 100 pairs of each.
"""

import numpy as np
import pyarrow as pa
import pytest

import messy
import oracles
import supersample as ss

ROWS = 5_000
MOVED = (0.35, 0.65 / 3, 0.65 / 3, 0.65 / 3)


def found(pairs, mix):
    """Return how many pairs of tables differ at 5%, and how many differ in the column of notes."""
    count = named = 0
    for seed in range(pairs):
        rng = np.random.default_rng(seed)
        left = ss.summarize(pa.table({"note": messy.notes(ROWS, rng)}), 20, 0, random_state=seed)
        right = ss.summarize(pa.table({"note": messy.notes(ROWS, rng, mix)}), like=left, random_state=seed)
        comparison = left.compare(right)
        count += comparison.rejects(0.05)
        named += "note" in comparison.changed
    return count, named


def test_topics_that_move_are_found_and_those_that_do_not_are_rarely():
    assert found(2, MOVED) == (2, 2)
    _, most = oracles.binomial_band(6, 0.05, 1 - 2e-5)
    assert max(found(6, messy.EVEN_MIX)) <= most


@pytest.mark.level
def test_topics_are_found_in_95_of_100_pairs_and_the_level_is_kept():
    assert min(found(100, MOVED)) >= 95
    least, most = oracles.binomial_band(100, 0.05, 0.999)
    assert least <= found(100, messy.EVEN_MIX)[0] <= most
