"""The batch size does not matter, and neither do stops, files and restarts in between."""

from contextlib import suppress
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import supersample as ss


def table(n=9000):
    rng = np.random.default_rng(7)
    return pa.table(
        {
            "x": pa.array(np.where(rng.random(n) < 0.05, np.nan, rng.normal(size=n)), from_pandas=True),
            "c": pa.array([None if u < 0.03 else "abcd"[int(u * 4)] for u in rng.random(n)]),
            "text": [f"note {'é' * int(k)}" for k in rng.integers(0, 5, n)],
            "v": pa.array(rng.normal(size=(n, 3)).tolist()),
            "w": np.where(rng.random(n) < 0.1, 0.0, rng.random(n)),
        }
    )


DATA = table()
OPTIONS = {"prototypes": 12, "criticisms": 3, "weight": "w", "random_state": 5}
#: Of the rows as a stream: a table of this size is learned from rows that are spread over all of it.
WHOLE = ss.summarize(iter([DATA]), **OPTIONS).to_bytes()
cuts = st.lists(st.integers(0, DATA.num_rows), max_size=6).map(lambda inner: sorted({0, *inner, DATA.num_rows}))


@settings(max_examples=10, deadline=None)
@given(cuts)
def test_any_cut_into_batches_gives_the_same_bytes(edges):
    parts = [DATA.slice(a, b - a) for a, b in pairwise(edges)]
    made = ss.summarize(iter(parts), **OPTIONS)
    made.source = "the list_iterator"
    assert made.to_bytes() == WHOLE


@settings(max_examples=4, deadline=None)
@given(cuts)
def test_any_stops_with_files_in_between_give_the_same_bytes(tmp_path_factory, edges):
    path = tmp_path_factory.mktemp("stops") / "state.ss"
    parts = [DATA.slice(a, b - a) for a, b in pairwise(edges)]
    made = ss.summarize(iter(parts[:1]), **OPTIONS)
    for part in parts[1:]:
        made.save(path)
        made = ss.load(path).update(part)
    assert made.to_bytes() == WHOLE


@settings(max_examples=4, deadline=None)
@given(st.lists(st.integers(1, DATA.num_rows - 1), min_size=1, max_size=3))
def test_a_run_that_breaks_goes_on_from_its_checkpoint(tmp_path_factory, breaks):
    path = tmp_path_factory.mktemp("breaks") / "run.checkpoint"

    def source(last):
        for start in range(0, DATA.num_rows, 500):
            if start > last:
                raise OSError("the line went dead")
            yield DATA.slice(start, 500)

    for last in breaks:
        with suppress(ss.errors.InputError):  # a break after the last row does no harm
            ss.summarize(source(last), checkpoint=path, checkpoint_rows=700, **OPTIONS)
    made = ss.summarize(source(DATA.num_rows), checkpoint=path, checkpoint_rows=700, **OPTIONS)
    made.source = "the list_iterator"
    assert made.to_bytes() == WHOLE
