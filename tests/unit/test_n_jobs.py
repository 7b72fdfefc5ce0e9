"""n_jobs: parts at fixed rows, worked on by any number of processes, with the same bytes; and what ends them all."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

import supersample as ss
from supersample import _reducing
from supersample._processes import Inline, Task, Workers, check_jobs, workers
from supersample._threads import n_workers
from supersample.errors import InputError, InputTypeError, MismatchError
from supersample.summary.partition import tree

ROWS, PART = 21_000, 4_096


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Parts of 4,096 rows, so that small tables have several."""
    for name in ("_NARROW_ROWS", "_WIDE_ROWS"):
        monkeypatch.setattr(_reducing, name, PART)


def rows(n=ROWS, seed=0):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 3, n)
    return pa.table(
        {
            "a": rng.normal(size=n) + 4.0 * kinds,
            "b": pa.array(rng.normal(size=n), mask=rng.random(n) < 0.05),
            "kind": np.array(["x", "y", "zz"])[kinds],
            "w": rng.gamma(1.0, size=n) * (rng.random(n) < 0.9),
        }
    )


def summary(source, n_jobs, **options):
    return ss.summarize(source, 20, 5, random_state=3, n_jobs=n_jobs, **options)


def made_in(given):
    """Return the bytes of a summary without the name of its source."""
    return b"".join(
        part for part in (given.prototypes, given.criticisms, given.profile) for part in [str(part.to_pydict()).encode()]
    )


def echo(frames, more=""):
    return b"".join(frames) + more.encode()


@pytest.mark.parametrize("options", [{"weight": "w", "half_life": 9_000}, {"label": "kind", "drop": ["b"]}])
def test_any_number_of_workers_gives_the_same_bytes(options):
    table = rows()
    one, several = summary(table, 1, **options), summary(table, 2 + ("weight" in options), **options)
    assert one.to_bytes() == several.to_bytes()
    assert one.n_seen == ROWS
    assert one.to_bytes() != summary(table, None, **options).to_bytes()


def test_the_same_rows_give_the_same_summary_from_every_source_that_is_read_by_number(tmp_path):
    table = rows().select(["a", "b", "kind"])
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=5_000)
    feather.write_feather(table, tmp_path / "a.arrow", chunksize=3_000)
    folder = tmp_path / "many"
    folder.mkdir()
    for place, (start, stop) in enumerate([(0, 7), (7, 10_000), (10_000, ROWS)]):
        parquet.write_table(table.slice(start, stop - start), folder / f"{place}.parquet")
    sources = [table, tmp_path / "a.parquet", tmp_path / "a.arrow", folder]
    first, *others = [made_in(summary(each, 1)) for each in sources]
    assert all(each == first for each in others)


def test_csv_json_and_arrays_are_cut_at_the_same_rows(tmp_path):
    values = np.random.default_rng(1).normal(size=(ROWS, 3)).round(6)
    np.save(tmp_path / "a.npy", values)
    frame = pa.table({f"x{place}": values[:, place] for place in range(3)}).to_pandas()
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_json(tmp_path / "a.ndjson", orient="records", lines=True, double_precision=15)
    sources = [values, tmp_path / "a.npy", tmp_path / "a.csv", tmp_path / "a.ndjson", frame]
    first, *others = [made_in(summary(each, 1)) for each in sources]
    assert all(each == first for each in others)


def test_parts_are_merged_like_the_tree_of_engines():
    for count in range(1, 12):
        parts = [Task((0, place), f"{__name__}:echo", {}, lambda place=place: [(1, b"%d " % place)]) for place in range(count)]

        def merge(key, left, right):
            return Task(key, f"{__name__}:echo", {"more": ") "}, lambda: [(0, b"("), (0, left), (0, right)])

        told = []
        found = _reducing.reduced(Inline(), parts, merge, told.append).decode()
        assert (
            found.split()
            == tree([str(place) for place in range(count)], lambda left, right: f"( {left} {right} )")
            .replace("( ", "(")
            .split()
        )
        assert sum(told) == count


def test_a_small_source_stays_one_stream():
    table = rows(PART)
    assert summary(table, 2).to_bytes() == summary(table, None).to_bytes()


def test_the_result_is_nearly_as_good_as_that_of_one_stream():
    table = rows(60_000)
    assert summary(table, 1).mmd < 1.2 * summary(table, None).mmd + 1e-4


def test_progress_counts_all_rows_once_and_ends():
    told = []
    summary(rows(), 2, progress=told.append)
    counts = [each.rows for each in told]
    assert counts == sorted(counts)
    assert counts[-1] == ROWS == told[-1].total
    assert [each.done for each in told] == [False] * (len(told) - 1) + [True]
    assert told[-1].mmd is not None


