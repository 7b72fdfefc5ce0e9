"""Integrals in parts: points asked for and told in any order, files that hold all values, and functions that fail."""

import hashlib
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import supersample as ss
from golden.make import quadratic
from supersample.errors import FunctionError, InputError, InputTypeError, MismatchError
from supersample.integration.run import Run
from supersample.integration.saved import File
from supersample.kernels import Gaussian
from supersample.storage.container import FORMAT_VERSION

LINE = ss.measures.Uniform(0.0, 1.0)


def f(x):
    return float(np.exp(-x[0]) * np.sin(7 * x[0]))


class Failing:
    """A function that fails at one call, and counts calls."""

    def __init__(self, at=None, error=None):
        self.at, self.error, self.calls = at, error or OSError("the disk is full"), []

    def __call__(self, x):
        self.calls.append(float(x[0]))
        if len(self.calls) == self.at:
            raise self.error
        return f(x)


def test_values_may_be_told_in_any_order_and_in_parts():
    run = ss.Integration(LINE, random_state=0)
    first, second = run.ask(4), run.ask(2)
    assert (first.shape, second.shape, len(run)) == ((4, 1), (2, 1), 0)
    points = np.concatenate([first, second])
    np.testing.assert_array_equal(run.pending, points)
    assert len(np.unique(points)) == 6
    run.tell(points[[5, 0]], [f(points[5]), f(points[0])])
    np.testing.assert_array_equal(run.pending, points[1:5])
    run.tell(points[3], f(points[3]))
    run.tell(points[[4, 2, 1]], [f(x) for x in points[[4, 2, 1]]])
    assert (len(run), len(run.pending)) == (6, 0)
    found = run.result()
    np.testing.assert_array_equal(found.points, points[[5, 0, 3, 4, 2, 1]])
    plain = ss.Integration(LINE, random_state=0)
    plain.tell(points, [f(x) for x in points])
    assert found.mean == pytest.approx(plain.result().mean, rel=1e-9)
    assert found.sd == pytest.approx(plain.result().sd, rel=1e-5)


def test_asking_one_by_one_gives_the_points_of_integrate():
    whole = ss.integrate(f, LINE, 11, random_state=0)
    run = ss.Integration(LINE, random_state=0)
    while len(run) < 11:
        for x in run.ask():
            run.tell(x, f(x))
    np.testing.assert_array_equal(run.result().points, whole.points)
    assert run.result().mean == whole.mean


def test_points_of_the_users_own_are_welcome():
    run = ss.Integration(LINE, random_state=0)
    run.tell([[0.25], [0.75]], [f([0.25]), f([0.75])])
    asked = run.ask(6)
    assert np.abs(asked - 0.25).min() > 0.02
    run.tell(asked, [f(x) for x in asked])
    assert run.result().mean == pytest.approx(ss.integrate(f, LINE, 20, random_state=0).mean, abs=4 * run.result().sd)


def test_a_value_told_again_counts_once():
    run, once = (ss.Integration(LINE, random_state=0) for _ in range(2))
    points = run.ask(6)
    values = [f(x) for x in points]
    once.tell(points, values)
    run.tell(points[:4], values[:4])
    run.tell(points, values)  # the first call had not been heard of
    assert len(run) == 6
    np.testing.assert_array_equal(run.result().points, once.result().points)
    noisy = ss.Integration(LINE, noise=0.1, random_state=0)
    noisy.tell(points[[0, 0]], [1.0, 1.2])
    assert len(noisy) == 2


TOLD = {
    "number of values": (([[0.1], [0.2]], [1.0]), MismatchError, "one number for each of the 2 points"),
    "nan": (([[0.1]], [np.nan]), InputError, r"values must be finite, got nan at \[0.1\]; leave that point out"),
    "words": (([[0.1]], ["much"]), InputTypeError, "values must be real numbers"),
    "columns": (([[0.1, 0.2]], [1.0]), ValueError, "points must have 1 column"),
    "outside": (([[0.2], [1.2]], [1.0, 2.0]), InputError, r"points must lie inside.*got \[1.2\] in row 1 of points, outside"),
    "two values": (([[0.1], [0.1]], [1.0, 2.0]), InputError, r"equal at equal points, got 1.0 and 2.0 at \[0.1\]; pass noise="),
}


