"""Both engines end in the bytes of the local one, whatever befalls their workers."""

import importlib
import inspect
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import supersample as ss
from engine_parts import OPTIONS, SIZES, chosen_locally, reader, same_selection
from supersample.engines import local

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


@pytest.fixture(scope="module")
def expected(tables):
    return local.summarize(tables, **OPTIONS).to_bytes()


def test_bytes_are_those_of_the_local_engine(engine, folder, tables, expected):
    found = ss.summarize(engine.frame(reader(folder), len(SIZES)), **OPTIONS)
    assert found.to_bytes() == expected
    whole = pa.concat_tables(tables)
    chosen = found.prototypes
    assert chosen.select(whole.column_names).equals(whole.take(chosen["_row"]))


def test_workers_killed_and_tasks_tried_again_leave_no_trace(engine, folder, expected, tmp_path, monkeypatch):
    reading, stumbled, merging = (tmp_path / name for name in ("reading", "stumbled", "merging"))
    module, name = engine.merging.rsplit(".", 1)
    merge, killer = getattr(importlib.import_module(module), name), str(merging)

    def killing(state, *more):  # a closure travels by value, so workers get this one
        if not os.path.exists(killer):  # noqa: PTH110
            with open(killer, "w") as file:  # noqa: PTH123
                file.write(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return merge(state, *more)

    killing.__signature__ = inspect.signature(merge)  # Spark counts the arguments
    monkeypatch.setattr(engine.merging, killing)
    kills = reader(folder, killed=3, marker=str(reading))
    stumbles = reader(folder, stumbles=2, marker=str(stumbled))
    found = ss.summarize(engine.frame(lambda index: (kills if index == 3 else stumbles)(index), len(SIZES)), **OPTIONS)
    assert stumbled.exists()
    for marker in (reading, merging):
        assert not Path(f"/proc/{int(marker.read_text())}").exists()  # it was another process, and it is gone
    assert found.to_bytes() == expected


def test_options_work_as_at_home(engine, folder, tables):
    frame = engine.frame(reader(folder), len(SIZES))
    options = {**OPTIONS, "columns": {"a": 2.0, "kind": 1.0}, "weight": "w", "kernel": "laplacian", "n_features": 64}
    first = ss.summarize(frame, **options)
    assert first.to_bytes() == local.summarize(tables, **options).to_bytes()
    second = ss.summarize(frame, like=first, random_state=8)
    assert second.to_bytes() == local.summarize(tables, like=first, random_state=8).to_bytes()
    assert first.merge(second).n_seen == 2 * sum(SIZES)


def test_a_target_is_matched_as_at_home(engine, folder, tables):
    frame = engine.frame(reader(folder), len(SIZES))
    wanted = pa.table({"b": np.random.default_rng(9).normal(2.0, 0.5, size=300), "w": np.arange(300) % 2.0})
    options = {"prototypes": 30, "random_state": 7, "weight": "w", "target": wanted}
    found = ss.summarize(frame, **options)
    assert found.to_bytes() == local.summarize(tables, **options).to_bytes()
    assert (found.n_target, found.n_seen) == (150, sum(SIZES))
    assert abs(found.expect("b") - 2.0) < 0.2
    summary = ss.summarize(wanted, 10, random_state=0)
    again = ss.summarize(frame, prototypes=30, random_state=7, target=summary)
    assert again.to_bytes() == local.summarize(tables, prototypes=30, random_state=7, target=summary).to_bytes()
    with pytest.raises(ss.errors.InputTypeError, match=r"target must be in memory, got .* of a cluster; gather it first"):
        ss.summarize(tables[0], target=frame)


def test_a_partition_that_cannot_be_read_is_named_in_one_error(engine, folder):
    engine.work_for_others()
    with pytest.raises(ss.errors.InputError, match=r"^partition 0 could not be read: OSError: the disk is on fire; "):
        ss.summarize(engine.frame(reader(folder, broken=0), len(SIZES)), **OPTIONS)


def test_a_partition_that_kills_every_worker_is_named(engine, folder):
    # Dask blames every task that a dead worker had: on a slow machine, others may be named beside it.
    with pytest.raises(ss.errors.InputError, match=r"^partition (\d or )*2( or \d)* could not be read: .*nothing was returned"):
        ss.summarize(engine.frame(reader(folder, deadly=2), len(SIZES)), **OPTIONS)


def test_threads_are_told_of_their_own_partition(engine, folder):
    def told(broken):
        with pytest.raises(ss.errors.InputError) as found:
            ss.summarize(engine.frame(reader(folder, broken=broken), len(SIZES)), **OPTIONS)
        return str(found.value).split(" could not be read")[0]

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(told, (2, 3))) == ["partition 2", "partition 3"]


