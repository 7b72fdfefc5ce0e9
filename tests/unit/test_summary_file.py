"""The file: whole or not at all, the same bytes for the same summary, and a clear error for everything else."""

import hashlib
import json
import os
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import supersample as ss
from supersample.errors import InputError, MismatchError
from supersample.storage.container import from_bytes


def _table(n=200):
    rng = np.random.default_rng(0)
    return pa.table({"x": rng.normal(size=n), "c": rng.choice(["a", "b"], n), "note": [f"ü {i}" for i in range(n)]})


@pytest.fixture(scope="module")
def summary():
    return ss.summarize(_table(60), prototypes=5, criticisms=2, n_features=24, random_state=0)


@pytest.fixture(scope="module")
def data(summary):
    return summary.to_bytes()


def test_what_is_saved_comes_back(summary, tmp_path):
    path = tmp_path / "s.ss"
    summary.save(path)
    again = ss.load(path)
    assert again.to_bytes() == summary.to_bytes()
    for name in ("prototypes", "criticisms", "background"):
        assert getattr(again, name).equals(getattr(summary, name))
    for name in ("n_seen", "mmd", "mmd_error", "random_mmd", "energy", "columns", "mmd_path", "kernel", "source"):
        assert getattr(again, name) == getattr(summary, name)
    assert again.feature_map == summary.feature_map
    assert [each.name for each in tmp_path.iterdir()] == ["s.ss"]


@pytest.mark.parametrize(
    "options",
    [
        {"features": "fourier"},
        {"features": "nystroem"},
        {"kernel": "laplacian"},
        {"kernel": "matern32"},
        {"kernel": ss.kernels.Gaussian(1.0) + 0.5 * ss.kernels.Cauchy(2.0)},
        {"features": ss.features.Fastfood(ss.kernels.Gaussian(2.0), 64, random_state=0)},
        {"prototypes": 1000},
    ],
    ids=str,
)
def test_every_kind_of_state_goes_on_after_a_file(options, tmp_path):
    table = _table(8_000)
    # Streams: files and tables of this size learn from rows that are spread over all of them.
    whole = ss.summarize(iter([table]), **{"prototypes": 8, "criticisms": 2, "random_state": 0, **options})
    half = ss.summarize(iter([table.slice(0, 5500)]), **{"prototypes": 8, "criticisms": 2, "random_state": 0, **options})
    half.save(tmp_path / "half.ss")
    assert ss.load(tmp_path / "half.ss").update(table.slice(5500)).to_bytes() == whole.to_bytes()


def test_loaded_summaries_can_be_liked_merged_and_compared(tmp_path):
    first = ss.summarize(_table(6000), prototypes=8, criticisms=2, random_state=0)
    first.save(tmp_path / "first.ss")
    loaded = ss.load(tmp_path / "first.ss")
    second = ss.summarize(_table(500), like=loaded, random_state=1)
    assert first.merge(second).to_bytes() == loaded.merge(second).to_bytes()
    assert first.compare(second).pvalue == loaded.compare(second).pvalue


