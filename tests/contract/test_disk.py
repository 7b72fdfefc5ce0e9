"""Files where disk, folder, name or another process stands in the way: the old file stays, and the error says why."""

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import supersample as ss
from supersample._files import beside
from supersample.errors import InputError

ROWS = np.random.default_rng(0).normal(size=(300, 2))
OPTIONS = {"prototypes": 5, "criticisms": 2, "n_features": 24, "random_state": 0}

BEGIN = """
    import resource, sys
    import numpy as np
    import supersample as ss
    rows = np.random.default_rng(0).normal(size=(300, 2))
    options = {"prototypes": 5, "criticisms": 2, "n_features": 24, "random_state": 0}
    path = sys.argv[1]

    def fill():
        # Writing more than this ends half way, as on a full disk (Python ignores the signal that goes with it).
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
"""


def _start(code, path):
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(BEGIN) + textwrap.dedent(code), str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _said(code, path):
    with _start(code, path) as process:
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return output


def test_a_save_that_fills_the_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "s.ss"
    said = _said(
        """
        summary = ss.summarize(rows, **options)
        summary.save(path)
        fill()
        try:
            summary.update(rows).save(path)
        except ss.errors.InputError as error:
            print(error)
        """,
        path,
    )
    assert said.startswith(f"path must name a file that can be written, got {str(path)!r}: File too large")
    assert ss.load(path).n_seen == 300
    assert [each.name for each in tmp_path.iterdir()] == ["s.ss"]


def test_a_run_whose_checkpoint_fills_the_disk_goes_on_from_the_old_one(tmp_path):
    path = tmp_path / "run.checkpoint"
    said = _said(
        """
        def batches():
            yield rows
            fill()
            yield rows

        try:
            ss.summarize(batches(), checkpoint=path, checkpoint_seconds=0, **options)
        except ss.errors.InputError as error:
            print(error)
        """,
        path,
    )
    assert said.startswith(f"checkpoint must name a file that can be written, got {str(path)!r}: File too large")
    assert [each.name for each in tmp_path.iterdir()] == ["run.checkpoint"]
    told = []
    again = ss.summarize(iter([ROWS, ROWS]), checkpoint=path, progress=told.append, **OPTIONS)
    assert told[0].start == 300
    assert again.to_bytes() == ss.summarize(iter([ROWS, ROWS]), **OPTIONS).to_bytes()


@pytest.mark.parametrize("killed", [False, True])
def test_two_processes_with_one_checkpoint(tmp_path, killed):
    path = tmp_path / "run.checkpoint"
    run = """
        def batches():
            yield rows
            print("ready", flush=True)
            sys.stdin.readline()
            yield rows

        print(ss.summarize(batches(), checkpoint=path, checkpoint_seconds=0, **options).n_seen)
    """
    with _start(run, path) as first:
        assert first.stdout.readline() == "ready\n"
        written = path.read_bytes()
        with pytest.raises(InputError, match="in use by another run; wait for it to end"):
            ss.summarize(iter([ROWS, ROWS]), checkpoint=path, **OPTIONS)
        assert path.read_bytes() == written
        if killed:
            first.send_signal(signal.SIGKILL)
            first.communicate()
        else:
            assert first.communicate("go on\n", timeout=120)[0] == "600\n"
    told = []
    assert ss.summarize(iter([ROWS, ROWS]), checkpoint=path, progress=told.append, **OPTIONS).n_seen == 600
    assert told[0].start == (300 if killed else 600)
    assert [each.name for each in tmp_path.iterdir()] == ["run.checkpoint"]


def test_a_link_to_a_checkpoint_is_the_checkpoint(tmp_path):
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
    path, link = tmp_path / "here" / "c", tmp_path / "there" / "link"
    link.symlink_to(path)
    refused = []

    def rows(other):
        for _ in range(2):
            yield ROWS
            with pytest.raises(InputError, match="in use by another run") as raised:
                ss.summarize(iter([ROWS]), checkpoint=other, **OPTIONS)
            refused.append(raised.value)

    for mine, other in ((link, path), (path, link)):
        ss.summarize(rows(other), checkpoint=mine, checkpoint_seconds=0, **OPTIONS)
        assert link.is_symlink()
        assert [each.name for each in path.parent.iterdir()] == ["c"]
        path.unlink()
    assert len(refused) == 4