def test_a_damaged_file_behind_the_engines_own_reader_ends_in_one_error(engine, tables, tmp_path):
    parquet.write_table(tables[0], tmp_path / "0.parquet")
    parquet.write_table(tables[3], tmp_path / "3.parquet")
    assert ss.summarize(engine.read(tmp_path), **OPTIONS).n_seen == SIZES[0] + SIZES[3]
    bytes_ = bytearray((tmp_path / "3.parquet").read_bytes())
    bytes_[4 : len(bytes_) // 2] = bytes(len(bytes_) // 2 - 4)  # the footer stays whole
    (tmp_path / "3.parquet").write_bytes(bytes_)
    with pytest.raises(ss.errors.InputError, match=r"^partition [01] could not be read: .*nothing was"):
        ss.summarize(engine.read(tmp_path), **OPTIONS)


def test_what_a_partition_holds_and_cannot_be_used_is_told(engine, folder):
    read = reader(folder)
    frame = engine.frame(lambda index: read(3).set_column(5, "w", pa.array([-1.0 if index == 4 else 1.0] * 1_500)), 5)
    with pytest.raises(ss.errors.InputError, match=r"^partition 4: .*negative"):
        ss.summarize(frame, weight="w", **OPTIONS)


def test_no_rows_at_all_are_refused(engine, folder):
    read = reader(folder)
    with pytest.raises(ss.errors.InputError, match="at least one row"):
        ss.summarize(engine.frame(lambda _: read(1), 2), **OPTIONS)


@pytest.mark.parametrize(("method", "target"), [("sbq", None), ("herd", "array"), ("frank_wolfe", "array")])
def test_distributed_herding_is_that_of_the_local_engine(engine, folder, tables, method, target, tmp_path):
    names = ["b", "count", "w"]
    read = reader(folder, killed=3, marker=str(tmp_path / "killed"))  # in the first pass
    points = [table.select(names) for table in tables]
    few = np.random.default_rng(0).normal(size=(40, 3))
    options = {"random_state": 3, "target": None if target is None else few}
    found = getattr(ss, method)(engine.columns(engine.frame(read, len(SIZES)), names), 12, **options)
    assert (tmp_path / "killed").exists()
    assert same_selection(found, chosen_locally(points, method, 12, **options))
    rows = pa.concat_tables(points).take(pa.array(found.indices))
    assert np.array_equal(np.column_stack([column.to_numpy() for column in rows.columns]), found.points)


def test_a_worker_killed_while_it_chooses_leaves_no_trace(engine, folder, tables, tmp_path):
    names, marker, home = ["b", "count", "w"], str(tmp_path / "killed"), os.getpid()

    def bell(x, y):
        if os.getpid() != home and not os.path.exists(marker):  # noqa: PTH110
            with open(marker, "w") as file:  # noqa: PTH123
                file.write(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return np.exp(-0.5 * ((x[:, None] - y[None]) ** 2).sum(axis=2))

    options = {"random_state": 3, "target": np.random.default_rng(0).normal(size=(40, 3)), "kernel": bell}
    found = ss.wkh(engine.columns(engine.frame(reader(folder), len(SIZES)), names), 12, **options)
    assert not Path(f"/proc/{int(Path(marker).read_text())}").exists()
    assert same_selection(found, chosen_locally([table.select(names) for table in tables], "wkh", 12, **options))


def test_what_fails_in_the_choice_is_not_called_a_failure_to_read(engine, folder):
    home = os.getpid()

    def shy(x, y):
        if os.getpid() != home:
            raise RuntimeError("no kernel today")
        return x @ y.T

    frame = engine.columns(engine.frame(reader(folder), len(SIZES)), ["b", "count", "w"])
    with pytest.raises(ss.errors.InputError, match=r"^source could not be worked on by \w+ .*no kernel today; nothing was"):
        ss.sbq(frame, 12, target=np.eye(3), kernel=shy)


def test_what_cannot_be_sent_to_workers_is_said(engine, folder):
    lock = threading.Lock()

    def held(x, y):
        with lock:
            return np.exp(-0.5 * ((x[:, None] - y[None]) ** 2).sum(axis=2))

    frame = engine.columns(engine.frame(reader(folder), len(SIZES)), ["b", "count", "w"])
    with pytest.raises(ss.errors.InputError, match=r"^source could not be worked on by \w+ .*; nothing was returned"):
        ss.sbq(frame, 12, target=np.eye(3), kernel=held)


def test_candidates_that_are_not_finite_are_named(engine, folder):
    read = reader(folder)

    def filled(index):
        table = read(index)
        return table if index == 3 else table.set_column(0, "a", table["a"].fill_null(0.0))

    frame = engine.columns(engine.frame(filled, len(SIZES)), ["a", "b"])
    with pytest.raises(ss.errors.InputError, match=r"^partition 3: candidates must be finite, got nan in column 'a'"):
        ss.herd(frame, 12, target=np.eye(2))
