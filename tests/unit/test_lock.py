"""One run at a time, between threads and processes, on disks that can lock files and on those that cannot."""

import errno
import os
import threading

import pytest

from supersample._files import beside
from supersample.errors import InputError
from supersample.storage.lock import exclusive_lock

try:
    import fcntl
except ImportError:
    fcntl = None

posix = pytest.mark.skipif(fcntl is None, reason="Windows locks files by other means")


def refused(path):
    with pytest.raises(InputError, match="in use by another run"), exclusive_lock(path, "checkpoint"):
        pass


def test_it_is_held_within_the_block_and_gone_after_it(tmp_path):
    path = tmp_path / "run.checkpoint"
    for _ in range(2):
        with exclusive_lock(path, "checkpoint"):
            refused(path)
        assert not list(tmp_path.iterdir())


def test_an_error_in_the_block_lets_it_go(tmp_path):
    path = tmp_path / "run.checkpoint"
    with pytest.raises(KeyError), exclusive_lock(path, "checkpoint"):
        raise KeyError
    with exclusive_lock(path, "checkpoint"):
        pass


def test_threads_exclude_each_other(tmp_path):
    path, held, go, told = tmp_path / "run.checkpoint", threading.Event(), threading.Event(), []

    def hold():
        with exclusive_lock(path, "checkpoint"):
            held.set()
            go.wait(60)

    first = threading.Thread(target=hold)
    first.start()
    assert held.wait(60)
    refused(path)
    second = threading.Thread(target=lambda: told.append(refused(path)))
    second.start()
    second.join()
    go.set()
    first.join()
    assert told == [None]
    with exclusive_lock(path, "checkpoint"):
        pass


def test_a_file_that_a_killed_run_left_is_taken_over(tmp_path):
    path = tmp_path / "run.checkpoint"
    beside(path, "lock").write_bytes(b"left behind")
    with exclusive_lock(path, "checkpoint"):
        refused(path)
    assert not beside(path, "lock").exists()


@posix
def test_a_run_that_ends_while_the_next_begins_does_not_let_two_in(tmp_path, monkeypatch):
    path, lock = tmp_path / "run.checkpoint", fcntl.flock
    ended = []

    def removed_before(*arguments):
        if not ended:
            ended.append(beside(path, "lock").unlink())  # as the run before does when it ends
        lock(*arguments)

    monkeypatch.setattr(fcntl, "flock", removed_before)
    with exclusive_lock(path, "checkpoint"):
        assert beside(path, "lock").exists()
        refused(path)
    assert ended


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ETIMEDOUT])
@posix
def test_a_disk_that_cannot_lock_is_refused_and_not_replaced_by_less(tmp_path, monkeypatch, number):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", fail)
    with (
        pytest.raises(InputError, match=f"must name a file on a disk that can lock files.*{os.strerror(number)}"),
        exclusive_lock(tmp_path / "c", "checkpoint"),
    ):
        raise AssertionError("no lock is held here")