def test_like_gives_parts_the_maps_of_another_summary():
    table = rows()
    first = summary(table, 1)
    second = ss.summarize(table, like=first, random_state=9, n_jobs=1)
    assert second.merge(first).n_seen == 2 * ROWS


def test_values_that_are_no_numbers_far_into_a_file_make_the_column_text(tmp_path):
    lines = ["n,v"] + [f"{place},{'x' * 90}" for place in range(60_000)]
    lines[50_000] = "many,x"
    path = tmp_path / "late.csv"
    path.write_text("\n".join(lines) + "\n")
    one = ss.summarize(path, 5, 0, random_state=0)
    several = ss.summarize(path, 5, 0, random_state=0, n_jobs=1)
    assert several.n_seen == one.n_seen
    assert several.prototypes.schema == one.prototypes.schema
    assert several.prototypes.schema.field("n").type == pa.string()


def test_arrays_of_a_sampler():
    X = np.random.default_rng(0).normal(size=(ROWS, 3)).astype(np.float32)
    weights = np.random.default_rng(1).gamma(1.0, size=ROWS)
    for options, given in (
        ({}, {}),
        ({"n_criticisms": 4}, {"sample_weight": weights}),
        ({"regularizer": "logdet", "n_criticisms": 3, "n_held_out": 64}, {}),
        ({"half_life": 5_000.0}, {"time": np.arange(ROWS) * 1.0}),
    ):
        several = 2 if "sample_weight" in given or "regularizer" in options else 1
        found = [ss.SuperSampler(20, random_state=0, n_jobs=jobs, **options).fit(X, **given) for jobs in (1, several, None)]
        for name in ("prototypes_", "prototype_indices_", "weights_", "criticisms_", "mmd_", "n_seen_", "effective_rows_"):
            np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))
        np.testing.assert_array_equal(X[found[0].prototype_indices_], found[0].prototypes_)
        assert found[0].prototypes_.dtype == np.float32
        assert found[0].effective_rows_ == pytest.approx(found[2].effective_rows_)
        assert found[0].mmd_ < 2.0 * found[2].mmd_


def test_a_fitted_sampler_goes_on_and_merges():
    X = np.random.default_rng(0).normal(size=(ROWS, 3))
    sampler = ss.SuperSampler(20, random_state=0, n_jobs=1).fit(X)
    other = sampler.empty_like().partial_fit(X[:500])
    assert sampler.partial_fit(X[:100]).n_seen_ == ROWS + 100
    assert sampler.merge(other).n_seen_ == ROWS + 600


@pytest.mark.parametrize(
    ("bad", "kind"), [(0, InputError), (1.5, InputTypeError), ("2", InputTypeError), (True, InputTypeError)]
)
def test_a_number_that_means_nothing_is_refused(bad, kind):
    with pytest.raises(kind, match="n_jobs must be"):
        summary(rows(100), bad)
    with pytest.raises(kind, match="n_jobs must be"):
        ss.SuperSampler(5, n_jobs=bad).fit(np.ones((100, 2)))


def test_negative_numbers_count_from_all_cores():
    assert check_jobs(-1) == check_jobs(np.int64(-1)) == n_workers()
    assert check_jobs(-n_workers()) == 1
    assert check_jobs(-1_000) == 1
    assert check_jobs(np.int64(3)) == 3


def test_what_parts_cannot_do_is_refused(tmp_path):
    with pytest.raises(InputError, match="checkpoint must be left out with n_jobs"):
        summary(rows(), 2, checkpoint=tmp_path / "x")
    with pytest.raises(InputError, match="n_jobs must be left out for the generator, whose rows can only be read in order"):
        summary((each for each in rows().to_batches()), 2)
    with pytest.raises(InputError, match="n_jobs must be left out here, since workers get what can be stored"):
        summary(rows(), 2, kernel=lambda x, y: np.exp(-np.abs(x[:, None, 0] - y[None, :, 0])))


def test_an_error_in_a_part_ends_the_run_and_all_workers():
    table = rows()
    bad = table.column("w").to_numpy().copy()
    bad[15_000] = -1.0
    table = table.set_column(3, "w", pa.array(bad))
    for jobs in (1, 2):
        with pytest.raises(InputError, match="column 'w'"):
            summary(table, jobs, weight="w")


def test_a_function_that_raises_ends_all_workers():
    def tell(_):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        summary(rows(), 2, progress=tell)