@pytest.mark.parametrize("name", ["n" * 252, "ü" * 120])
def test_a_checkpoint_may_have_a_long_name(tmp_path, name):
    other = tmp_path / (name[:-1] + "o")

    def rows():
        yield ROWS
        assert ss.summarize(ROWS, checkpoint=other, **OPTIONS).n_seen == 300  # another file, however alike the names
        yield ROWS

    assert ss.summarize(rows(), checkpoint=tmp_path / name, checkpoint_seconds=0, **OPTIONS).n_seen == 600
    assert {each.name for each in tmp_path.iterdir()} == {name, other.name}


def test_what_a_killed_run_left_is_removed_and_what_another_writes_is_not(tmp_path):
    path = tmp_path / "c"
    ss.summarize(ROWS, checkpoint=path, **OPTIONS)
    left, anothers = beside(path, "0123abcd.partial"), beside(tmp_path / "c.d", "0123abcd.partial")
    left.touch()
    anothers.touch()
    ss.summarize(ROWS, checkpoint=path, **OPTIONS)
    assert anothers.exists()
    assert not left.exists()


def _unread():
    raise AssertionError("rows were read, though the checkpoint cannot be written")
    yield


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("missing/c", "No such file or directory; create the folder .* first"),
        ("file/c", "Not a directory; choose another"),
        ("n" * 300, "File name too long; choose another"),
    ],
)
def test_a_checkpoint_that_cannot_be_written_is_refused_before_rows_are_read(tmp_path, place, why):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=f"checkpoint must name a file that can be written, got .*: {why}"):
        ss.summarize(_first_then(_unread()), checkpoint=tmp_path / place, **OPTIONS)


def _first_then(rest):
    """Yield the rows that every source is asked for to learn its columns, then the rest."""
    yield ROWS
    yield from rest


def test_a_folder_that_may_not_be_written_is_named(tmp_path, monkeypatch):
    opened = os.open

    def refuse(path, *args, **kwargs):
        if str(path).endswith(".lock"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)  # and not its permissions, which do not hold for root
    with pytest.raises(InputError, match=r"checkpoint must name a file that can be written, got .*: Permission denied"):
        ss.summarize(ROWS, checkpoint=tmp_path / "c", **OPTIONS)


def test_a_disk_without_locks_is_not_called_in_use(tmp_path, monkeypatch):
    def none(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.raises(InputError, match=r"checkpoint must name a file on a disk that can lock files.*No locks available"):
        ss.summarize(ROWS, checkpoint=tmp_path / "c", **OPTIONS)


@pytest.mark.parametrize(("number", "raises"), [(errno.EIO, True), (errno.EINVAL, False), (errno.EACCES, False)])
def test_a_folder_that_cannot_be_flushed(tmp_path, monkeypatch, number, raises):
    def fail(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))

    summary = ss.summarize(ROWS, **OPTIONS)
    monkeypatch.setattr(os, "fsync", fail)
    if raises:
        with pytest.raises(
            InputError, match=r"was written whole, .* its folder could not be flushed to the disk: Input/output"
        ):
            summary.save(tmp_path / "s.ss")
    else:
        summary.save(tmp_path / "s.ss")
    assert ss.load(tmp_path / "s.ss").n_seen == 300


@pytest.mark.parametrize("make", [lambda lock: lock.symlink_to(lock.with_name("elsewhere")), os.mkfifo])
def test_what_stands_in_the_place_of_the_lock_is_neither_followed_nor_waited_for(tmp_path, make):
    make(tmp_path / ".c.lock")
    with pytest.raises(InputError, match="checkpoint must name a file that can be written"):
        ss.summarize(ROWS, checkpoint=tmp_path / "c", **OPTIONS)
    assert not (tmp_path / "elsewhere").exists()