def test_ten_thousand_flips_and_cuts_load_as_an_error(data, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "damaged.ss"
    for trial in range(10_000):
        damaged = bytearray(data)
        if trial % 4 == 0:
            del damaged[rng.integers(0, len(data)) :]
        else:
            for place in rng.integers(0, len(data), rng.integers(1, 4)):
                damaged[place] ^= 1 << rng.integers(0, 8)
        if bytes(damaged) == data:
            continue
        with pytest.raises(InputError, match=r"damaged|cut off|something else"):
            from_bytes(bytes(damaged), str(path))
    path.write_bytes(bytes(damaged))
    with pytest.raises(InputError, match=r"damaged\.ss"):
        ss.load(path)


def _forged(data, change):
    """Return a file with a changed header and a checksum that fits: what damage does not make, but malice can."""
    magic, version, length = struct.unpack_from("<8sIQ", data)
    header = json.loads(data[20 : 20 + length])
    change(header)
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    body = struct.pack("<8sIQ", magic, version, len(text)) + text + data[20 + length : -32]
    return body + hashlib.sha256(body).digest()


def _paths(tree, trail=()):
    yield trail
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from _paths(value, (*trail, key))


def _replaced(trail, value):
    def change(header):
        for key in trail[:-1]:
            header = header[key]
        if value is KeyError:
            del header[trail[-1]]
        else:
            header[trail[-1]] = value

    return change


def test_forged_headers_load_as_an_error_or_as_a_summary(data, tmp_path):
    length = struct.unpack_from("<8sIQ", data)[2]
    header = json.loads(data[20 : 20 + length])
    path = tmp_path / "forged.ss"
    refused = 0
    values = (KeyError, None, -1, 1e300, "x", {"array": 0}, {"record": "Popen", "fields": {}})
    for place, trail in enumerate(list(_paths(header))[1:]):
        for value in values[place % 2 :: 2]:  # each place gets half of them, in turn; `make fuzz` goes further
            path.write_bytes(_forged(data, _replaced(trail, value)))
            try:
                made = ss.load(path)
            except InputError as error:
                refused += "forged.ss" in str(error)
                continue
            assert isinstance(made.n_seen, int)
            str(made), made.prototypes, made.criticisms, made.to_dict()
            try:
                assert made.update(_table(30)).mmd >= 0
            except ss.errors.SupersampleError:
                continue
    assert refused > 500


def test_other_files_are_named_as_such(tmp_path, data):
    path = tmp_path / "other"
    path.write_bytes(b"PAR1 and so on, long enough to hold a header and a digest as well")
    with pytest.raises(InputError, match=r"must be a file that Summary\.save wrote"):
        ss.load(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="something else"):
        ss.load(path)
    with pytest.raises(InputError, match="No such file"):
        ss.load(tmp_path / "nothing")
    body = bytearray(data[:-32])
    struct.pack_into("<I", body, 8, 99)
    path.write_bytes(bytes(body) + hashlib.sha256(bytes(body)).digest())
    with pytest.raises(InputError, match="format version 99 and this supersample reads versions 1 to 3"):
        ss.load(path)


def test_a_failed_save_leaves_the_old_file_and_no_other(summary, tmp_path, monkeypatch):
    path = tmp_path / "s.ss"
    path.write_bytes(b"old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        summary.save(path)
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["s.ss"]
    with pytest.raises(InputError, match="No such file or directory"):
        summary.save(tmp_path / "missing" / "s.ss")


def test_a_kernel_of_ones_own_cannot_be_stored():
    made = ss.summarize(
        _table(60), prototypes=3, kernel=lambda x, y: np.minimum(np.abs(x) @ np.abs(y).T, 9.0) + 1e-3, random_state=0
    )
    with pytest.raises(InputError, match=r"the kernel function .* cannot be stored"):
        made.to_bytes()


def test_a_checkpoint_serves_one_run_at_a_time(tmp_path):
    path = tmp_path / "run.checkpoint"
    options = {"prototypes": 5, "criticisms": 2, "random_state": 0, "checkpoint": path}
    refused = []

    def rows():
        yield _table(30)
        with pytest.raises(InputError, match="in use by another run") as raised:
            ss.summarize(_table(30), **options)
        refused.append(raised.value)
        yield _table(30)

    assert ss.summarize(rows(), **options).n_seen == 60
    assert len(refused) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["run.checkpoint"]


def test_checkpoints_are_told_from_summaries_and_from_other_runs(tmp_path, summary):
    path = tmp_path / "run.checkpoint"
    options = {"prototypes": 5, "criticisms": 2, "random_state": 0}
    ss.summarize(_table(60), checkpoint=path, **options)
    with pytest.raises(InputError, match="which is a checkpoint"):
        ss.load(path)
    with pytest.raises(InputError, match="which is a partition; workers of a cluster send it to each other"):
        ss.load(Path(__file__).parents[1] / "golden" / "format-2" / "partition.ss")
    with pytest.raises(MismatchError, match="prototypes: 5 then, 6 now"):
        ss.summarize(_table(60), checkpoint=path, prototypes=6, criticisms=2, random_state=0)
    with pytest.raises(MismatchError, match=r"random_state: \[0\] then, \[1\] now"):
        ss.summarize(_table(60), checkpoint=path, prototypes=5, criticisms=2, random_state=1)
    summary.save(tmp_path / "s.ss")
    with pytest.raises(InputError, match="which is a summary"):
        ss.summarize(_table(60), checkpoint=tmp_path / "s.ss", **options)
    assert ss.summarize(_table(60), checkpoint=path, **options).n_seen == 60


@pytest.mark.parametrize("columns", [None, ["x0"], {"x0": 2.0, "x1": 1.0}])
def test_a_run_goes_on_whatever_way_its_columns_are_named(tmp_path, columns):
    data = np.random.default_rng(0).normal(size=(600, 2))
    ways = [ss.summarize(data, 5, 0, columns=columns, random_state=0, checkpoint=tmp_path / "c") for _ in range(2)]
    assert ways[0].to_bytes() == ways[1].to_bytes()


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    options = {"prototypes": 5, "criticisms": 2, "random_state": 0}

    def refused(first, second, match, **more):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.checkpoint"
        ss.summarize(first, checkpoint=path, **options)
        with pytest.raises(MismatchError, match=match):
            ss.summarize(second, checkpoint=path, **{**options, **more})

    one, other = rng.normal(size=(600, 1)), 50 + rng.normal(size=(600, 1))
    refused(one, other, "its first row is another")
    refused(iter([one]), iter([other]), "its first row is another")
    refused(iter([one]), iter([one[:100]]), "it has 100 rows, fewer than the 600 read then")
    for folder, data in (("a", one), ("b", other)):
        (tmp_path / folder).mkdir()
        pa.parquet.write_table(pa.table({"x": data[:, 0]}), tmp_path / folder / "rows.parquet")
    refused(tmp_path / "a" / "rows.parquet", tmp_path / "b" / "rows.parquet", "source: ")
    refused(one, one, "random_state", random_state=np.int64(7))


def test_a_checkpoint_knows_what_its_run_was_to_be_like(tmp_path):
    first, second = (ss.summarize(_table(n), 5, 2, random_state=0) for n in (80, 90))
    ss.summarize(_table(60), like=first, checkpoint=tmp_path / "c", random_state=0)
    with pytest.raises(MismatchError, match="like: "):
        ss.summarize(_table(60), like=second, checkpoint=tmp_path / "c", random_state=0)


def test_an_interrupted_run_has_written_its_checkpoint(tmp_path):
    def rows():
        yield _table(30)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ss.summarize(rows(), 5, 2, checkpoint=tmp_path / "c", random_state=0)
    told = []
    ss.summarize(iter([_table(60)]), 5, 2, checkpoint=tmp_path / "c", random_state=0, progress=told.append)
    assert told[0].start == 30


@pytest.mark.parametrize("path", ["", ".", "/", "a\0b"])
def test_paths_that_name_no_file_are_refused(summary, path):
    with pytest.raises(InputError, match="path must name a file"):
        summary.save(path)
    with pytest.raises(InputError, match="path must name a file"):
        ss.load(path)


def test_a_long_name_can_be_saved(summary, tmp_path):
    summary.save(tmp_path / ("n" * 250))
    assert ss.load(tmp_path / ("n" * 250)).n_seen == summary.n_seen


@pytest.mark.parametrize(
    ("trail", "value"),
    [
        (("stream", "fields", "n_seen"), -5),
        (("stream", "fields", "n_seen"), 2**70),
        (("stream", "fields", "chunks"), -1),
        (("history",), {"tuple": [1, 2]}),
        (("outcome", "fields", "mmd"), -5.0),
        (("outcome", "fields", "mmd"), {"float": "nan"}),
        (("stream", "fields", "criticisms", "fields", "size"), 10**9),
        (("stream", "fields", "background", "fields", "next_mantissa"), 0.0),
    ],
)
def test_impossible_numbers_are_refused(trail, value, tmp_path):
    data = ss.summarize(_table(6000), prototypes=5, criticisms=2, n_features=24, random_state=0).to_bytes()
    path = tmp_path / "forged.ss"
    path.write_bytes(_forged(data, _replaced(("contents", *trail), value)))
    with pytest.raises(InputError, match=r"forged\.ss does not hold a summary"):
        ss.load(path)