@pytest.mark.parametrize("what", TOLD)
def test_what_cannot_be_told_changes_nothing(what, tmp_path):
    arguments, error, message = TOLD[what]
    run = ss.Integration(LINE, checkpoint=tmp_path / "run", random_state=0)
    run.ask(2)
    before = (tmp_path / "run").read_bytes()
    with pytest.raises(error, match=message):
        run.tell(*arguments)
    assert (len(run), len(run.pending)) == (0, 2)
    assert (tmp_path / "run").read_bytes() == before


def test_nothing_told_has_no_result():
    with pytest.raises(InputError, match="there are no values of f"):
        ss.Integration(LINE).result()


def test_each_value_is_in_the_file_before_the_next_call(tmp_path):
    path, sizes = tmp_path / "run", []

    def watched(x):
        held = ss.Integration(LINE, checkpoint=path)
        sizes.append((len(held), len(held.pending)))
        return f(x)

    ss.integrate(watched, LINE, 8, checkpoint=path, random_state=0)
    assert sizes == [(0, 5), (1, 4), (2, 3), (3, 2), (4, 1), (5, 1), (6, 1), (7, 1)]
    assert [each.name for each in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("seed", [0, None])
def test_a_failed_run_resumes_from_its_file_and_calls_no_point_again(tmp_path, seed):
    path, failing = tmp_path / "run", Failing(at=8)
    with pytest.raises(
        FunctionError, match=r"f failed after 7 of 12 calls, at \[0\.\d+\]: OSError: the disk is full.*7 values"
    ) as raised:
        ss.integrate(failing, LINE, 12, checkpoint=path, random_state=seed)
    assert isinstance(raised.value.__cause__, OSError)
    assert str(path) in str(raised.value)
    assert raised.value.integral.values.tolist() == [f([x]) for x in failing.calls[:7]]
    again = Failing()
    found = ss.integrate(again, LINE, 12, checkpoint=path, random_state=seed)
    assert again.calls[0] == failing.calls[7]
    assert failing.calls[:7] + again.calls == found.points[:, 0].tolist()
    if seed is not None:
        np.testing.assert_array_equal(found.points, ss.integrate(f, LINE, 12, random_state=seed).points)
    silent = Failing()
    assert ss.integrate(silent, LINE, 12, checkpoint=path, random_state=seed).mean == found.mean
    assert silent.calls == []
    assert len(ss.integrate(f, LINE, 14, checkpoint=path, random_state=seed)) == 14


def test_a_failed_run_without_a_file_is_in_the_error():
    failing = Failing(at=6)
    with pytest.raises(FunctionError, match=r"after 5 of 9 calls.*5 values before are in resume=error.integral") as raised:
        ss.integrate(failing, LINE, 9, random_state=0)
    found = ss.integrate(f, LINE, 9, resume=raised.value.integral)
    np.testing.assert_array_equal(found.points, ss.integrate(f, LINE, 9, random_state=0).points)
    with pytest.raises(FunctionError, match="No value was known before") as nothing:
        ss.integrate(Failing(at=1), LINE, 9, random_state=0)
    assert nothing.value.integral is None


@pytest.mark.parametrize("at", [3, 7])  # values are told during a round, and after the last one of a round
@pytest.mark.parametrize("what", ["told", "asked"])
def test_values_that_cannot_be_saved_are_in_the_error(tmp_path, monkeypatch, at, what):
    """The folder disappears during a call, or between a value and the next points."""
    folder, calls = tmp_path / "folder", []
    folder.mkdir()

    def called(x):
        calls.append(x[0])
        if len(calls) == at and what == "told":
            shutil.rmtree(folder)
        return f(x)

    ask = Run.ask

    def asked(run, n):
        if len(run) >= at and what == "asked":
            shutil.rmtree(folder)
        return ask(run, n)

    monkeypatch.setattr(Run, "ask", asked)
    with pytest.raises(FunctionError, match=r"create the folder.*stopped after \d of 12 calls.*error.integral") as raised:
        ss.integrate(called, LINE, 12, checkpoint=folder / "run", random_state=0)
    monkeypatch.undo()
    assert len(calls) >= at
    assert f"all {len(calls)} values" in str(raised.value)
    assert isinstance(raised.value.__cause__, InputError)
    assert raised.value.integral.values.tolist() == [f([x]) for x in calls]
    found = ss.integrate(f, LINE, 12, resume=raised.value.integral, checkpoint=tmp_path / "other")
    np.testing.assert_array_equal(found.points, ss.integrate(f, LINE, 12, random_state=0).points)


def test_an_interrupt_while_a_value_is_saved_says_the_value(tmp_path, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    def called(x):
        calls = len(ss.Integration(LINE, checkpoint=tmp_path / "run"))
        if calls == 2:
            monkeypatch.setattr(File, "write", stopped)
        return 10.0 + calls

    with pytest.raises(KeyboardInterrupt) as raised:
        ss.integrate(called, LINE, 9, checkpoint=tmp_path / "run", random_state=0)
    (note,) = raised.value.__notes__
    assert "after 3 calls" in note
    assert "values [10.0, 11.0, 12.0]" in note


@pytest.mark.parametrize("with_file", [True, False])
def test_an_interrupt_says_what_is_known(tmp_path, with_file):
    path = tmp_path / "run" if with_file else None
    stopped = Failing(at=4, error=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt) as raised:
        ss.integrate(stopped, LINE, 9, checkpoint=path, random_state=0)
    (note,) = raised.value.__notes__
    assert (str(path) in note) if with_file else (repr([[x] for x in stopped.calls[:3]]) in note)


def test_a_killed_process_leaves_all_values_told(tmp_path):
    script = """
        import os, sys
        import supersample as ss
        calls = []
        def f(x):
            calls.append(x[0])
            if len(calls) == 7:
                os._exit(9)
            return x[0] ** 2
        ss.integrate(f, ss.measures.Uniform(0.0, 1.0), 10, checkpoint=sys.argv[1], random_state=0)
    """
    path = tmp_path / "run"
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script), os.fspath(path)], check=False)
    assert done.returncode == 9
    calls = []
    found = ss.integrate(lambda x: calls.append(x) or x[0] ** 2, LINE, 10, checkpoint=path, random_state=0)
    assert (len(calls), len(found)) == (4, 10)


