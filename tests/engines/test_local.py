"""The reference engine, Dask without a cluster, and what is refused before anything runs."""

import subprocess
import sys

import dask
import dask.array as da
import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from engine_parts import OPTIONS, SIZES, dask_frame, mixed, reader
from supersample.engines import local
from supersample.engines.partition_tasks import head, spread_rows, tree


def test_partitions_have_the_maps_of_their_first_rows_and_nearly_the_quality_of_one_stream():
    table = mixed(9_000, 3)
    heads = [table.slice(0, 1_667), table.slice(3_000, 1_667), table.slice(6_000, 1_666)]
    rest = [table.slice(1_667, 1_333), table.slice(4_667, 1_333), table.slice(7_666)]
    one = ss.summarize(iter([pa.concat_tables(heads + rest)]), **OPTIONS)
    parts = local.summarize([table.slice(start, 3_000) for start in (0, 3_000, 6_000)], **OPTIONS)
    assert parts.feature_map == one.feature_map
    assert parts.columns == one.columns
    assert parts.n_seen == one.n_seen
    assert parts.compare(one).pvalue > 0.999
    assert parts.mmd < 0.5 * parts.random_mmd


def test_a_profile_of_partitions_says_what_that_of_one_pass_says_but_for_quantiles_and_frequent_values():
    table = mixed(9_000, 3)
    options = OPTIONS | {"prototypes": 5, "criticisms": 0}
    one = ss.summarize(table, **options).profile.to_pylist()
    parts = local.summarize([table.slice(start, 3_000) for start in (0, 3_000, 6_000)], **options).profile.to_pylist()
    quantiles = {"q01": 0.01, "q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95, "q99": 0.99}
    estimates = {*quantiles, "quantile_error", "top", "top_error"}
    for left, right in zip(one, parts, strict=True):
        assert {name: value for name, value in left.items() if name not in estimates} == {
            name: value for name, value in right.items() if name not in estimates
        }
        if left["median"] is None:
            continue
        values = np.asarray(table[left["name"]].drop_null().cast("double"))
        ends = np.quantile(values, (0.45, 0.55))  # between which the centres lie
        for name, share in quantiles.items():
            true = np.quantile(values, share)
            furthest = np.abs(true - ends).max()
            assert abs(right[name] - true) <= right["quantile_error"] * furthest + 1e-12
    assert any(left["q05"] != right["q05"] for left, right in zip(one, parts, strict=True))  # this test can see it


def test_sixteen_partitions_that_differ_end_as_near_as_one_stream():
    """Like CovType, whose files are regions: each partition has its own place, and merges must bring them together."""
    rng = np.random.default_rng(4)
    data = np.concatenate([rng.normal(3 * rng.normal(size=4), rng.uniform(0.3, 1.5), size=(1_000, 4)) for _ in range(16)])
    one = ss.summarize(iter([data]), prototypes=60, criticisms=0, random_state=0)
    parts = local.summarize(np.split(data, 16), prototypes=60, criticisms=0, random_state=0)
    names = [f"x{place}" for place in range(4)]
    points = parts.encode(pa.table(dict(zip(names, data.T, strict=True))))
    merged, streamed = (
        ss.mmd2(parts.encode(each.prototypes.select(names)), points, kernel=parts.kernel) for each in (parts, one)
    )
    assert np.sqrt(merged / streamed) <= 1.3


@pytest.mark.parametrize("sizes", [[700] * 100, [3, 0, 9_000, 5], [10, 20], [200] * 3 + [4_000], [0] * 40 + [6_000] + [0] * 3])
def test_the_rows_learned_from_are_the_first_of_partitions_spread_over_all(sizes):
    starts = np.cumsum([0, *sizes])
    read = []

    def heads(indices, most):
        read.extend(indices)
        return [
            head(index, most, None, pa.table({"x": np.arange(starts[index], starts[index] + sizes[index])}))
            for index in indices
        ]

    tables = spread_rows(len(sizes), heads)
    rows = np.concatenate([table["x"].to_numpy() for table in tables.values()])
    assert len(rows) == min(5_000, sum(sizes))
    assert (np.diff(rows) > 0).all()
    parts = np.searchsorted(starts, rows, side="right") - 1
    firsts = np.concatenate([np.arange(count) for count in np.unique(parts, return_counts=True)[1]])
    assert (rows == starts[parts] + firsts).all()
    if sizes[0] == 700:
        assert sorted(read) == sorted({place * 100 // 8 for place in range(8)})
        assert np.unique(parts).tolist() == sorted(read)


def test_partitions_in_order_of_a_column_are_learned_from_all_over():
    data = np.sort(np.random.default_rng(0).normal(50, 9, 40_000))
    summary = local.summarize([pa.table({"price": part}) for part in np.split(data, 40)], **OPTIONS)
    assert "unlike the rows learned from" not in {note.kind for note in summary.notes}
    assert "unlike the rows learned from" in {note.kind for note in ss.summarize(iter([data]), **OPTIONS).notes}


def test_partitions_with_equal_rows_draw_differently():
    table = mixed(6_000, 0)
    twice = local.summarize([table, table], **OPTIONS)
    rows = np.asarray(twice.background["_row"])
    first, second = rows[rows < 6_000], rows[rows >= 6_000] - 6_000
    assert not np.array_equal(first, second[: len(first)])
    # Of 12,000 rows 5,000 are drawn: each table's share is hypergeometric with sd 27; 7 sd fail once in 10^11 runs.
    assert abs(len(first) - 2_500) < 190


def test_empty_partitions_leave_no_trace_but_their_number():
    table, none = mixed(5_500, 0), mixed(0, 0)
    first = local.summarize([table, none], **OPTIONS)
    second = local.summarize([table], **OPTIONS)
    assert first.prototypes.equals(second.prototypes)
    assert first.mmd == second.mmd


def test_rows_of_weight_zero_do_not_make_the_warm_up():
    table = mixed(5_500, 0)
    none = table.set_column(5, "w", pa.array(np.zeros(5_500)))
    found = local.summarize([none, table], weight="w", **OPTIONS)
    assert found.n_seen == 11_000
    assert min(found.prototypes["_row"].to_pylist()) >= 5_500
    with pytest.raises(ss.errors.InputError, match="at least one row of positive weight in column 'w'"):
        local.summarize([none, none], weight="w", **OPTIONS)


def test_a_partition_of_other_columns_is_named():
    table = mixed(300, 0)
    with pytest.raises(ss.errors.MismatchError, match=r"^partition 1: .*'flag'"):
        local.summarize([mixed(6_000, 0), table.drop_columns(["flag"])], **OPTIONS)


@pytest.mark.parametrize("n", range(1, 20))
def test_the_tree_keeps_the_order_and_is_shallow(n):
    leaves = [((index,), 0) for index in range(n)]
    order, depth = tree(leaves, lambda left, right: (left[0] + right[0], 1 + max(left[1], right[1])))
    assert order == tuple(range(n))
    assert depth == int(np.ceil(np.log2(n)))


@pytest.mark.parametrize("scheduler", ["threads", "sync"])
def test_dask_needs_no_cluster(scheduler, folder, tables):
    expected = local.summarize(tables, **OPTIONS).to_bytes()
    with dask.config.set(scheduler=scheduler):
        assert ss.summarize(dask_frame(reader(folder), len(SIZES)), **OPTIONS).to_bytes() == expected
        with pytest.raises(ss.errors.InputError, match=r"^partition 2 could not be read: OSError: the disk is on fire; "):
            ss.summarize(dask_frame(reader(folder, broken=2), len(SIZES)), **OPTIONS)


def test_dask_arrays_are_rows_in_blocks(capsys):
    data = np.random.default_rng(0).normal(size=(6_000, 4))
    blocks = da.from_array(data, chunks=(2_500, 2))
    expected = local.summarize([data[:2_500], data[2_500:5_000], data[5_000:]], **OPTIONS).to_bytes()
    with dask.config.set(scheduler="threads"):
        assert ss.summarize(blocks, progress=True, **OPTIONS).to_bytes() == expected
        assert ss.summarize(blocks[:, 0], **OPTIONS).prototypes.column_names == ["x0", "_row", "_weight", "_share"]
    assert "Completed" in capsys.readouterr().out
    with pytest.raises(ss.errors.InputError, match="one or two dimensions"):
        ss.summarize(da.zeros((2, 2, 2)))


def test_what_means_nothing_on_a_cluster_is_refused(tmp_path):
    blocks = da.zeros((10, 2))
    with pytest.raises(ss.errors.InputError, match=r"^checkpoint must be left out"):
        ss.summarize(blocks, checkpoint=tmp_path / "state")
    with pytest.raises(ss.errors.InputTypeError, match=r"^progress must be True or False"):
        ss.summarize(blocks, progress=print)
    with pytest.raises(ss.errors.InputError, match="cannot be stored"):
        ss.summarize(da.random.random((6_000, 2)), kernel=lambda x, y: x @ y.T)
    with pytest.raises(ss.errors.InputTypeError, match="Dask DataFrame or Array"):
        ss.summarize(dask.delayed([1, 2]))


def test_engines_and_scikit_learn_are_imported_only_where_they_are_asked_for():
    code = (
        "import sys, numpy, supersample, supersample.engines; "
        "supersample.summarize(numpy.zeros((10, 2)), 2); "
        "found = {'dask', 'distributed', 'pyspark', 'py4j', 'sklearn', 'scipy.stats'} & set(sys.modules); "
        "assert not found, found"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
