"""What holds for every profile: batches do not matter, and parts merge in any order."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supersample import profile
from supersample.profile import ColumnPlan
from supersample.storage.codec import pack, unpack
from supersample.storage.container import Contents, from_bytes, to_bytes

KINDS = {
    "real": (pa.float64(), st.floats()),
    "single": (pa.float32(), st.floats(width=32)),
    "whole": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "small": (pa.int8(), st.integers(-3, 3)),
    "unsigned": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "truth": (pa.bool_(), st.booleans()),
    "text": (pa.string(), st.text()),
    "moment": (pa.timestamp("ns"), st.integers(-(2**62), 2**62)),
    "day": (pa.date32(), st.integers(-(2**31), 2**31 - 1)),
    "vector": (pa.list_(pa.float64()), st.lists(st.floats(), max_size=3)),
    "price": (pa.decimal128(9, 2), st.decimals(-9_999_999, 9_999_999, places=2)),
}
ROWS = st.lists(st.tuples(*(st.none() | values for _, values in KINDS.values())), max_size=30)
SCHEMA = pa.schema([(name, kind) for name, (kind, _) in KINDS.items()])
EMPTY = profile.init([ColumnPlan(field.name, field.type, "any", None, 1.5) for field in SCHEMA])


def batch_of(rows):
    columns = zip(*rows, strict=True) if rows else [()] * len(KINDS)
    return pa.record_batch([pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def stored(state):
    arrays = []
    header = pack(state, arrays)
    return to_bytes(Contents({"profile": header}, arrays, pa.table({})))


def restored(data):
    contents = from_bytes(data, "a profile")
    return unpack(contents.header["profile"], list(contents.arrays))


def in_one(batch):
    return profile.update(EMPTY, batch)


@given(ROWS, st.lists(st.integers(0, 30)))
def test_batches_do_not_matter_to_the_byte(rows, cuts):
    whole = batch_of(rows)
    state, ends = EMPTY, sorted(min(cut, len(rows)) for cut in cuts)
    for start, stop in zip([0, *ends], [*ends, len(rows)], strict=True):
        state = profile.update(state, whole.slice(start, stop - start))
    state.check()
    assert stored(state) == stored(in_one(whole))


@given(ROWS, ROWS)
def test_parts_merge_to_the_profile_of_all_rows(left, right):
    """As long as all values can be held; of more, frequent values are bounded, and the rest is the same (see below)."""
    both = stored(profile.merge(in_one(batch_of(left)), in_one(batch_of(right))))
    assert both == stored(profile.merge(in_one(batch_of(right)), in_one(batch_of(left))))
    assert both == stored(in_one(batch_of(right + left)))


@given(ROWS)
def test_a_profile_that_was_stored_is_the_same(rows):
    data = stored(in_one(batch_of(rows)))
    again = restored(data)
    again.check()
    assert stored(again) == data
    assert profile.to_table(again).equals(profile.to_table(in_one(batch_of(rows))))


def many_rows(n=24_000):
    """Rows with more values than can be held, sorted by the first column."""
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "sorted": np.sort(rng.standard_cauchy(n)),
            "normal": rng.normal(size=n),
            "whole": rng.integers(0, 10**12, n),
            "skewed": rng.exponential(200, n).astype(np.int64),
            "id": [f"customer {k}" for k in range(n)],
            "region": rng.choice(["north", "south", "east", "west"], n),
            "shop": [f"shop {k}" for k in rng.exponential(200, n).astype(int)],
            "note": [f"parcel {k % 97} to {k % 89}" for k in range(n)],
            "moment": pa.array(rng.integers(0, 2**60, n), pa.timestamp("ns")),
        }
    )


#: The roles of columns whose values or words are counted by group.
ROLES = {"region": "category", "shop": "category", "note": "text"}
ORDER_DOES_NOT_MATTER = ("count", "missing", "unreadable", "registers", "numbers", "lengths", "norms", "groups")


def bytes_of(column, what):
    arrays = []
    tree = json.dumps(pack(getattr(column, what), arrays))
    return tree, [each.tobytes() for each in arrays]


@pytest.mark.parametrize("seed", range(3))
def test_sixteen_parts_in_any_order_give_all_but_frequent_values_to_the_byte(seed):
    table = many_rows()
    empty = profile.init([ColumnPlan(each.name, each.type, ROLES.get(each.name, "any"), None, 0.5) for each in table.schema])
    once = empty
    for batch in table.to_batches(max_chunksize=5_000):
        once = profile.update(once, batch)
    size = table.num_rows // 16
    parts = [profile.update(empty, table.slice(k * size, size).combine_chunks().to_batches()[0]) for k in range(16)]
    order = np.random.default_rng(seed).permutation(16).tolist()
    # Neighbours in pairs, as on a cluster.
    queue = [parts[k] for k in order]
    while len(queue) > 1:
        queue = [profile.merge(*queue[k : k + 2]) for k in range(0, len(queue), 2)]
    (merged,) = queue
    merged.check()
    assert all(merged[name].groups is not None for name in ("shop", "note"))
    for mine, other in zip(merged.columns, once.columns, strict=True):
        for what in ORDER_DOES_NOT_MATTER:
            assert bytes_of(mine, what) == bytes_of(other, what)
    assert bytes_of(merged["region"], "frequent") == bytes_of(once["region"], "frequent")
    truth = {each["values"]: each["counts"] for each in table.column("skewed").value_counts().to_pylist()}
    for state in (merged, once):
        assert state["skewed"].top_error <= table.num_rows / 257
        for each in state["skewed"].top():
            assert each.count <= truth[int(each.value)] <= each.count + state["skewed"].top_error


@pytest.mark.parametrize("rows", [1, 255, 1_000, 24_000])
def test_batches_of_many_rows_do_not_matter_to_the_byte(rows):
    table = many_rows(700 if rows == 1 else 24_000)
    empty = profile.init([ColumnPlan(each.name, each.type, ROLES.get(each.name, "any"), None, 0.5) for each in table.schema])
    states = []
    for size in (rows, 4_096):
        state = empty
        for batch in table.to_batches(max_chunksize=size):
            state = profile.update(state, batch)
        states.append(stored(state))
    assert states[0] == states[1]