def test_a_worker_that_dies_is_an_error_that_says_so():
    def frames():
        yield 0, b""

    with workers(2) as pool:
        assert isinstance(pool, Workers)
        pool.give(Task(0, "os:_exit", {}, frames), lambda _: None)
        with pytest.raises(InputError, match="a worker process failed: TypeError"):
            pool.result()
    assert all(child.poll() is not None for child in pool._children)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no such signal")
def test_a_worker_that_is_killed_is_an_error_that_says_so():
    with workers(2) as pool:

        def frames():
            while not pool._children:
                time.sleep(0.01)
            os.kill(pool._children[0].pid, signal.SIGKILL)
            yield 0, b"x" * 10_000_000

        pool.give(Task(0, f"{__name__}:echo", {}, frames), lambda _: None)
        with pytest.raises(InputError, match="ended before its work was done, with exit code -9"):
            pool.result()


def test_errors_of_workers_keep_their_kind():
    with workers(2) as pool:
        pool.give(Task(0, "supersample.summary.partition:merged_frames", {}, lambda: [(0, b"no"), (0, b"no")]), lambda _: None)
        with pytest.raises(InputError, match="the state of a partition must be a file"):
            pool.result()
    assert issubclass(MismatchError, ValueError)


OWN_KERNEL = """
import numpy as np
import supersample as ss
from supersample import _reducing

_reducing._NARROW_ROWS = _reducing._WIDE_ROWS = 4_096

{define}

ss.summarize(np.random.default_rng(0).normal(size=(20_000, 2)), 10, 0, kernel="rational", random_state=0, n_jobs=2)
"""
KERNEL = """
import os
from dataclasses import dataclass
import numpy as np
import supersample as ss
{more}

@ss.kernels.register("rational", alpha=float)
@dataclass(frozen=True)
class Rational(ss.kernels.Radial):
    alpha: float = 2.0

    @property
    def identity(self):
        return {{**super().identity, "alpha": self.alpha}}

    def profile(self, distances):
        np.power(1.0 + distances / (2.0 * self.alpha), -self.alpha, out=distances)

    def spread(self, uniforms):
        return np.sqrt(2.0 * uniforms[:, 0] / self.alpha)
"""


def run_with_kernel(folder, define):
    """Run a script that uses a kernel of its own with two workers; return its exit status and what it said."""
    run = subprocess.run([sys.executable, "-c", OWN_KERNEL.format(define=define)], cwd=folder, capture_output=True, text=True)
    return run.returncode, run.stderr


def test_a_kernel_registered_by_a_module_is_known_to_workers(tmp_path):
    (tmp_path / "mine.py").write_text(KERNEL.format(more=""))
    status, error = run_with_kernel(tmp_path, "import mine")
    assert status == 0, error


def test_a_kernel_registered_by_the_script_itself_is_refused_with_workers(tmp_path):
    status, error = run_with_kernel(tmp_path, KERNEL.format(more=""))
    assert status == 1
    assert "n_jobs must be 1 or left out here: other processes do not have what is registered as 'rational'" in error
    assert "(a script or notebook registered it itself); register it in a module that can be imported" in error


def test_why_a_module_cannot_be_imported_by_workers_is_said(tmp_path):
    only_here = 'if "HERE" not in os.environ: raise ImportError("not here")'
    (tmp_path / "mine.py").write_text(KERNEL.format(more=only_here))
    status, error = run_with_kernel(tmp_path, "import os; os.environ['HERE'] = '1'; import mine; del os.environ['HERE']")
    assert status == 1
    assert "(module mine cannot be imported there: ImportError: not here)" in error


SCRIPT = """
from pathlib import Path
import numpy as np
import supersample as ss
from supersample import _reducing

_reducing._NARROW_ROWS = _reducing._WIDE_ROWS = 65_536
X = np.random.default_rng(0).normal(size=(1_000_000, 4))

def tell(progress):
    if progress.rows > 100_000:
        print("working", *(each.read_text().strip() for each in Path("/proc/self/task").glob("*/children")), flush=True)

ss.summarize(X, 50, 5, random_state=0, n_jobs=2, progress=tell)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="children are listed by /proc")
@pytest.mark.parametrize("sent", ["SIGINT", "SIGKILL"])
def test_no_worker_outlives_an_interrupted_or_killed_parent(sent):
    run = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with run:
        line = run.stdout.readline()
        assert line.startswith("working"), run.stderr.read()
        children = [int(each) for each in line.split()[1:]]
        assert children
        run.send_signal(getattr(signal, sent))
        run.stdout.close()
        error = run.stderr.read()  # ends when no process holds it any more, workers included
    assert run.returncode != 0
    assert sent != "SIGINT" or "KeyboardInterrupt" in error
    assert not any(map(_is_alive, children))


def _is_alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False