OTHERS = {
    "measure": ({"measure": ss.measures.Uniform(0.0, 2.0)}, r"\(high of the measure: \[1.0\] then, \[2.0\] now\)"),
    "type": ({"measure": ss.measures.Empirical([[0.5], [0.7]])}, r"measure: Uniform then, Empirical now"),
    "kernel": ({"kernel": Gaussian(0.3)}, r"kernel: None then, 'Gaussian\(bandwidth=0.3\)' now"),
    "family": ({"kernel": "matern32"}, "kernel: None then, 'matern32' now"),
    "amplitude": ({"amplitude": 2.0}, "amplitude: None then, 2.0 now"),
    "noise": ({"noise": 0.1}, "noise: None then, 0.1 now"),
    "method": ({"method": "sbq"}, "method: 'wkh' then, 'sbq' now"),
    "candidates": ({"candidates": [[0.1], [0.2]]}, "candidates: None then"),
    "seed": ({"random_state": 1}, "random_state: .* then, .* now"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_the_file_of_another_integral_is_refused(tmp_path, what):
    ss.integrate(f, LINE, 5, checkpoint=tmp_path / "run", random_state=0)
    before = (tmp_path / "run").read_bytes()
    options, message = OTHERS[what]
    options = {"measure": LINE, "random_state": 0, **options}
    with pytest.raises(MismatchError, match=f"belongs to another integral .*{message}"):
        ss.integrate(f, options.pop("measure"), 6, checkpoint=tmp_path / "run", **options)
    assert (tmp_path / "run").read_bytes() == before


def test_long_parameters_of_another_measure_are_named_by_their_shape(tmp_path):
    one, other = (ss.measures.Empirical(LINE.sample(40, seed)) for seed in (1, 2))
    ss.integrate(f, one, 5, checkpoint=tmp_path / "run", random_state=0)
    with pytest.raises(MismatchError, match=r"points of the measure: 40 x 1 numbers, digest \w+ then, 40 x 1 numbers, digest"):
        ss.integrate(f, other, 6, checkpoint=tmp_path / "run", random_state=0)
    mixture = [ss.measures.GaussianMixture([1.0], [[0.0]], [[[variance]]]) for variance in (1.0, 2.0)]
    ss.integrate(f, mixture[0], 5, checkpoint=tmp_path / "mixture", random_state=0)
    with pytest.raises(MismatchError, match=r"\(covariances of the measure: \[\[\[1.0\]\]\] then, \[\[\[2.0\]\]\] now\)"):
        ss.integrate(f, mixture[1], 6, checkpoint=tmp_path / "mixture", random_state=0)


def test_files_that_are_no_integrals_are_refused(tmp_path):
    for name, content in (("text", b"x,y\n1,2\n"), ("empty", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match="checkpoint must name a file that integrate wrote, or a new one"):
            ss.integrate(f, LINE, 5, checkpoint=tmp_path / name)
    ss.integrate(f, LINE, 5, checkpoint=tmp_path / "run", random_state=0)
    data = (tmp_path / "run").read_bytes()
    for cut in (10, len(data) // 2, len(data) - 1):
        (tmp_path / "part").write_bytes(data[:cut])
        with pytest.raises(InputError, match="checkpoint must name a file that integrate wrote"):
            ss.Integration(LINE, checkpoint=tmp_path / "part")
    summary = ss.summarize(np.random.default_rng(0).normal(size=(200, 2)), prototypes=3, random_state=0)
    summary.save(tmp_path / "summary")
    with pytest.raises(InputError, match="holds no values of a function"):
        ss.Integration(LINE, checkpoint=tmp_path / "summary")
    with pytest.raises(InputError, match="run"):
        ss.load(tmp_path / "run")
    with pytest.raises(InputError, match="create the folder"):
        ss.integrate(f, LINE, 5, checkpoint=tmp_path / "no" / "run")


def test_two_runs_share_a_file_and_lose_nothing(tmp_path):
    one = ss.Integration(LINE, checkpoint=tmp_path / "run", random_state=0)
    other = ss.Integration(LINE, checkpoint=tmp_path / "run")
    mine, theirs = one.ask(3), other.ask(3)
    assert len(np.unique(np.concatenate([mine, theirs]))) == 6
    one.tell(mine, [f(x) for x in mine])
    np.testing.assert_array_equal(other.pending, theirs)
    assert len(other) == 3  # what another run has told counts at once
    other.tell(theirs, [f(x) for x in theirs])
    assert len(other) == len(one) == 6
    assert len(one.pending) == 0
    assert len(ss.Integration(LINE, checkpoint=tmp_path / "run")) == 6


def test_a_run_in_progress_holds_its_file(tmp_path):
    def second(x):
        with pytest.raises(InputError, match="in use by another run"):
            ss.integrate(f, LINE, 6, checkpoint=tmp_path / "run")
        return f(x)

    ss.integrate(second, LINE, 6, checkpoint=tmp_path / "run", random_state=0)


def test_a_result_goes_on_in_a_new_file(tmp_path):
    first = ss.integrate(f, LINE, 6, random_state=0)
    more = ss.integrate(f, LINE, 8, resume=first, checkpoint=tmp_path / "run")
    assert len(ss.Integration(LINE, checkpoint=tmp_path / "run")) == len(more) == 8
    with pytest.raises(InputError, match="does not exist yet if resume is given"):
        ss.integrate(f, LINE, 9, resume=first, checkpoint=tmp_path / "run")


def test_rows_are_called_a_round_at_a_time_and_once_where_values_do_not_matter():
    rounds = []

    def rows(x):
        rounds.append(len(x))
        return np.exp(-x[:, 0])

    ss.integrate(rows, LINE, 13, vectorized=True, random_state=0)
    assert rounds == [5, 1, 1, 1, 2, 2, 1]
    rounds.clear()
    ss.integrate(rows, LINE, 13, kernel=Gaussian(0.2), vectorized=True, random_state=0)
    assert rounds == [13]


def test_all_candidates_are_called_once():
    run = ss.Integration(LINE, candidates=[[0.1], [0.5], [0.9]])
    points = run.ask(5)
    assert sorted(points[:, 0].tolist()) == [0.1, 0.5, 0.9]
    run.tell(points, [1.0, 2.0, 3.0])
    assert run.ask(1).shape == (0, 1)
    assert "All 3 candidates have been called" in run.result().note


def test_a_run_says_what_is_known():
    run = ss.Integration(LINE, random_state=0)
    assert str(run) == "<Integration over Uniform(0.0, 1.0): 0 points, 0 told, 0 pending>\nno values yet"
    points = run.ask(8)
    run.tell(points[:5], [f(x) for x in points[:5]])
    assert repr(run) == "<Integration over Uniform(0.0, 1.0): 8 points, 5 told, 3 pending>"
    assert str(run) == f"{run!r}\n{run.result()}"


def test_the_printed_integral_is_said_to_be_an_average():
    box = ss.measures.Uniform([0, 0], [1, 2])
    found = ss.integrate(lambda x: x[0] * x[1], box, 12, random_state=0)
    assert found.mean == pytest.approx(0.5, abs=3 * found.sd)  # over the box: 1
    first = f"{found.mean:.6g} +- {found.sd:.2g} (one standard deviation), average over Uniform([0.0, 0.0], [1.0, 2.0])"
    assert str(found).startswith(f"{first}, from 12 calls of f\n")
    draws = ss.measures.Empirical(np.random.default_rng(0).normal(size=(50, 6)))
    assert "average over Empirical in 6 dimensions, from 3 calls of f" in str(ss.integrate(sum, draws, 3, random_state=0))
    assert repr(ss.measures.Uniform(np.zeros(5), np.ones(5))) == "Uniform in 5 dimensions"


def test_one_point_in_place_of_rows_is_told_its_shape():
    found = ss.integrate(lambda x: x[0] * x[1], ss.measures.Uniform([0, 0], [1, 2]), 6, random_state=0)
    with pytest.raises(InputError, match=r"pass np.reshape\(x, \(-1, 2\)\), rows of 2 columns$"):
        found.predict([0.5, 1])
    with pytest.raises(InputError, match=r"data: pass rows of 2 columns$"):
        found.predict([0.5, 1, 2])


GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("format-*/integral.checkpoint"))


def test_there_is_a_golden_file():
    assert [path.parent.name for path in GOLDEN] == ["format-3"]


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.parent.name)
def test_a_golden_file_is_resumed_without_a_call_for_what_it_holds(golden, tmp_path):
    path, calls = tmp_path / "run", []
    shutil.copy(golden, path)
    square = ss.measures.Uniform([0.0, 0.0], [1.0, 1.0])
    held = ss.Integration(square, checkpoint=path)
    assert (len(held), len(held.pending)) == (9, 2)
    first, second = held.pending

    def called(x):
        calls.append(np.array(x))
        return quadratic(x)

    found = ss.integrate(called, square, 12, checkpoint=path, random_state=5)
    assert len(found) == 12
    np.testing.assert_array_equal(calls[:2], [first, second])
    assert len(calls) == 3
    assert abs(found.mean - 0.25) < 1e-3


def test_a_file_of_a_later_format_is_refused_and_left_alone(tmp_path):
    data = bytearray(GOLDEN[-1].read_bytes())
    data[8] = FORMAT_VERSION + 1
    path = tmp_path / "run"
    path.write_bytes(bytes(data[:-32]) + hashlib.sha256(bytes(data[:-32])).digest())
    before = path.read_bytes()
    with pytest.raises(InputError, match=rf"format version {FORMAT_VERSION + 1} and this supersample reads.*; use a newer"):
        ss.Integration(ss.measures.Uniform([0.0, 0.0], [1.0, 1.0]), checkpoint=path)
    assert path.read_bytes() == before
