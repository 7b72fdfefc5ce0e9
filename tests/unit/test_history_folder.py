"""Histories in a folder: saved, loaded, continued, killed, damaged."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import supersample as ss
from supersample.history import folder as folders
from supersample.storage.container import Contents, from_bytes, to_bytes
from supersample.storage.lock import exclusive_lock

START = np.datetime64("2026-03-02T00:00:00", "s")


def rows(n=7_000, start=0):
    rng = np.random.default_rng([start, 3])
    place = np.arange(start, start + n)
    return pa.table(
        {
            "when": START + place * np.timedelta64(30, "s"),
            "value": rng.normal(size=n) + 2.0 * (place >= 5_000),
            "kind": np.where(rng.random(n) < 0.3, "b", "a"),
        }
    )


def new(**options):
    return ss.History("when", "1h", random_state=0, **options)


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*.ss")}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("history") / "folder"
    new().update(rows()).save(folder)
    return folder


def test_a_loaded_history_is_the_same_and_goes_on_alike(saved, tmp_path):
    found, kept = ss.History.load(saved), new().update(rows())
    found.save(tmp_path / "again")
    assert files(tmp_path / "again") == files(saved)
    assert found.alarms == kept.alarms != ()
    assert found.between().to_bytes() == kept.between().to_bytes()
    more = rows(3_000, 7_000)
    found.update(more).save(tmp_path / "more")
    kept.update(more).save(tmp_path / "kept")
    assert files(tmp_path / "more") == files(tmp_path / "kept")


def test_few_rows_that_still_wait_are_saved(tmp_path):
    new().update(rows(100)).save(tmp_path / "folder")
    found = ss.History.load(tmp_path / "folder")
    assert found.n_seen == 100
    found.update(rows(6_900, 100))
    assert found.between().n_seen == 7_000


def test_only_blocks_that_changed_are_written_again(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "folder")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "folder" / "blocks").iterdir()}
    found = ss.History.load(tmp_path / "folder")
    found.update(rows(50, 7_000)).save(tmp_path / "folder")
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "folder" / "blocks").iterdir()}
    assert sum(after.get(path) == time for path, time in before.items()) >= len(before) - 3


def test_the_same_call_again_takes_no_row_twice_and_new_files_are_read(tmp_path):
    source, folder = tmp_path / "rows", tmp_path / "folder"
    source.mkdir()
    for place in range(3):
        pq.write_table(rows(3_000, 3_000 * place), source / f"{place}.parquet")
    first = new().update(source / "*.parquet", save_to=folder)
    again = new().update(source / "*.parquet", save_to=folder)
    assert again.n_seen == first.n_seen == 9_000
    assert again.alarms == first.alarms
    pq.write_table(rows(1_000, 9_000), source / "3.parquet")
    assert new().update(source / "*.parquet", save_to=folder).n_seen == 10_000
    with pytest.raises(ss.errors.MismatchError, match="asked for something else"):
        ss.History("when", "2h", random_state=0).update(source / "*.parquet", save_to=folder)
    pq.write_table(rows(500, 0), source / "0.parquet")
    with pytest.raises(ss.errors.MismatchError, match="they have changed since"):
        new().update(source / "*.parquet", save_to=folder)
    other = new().update(rows(100))
    with pytest.raises(ss.errors.MismatchError, match="which has 10,000 rows of another"):
        other.update(rows(10), save_to=folder)


def test_files_that_are_passed_one_by_one_are_taken_once(tmp_path):
    paths = [tmp_path / f"{place}.parquet" for place in range(4)]
    for place, path in enumerate(paths):
        pq.write_table(rows(2_000, 2_000 * place), path)
    seen = [new().update(paths[place], save_to=tmp_path / "folder").n_seen for place in (0, 1, 2, 0, 1, 2)]
    assert seen == [2_000, 4_000, 6_000, 6_000, 6_000, 6_000]
    assert new().update(tmp_path / "*.parquet", save_to=tmp_path / "folder").n_seen == 8_000
    assert new().update(paths[1:3], save_to=tmp_path / "folder").n_seen == 8_000
    pq.write_table(rows(2_500, 6_000), paths[3])
    with pytest.raises(ss.errors.MismatchError, match=r"some of these files \(.*3\.parquet\)"):
        new().update(paths[3], save_to=tmp_path / "folder")


RUN = """
import os, signal, sys
import supersample as ss
from supersample.history import history as module
source, folder, at = sys.argv[1:]
saves, write = [0], module.write_folder

def stopping(*arguments):
    saves[0] += 1
    if saves[0] == int(at):
        atomically = write.__globals__["write_atomically"]
        left = [3]
        def stop(*given):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            atomically(*given)
        write.__globals__["write_atomically"] = stop
    write(*arguments)
    if saves[0] == int(at) + 1:
        os.kill(os.getpid(), signal.SIGKILL)

