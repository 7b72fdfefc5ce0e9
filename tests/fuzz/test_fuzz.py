"""A short run of what `make fuzz` does at length; and proof that a finding would be seen."""

import pytest

from fuzz.runs import run
from fuzz.targets import TARGETS, Loader


@pytest.mark.parametrize(("name", "some"), [("loader", {"refused", "loaded"}), ("readers", {"refused", "read"})])
def test_damaged_bytes_end_in_a_result_or_in_a_clear_error(name, some, tmp_path):
    target = TARGETS[name](tmp_path)
    outcomes = {target.execute(20, index) for index in range(600)}
    assert some <= outcomes  # not all is refused at the door: damage gets inside


def test_an_execution_can_be_repeated(tmp_path):
    first, second = Loader(tmp_path), Loader(tmp_path)
    for index in range(20):
        first.execute(3, index)
        spoiled = first.path.read_bytes()
        second.execute(3, index)
        assert second.path.read_bytes() == spoiled


def test_a_worker_that_ends_with_an_error_is_a_finding(capsys):
    assert run("no such target", 4, 0, 2) is None
    assert "FOUND: no such target, execution" in capsys.readouterr().out


@pytest.mark.parametrize(
    "index",
    [
        pytest.param(28131, id="names of columns that are not UTF-8"),
        pytest.param(88811, id="the same in a later batch"),
        pytest.param(56409, id="an Arrow file whose rows a data set cannot count without ending the process"),
    ],
)
def test_what_once_was_found_is_refused_or_read(index, tmp_path):
    assert TARGETS["readers"](tmp_path).execute(1, index) in ("refused", "read")