module.write_folder = stopping
ss.History("when", "1h", random_state=0).update(source, save_to=folder, save_seconds=0.0)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no such signal")
def test_killed_while_it_saves_and_between_it_ends_in_the_same_bytes(tmp_path):
    """Killed in the middle of a save, before its main file, and then after whole saves, until it comes to the end."""
    for place in range(12):
        pq.write_table(rows(1_000, 1_000 * place), tmp_path / f"{place:02}.parquet")
    source = tmp_path / "*.parquet"
    new().update(source, save_to=tmp_path / "whole")
    hits = 0
    for at in (2, 1, 1, 3, 10_000):
        done = subprocess.run(
            [sys.executable, "-c", RUN, source, tmp_path / "folder", str(at)], check=False, capture_output=True, text=True
        )
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        hits += done.returncode == -signal.SIGKILL
        if (tmp_path / "folder" / "history.ss").exists():
            assert ss.History.load(tmp_path / "folder").n_seen <= 12_000
    assert hits >= 1
    found, whole = ss.History.load(tmp_path / "folder"), ss.History.load(tmp_path / "whole")
    assert found.n_seen == 12_000
    assert files(tmp_path / "folder") == files(tmp_path / "whole")
    assert found.alarms == whole.alarms


def test_two_writers_of_a_folder_are_one_after_the_other(saved, tmp_path):
    folder = tmp_path / "folder"
    shutil.copytree(saved, folder)
    left, right = ss.History.load(folder), ss.History.load(folder)
    left.update(rows(500, 7_000))
    with exclusive_lock(folder, "path"), pytest.raises(ss.errors.InputError, match="in use by another run"):
        left.save(folder)
    left.save(folder)
    right.save(folder)  # blocks that the other one removed are written again
    assert files(folder) == files(saved)
    assert ss.History.load(folder).n_seen == 7_000
    with pytest.raises(ss.errors.MismatchError, match="another run has saved to since"):
        left.update(rows(100, 7_500), save_to=folder)
    assert left.n_seen == 7_500


def test_a_history_is_loaded_whole_beside_a_save(saved, tmp_path, monkeypatch):
    """Between the main file and the blocks that it names, another save replaces both."""
    folder, read, saves = tmp_path / "folder", folders.read_file, []
    shutil.copytree(saved, folder)
    other = ss.History.load(folder)

    def overtaken(path, name):
        data = read(path, name)
        if path.name == "history.ss" and not saves:
            saves.append(path)
            other.update(rows(500, 7_000)).save(folder)
        return data

    monkeypatch.setattr(folders, "read_file", overtaken)
    assert ss.History.load(folder).n_seen == 7_500


@pytest.mark.parametrize("damage", ["cut", "flipped", "gone", "swapped"])
def test_a_damaged_folder_is_refused(saved, tmp_path, damage):
    folder = tmp_path / "folder"
    shutil.copytree(saved, folder)
    blocks = sorted((folder / "blocks").iterdir())
    if damage == "cut":
        blocks[0].write_bytes(blocks[0].read_bytes()[:-40])
    elif damage == "flipped":
        data = bytearray(blocks[0].read_bytes())
        data[len(data) // 2] ^= 1
        blocks[0].write_bytes(bytes(data))
    elif damage == "gone":
        blocks[0].unlink()
    else:
        blocks[0].write_bytes((folder / "history.ss").read_bytes())
    with pytest.raises(ss.errors.InputError):
        ss.History.load(folder)


def test_what_is_no_history_is_refused(saved, tmp_path):
    with pytest.raises(ss.errors.InputError, match="path"):
        ss.History.load(tmp_path)
    (tmp_path / "history.ss").write_bytes(ss.summarize(rows(), random_state=0).to_bytes())
    with pytest.raises(ss.errors.InputError, match="does not hold a history"):
        ss.History.load(tmp_path)
    with pytest.raises(ss.errors.InputError):
        ss.load(saved / "history.ss")


def test_names_do_not_lead_out_of_the_folder(saved, tmp_path):
    folder = tmp_path / "folder"
    shutil.copytree(saved, folder)
    (tmp_path / "outside.ss").write_bytes(next((folder / "blocks").iterdir()).read_bytes())
    held = from_bytes((folder / "history.ss").read_bytes(), "main")
    for name in ("blocks/../../outside.ss", "/etc/passwd", "blocks/a/b.ss", 3, "alarms/x.ss"):
        header = {**held.header, "blocks": [name, *held.header["blocks"]]}
        (folder / "history.ss").write_bytes(to_bytes(Contents(header, list(held.arrays), held.table)))
        with pytest.raises(ss.errors.InputError, match=r"none of its own|does not hold"):
            ss.History.load(folder)
