"""What any version saved, this one loads: files of each format, and files from an environment with other versions."""

import hashlib
import importlib
import json
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from golden.make import MADE, mixed, plain, timed
from golden.pass_on import PASSED, saved_again
from supersample import _stored
from supersample.engines import partition_tasks as parts
from supersample.errors import InputError, MismatchError
from supersample.history.folder import MAIN
from supersample.records.encoding.column_type import COLUMN_TYPES
from supersample.storage.container import FORMAT_VERSION, from_bytes

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
FILES = sorted(GOLDEN.glob("format-*/*.ss"))
HISTORIES = sorted(GOLDEN.glob("format-*/history"))
#: The version that wrote the tables in a folder: others may lay the same table out in other bytes.
WRITTEN_BY = {"format-1": "26", "format-2": "26", "format-3": "26"}


#: Rows of the golden summaries that are not of 240.
N_ROWS = {"summary-running": 5_600, "summary-long": 8_300, "summary-like": 60, "summary-exact-search": 300}


def assert_same_contents(left, right):
    """Check that two files hold the same header, arrays and table, to the bit."""
    first, second = from_bytes(left, "left"), from_bytes(right, "right")
    assert first.header == second.header
    assert len(first.arrays) == len(second.arrays)
    for one, other in zip(first.arrays, second.arrays, strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    assert first.table.equals(second.table, check_metadata=True)


def assert_moved_on(earlier, again):
    """Check that a file of an earlier format is saved in the present one, with all that it held."""
    first, second = from_bytes(earlier, "earlier"), from_bytes(again, "again")
    assert again[8] == FORMAT_VERSION
    assert first.table.equals(second.table, check_metadata=True)
    for key in ("kind", "source", "more"):
        assert first.header[key] == second.header[key]
    for key in ("encoding", "settled_encoding"):
        held, now = first.header[key], second.header[key]
        assert (held is None) == (now is None)
        assert held is None or held["notes"] == now["notes"]
    for key in ("settings", "plan", "stream", "history", "positions", "settled"):
        assert held_values(first, key) == held_values(second, key), key
    assert saved_again(again, "again") == again


def held_values(contents, key):
    """Return what a file holds under a key, arrays as bytes, without what later formats added or replaced."""

    def plain(tree):
        if isinstance(tree, dict) and tree.keys() == {"array"}:
            array = contents.arrays[tree["array"]]
            return array.dtype.str, array.shape, array.tobytes()
        if isinstance(tree, dict):
            return {name: plain(each) for name, each in tree.items() if name not in ("criticisms", "rare", "dependence")}
        return [plain(each) for each in tree] if isinstance(tree, list) else tree

    return plain(contents.header[key])


def test_this_version_has_golden_files_of_its_format():
    present = {path.stem for path in (GOLDEN / f"format-{FORMAT_VERSION}").glob("*.ss")}
    assert present == set(MADE)
    assert {path.parent.name for path in FILES} == set(WRITTEN_BY)
    assert (GOLDEN / f"format-{FORMAT_VERSION}" / "history") in HISTORIES


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_golden_file_is_saved_again_as_it_was(path):
    data = path.read_bytes()
    again = saved_again(data, path.name)
    if path.parent.name != f"format-{FORMAT_VERSION}":
        assert_moved_on(data, again)
        return
    assert_same_contents(data, again)
    if pa.__version__.split(".")[0] == WRITTEN_BY[path.parent.name]:
        assert again == data


@pytest.mark.parametrize("path", [path for path in FILES if path.stem.startswith("summary")], ids=lambda path: path.stem)
def test_a_golden_summary_can_be_used(path):
    summary = ss.load(path)
    n_rows = N_ROWS.get(path.stem, 240)
    assert summary.n_seen == n_rows
    rows = summary.prototypes
    weights = rows["_weight"].to_numpy()
    assert abs(weights.sum() - 1.0) < 1e-9
    assert len(summary.mmd_path) == (n_rows >= 8192)
    unprofiled = path.parent.name == "format-1" and path.stem in ("summary-running", "summary-long", "summary-like")
    assert ("no profile" in {note.kind for note in summary.notes}) == unprofiled  # the others still had all their rows
    if n_rows == 240 and path.stem not in ("summary-roles", "summary-cycle"):  # rows came back as they went in
        source = mixed(240)
        assert rows.select(source.column_names).equals(source.take(rows["_row"].combine_chunks()))
        assert summary.compare(ss.summarize(source, like=summary, random_state=1)).pvalue > 0.05
        weight = next((each.name for each in summary.columns if each.kind == "weight"), None)
        apart = ss.summarize(source, 10, 2, weight=weight, random_state=1)
        assert summary.compare(apart).pvalue > 0.05
    assert 0 < summary.mmd < 0.5
    assert summary.merge(ss.load(path)).n_seen == 2 * n_rows


@pytest.mark.parametrize("folder", HISTORIES, ids=lambda path: path.parent.name)
def test_a_golden_history_can_be_used(folder, tmp_path):
    found = ss.History.load(folder)
    assert found.n_seen == 970
    assert [str(alarm.change) for alarm in found.alarms] == ["2024-03-02 18:00:00"]
    assert found.between("2024-03-02 18:00").n_seen == 70
    assert found.compare(("2024-03-02 10:00", "2024-03-02 18:00"), ("2024-03-02 18:00", "2024-03-03")).pvalue < 1e-6
    found.save(tmp_path / "again")
    written, again = ({path.relative_to(each): path for path in each.rglob("*.ss")} for each in (folder, tmp_path / "again"))
    assert len(written) == len(again) > 8
    if pa.__version__.split(".")[0] == WRITTEN_BY[folder.parent.name]:
        assert written.keys() == again.keys()
        # The main file has what the clock learns of the steps between rows, too, which the first histories did not know.
        same = [name for name in written if written[name].read_bytes() == again[name].read_bytes()]
        assert {str(name) for name in written.keys() - set(same)} == {MAIN}
        ss.History.load(tmp_path / "again").save(tmp_path / "third")
        assert (tmp_path / "third" / MAIN).read_bytes() == (tmp_path / "again" / MAIN).read_bytes()
    rows = timed(1_000, 900)
    assert found.update(rows.slice(970)).n_seen == 1_000
    assert len(found.alarms) == 1


@pytest.mark.parametrize("form", WRITTEN_BY)
@pytest.mark.parametrize("name", ["summary", "summary-laplacian", "summary-matern-fourier"])
def test_the_mmd_of_any_version_is_that_of_its_rows(form, name):
    """Files of formats 1 and 2 hold another MMD, with too small an error; it is measured again."""
    summary = ss.load(GOLDEN / form / f"{name}.ss")
    settled, table = summary._snapshot.settled, mixed(240)
    points = settled.encoding.points(table.to_batches()[0])
    chosen = points[summary.prototypes["_row"].to_numpy()]
    mass = table["mass"].to_numpy()
    exact = np.sqrt(ss.mmd2(chosen, points, kernel=summary.kernel, weight_x=summary.weights(), weight_y=mass))
    assert abs(summary.mmd - exact) < max(2 * summary.mmd_error, 1e-6)


def test_the_error_of_this_version_is_kept(tmp_path):
    made = ss.summarize(plain(6_000), 6, 2, random_state=0)
    made.save(tmp_path / "made.ss")
    assert ss.load(tmp_path / "made.ss").mmd_error == made.mmd_error


@pytest.mark.parametrize("form", WRITTEN_BY)
@pytest.mark.parametrize(
    ("name", "rows", "options"),
    [
        ("checkpoint", mixed(300), {"criticisms": 3, "n_features": 24}),
        ("checkpoint-running", plain(6_000), {"criticisms": 2, "n_features": 8}),
    ],
)
def test_a_golden_checkpoint_is_resumed(form, name, rows, options, tmp_path):
    path = tmp_path / "rows.checkpoint"
    shutil.copy(GOLDEN / form / f"{name}.ss", path)
    options = {"prototypes": 6, "random_state": 5, **options}
    resumed = ss.summarize(iter([rows]), **options, checkpoint=path)
    assert resumed.n_seen == rows.num_rows
    whole = ss.summarize(iter([rows]), **options)
    assert resumed.prototypes["_row"].to_pylist() == whole.prototypes["_row"].to_pylist()


def _words(header):
    """Yield every key and every text of a header."""
    if isinstance(header, dict):
        for key, value in header.items():
            yield key
            yield from _words(value)
    elif isinstance(header, list):
        for value in header:
            yield from _words(value)
    elif isinstance(header, str):
        yield header


def _is_of_the_package(cls):
    """Classes of doctests say that they are of the module whose doctest they stand in, but are not in it."""
    return cls.__module__.startswith("supersample.") and getattr(sys.modules[cls.__module__], cls.__name__, None) is cls


def test_the_golden_files_hold_all_that_a_file_can_name():
    """Every stored class of the package, and every word that one of its fields may be, is in one of them."""
    for module in pkgutil.walk_packages(ss.__path__, "supersample."):
        if not module.name.startswith(("supersample.engines.", "supersample.features.torch", "supersample.__main__")):
            importlib.import_module(module.name)
    files = [*FILES, *(path for folder in HISTORIES for path in folder.rglob("*.ss"))]
    found = {word for path in files for word in _words(from_bytes(path.read_bytes(), path.name).header)}
    own = {name: form for name, form in _stored._BY_NAME.items() if _is_of_the_package(form.cls)}
    encoding = {name for name, form in own.items() if form.cls.__module__.startswith("supersample.records.")}
    assert set(own) - encoding <= found  # the encoding of columns has a form of its own, with labels
    assert {name for name, cls in COLUMN_TYPES.items() if cls._built_in} <= found
    words = {word for form in own.values() for kind in form.fields.values() for word in re.findall(r"'([^']+)'", kind.name)}
    assert {"median", "auto", "phase", "sobol"} & words
    assert words <= found


@pytest.mark.parametrize("form", WRITTEN_BY)
def test_golden_partitions_are_merged(form):
    empty, part = ((GOLDEN / form / f"{name}.ss").read_bytes() for name in ("partition-empty", "partition"))
    other = parts.summarize_part(empty, 1, mixed(60))
    if form == "format-1":  # what an earlier version began has no profile, and what is made now has one
        with pytest.raises(MismatchError, match=r"saved by an earlier version and has no profile.*make it again from its data"):
            parts.merge_parts(part, other)
        assert parts.finish(parts.merge_parts(part, part), "a table").n_seen == 480
        return
    merged = parts.finish(parts.merge_parts(part, other), "a table")
    assert merged.n_seen == 300
    np.testing.assert_allclose(merged.prototypes["_weight"].to_numpy().sum(), 1.0)


def test_a_later_format_is_refused_by_its_number(tmp_path):
    data = bytearray((GOLDEN / f"format-{FORMAT_VERSION}" / "summary.ss").read_bytes())
    data[8] = FORMAT_VERSION + 1
    whole = bytes(data[:-32]) + hashlib.sha256(bytes(data[:-32])).digest()
    (tmp_path / "later.ss").write_bytes(whole)
    with pytest.raises(InputError, match=rf"format version {FORMAT_VERSION + 1}.*use a newer release"):
        ss.load(tmp_path / "later.ss")


def _other_environments():
    """Return the Pythons of environments that `make` made for other versions, with the package in them."""
    found = [*ROOT.glob(".venvs/*/test/bin/python"), *ROOT.glob(".venvs/*/test/Scripts/python.exe")]
    others = [path for path in sorted(found) if path.parents[2].name != ".".join(map(str, sys.version_info[:2]))]
    return [path for path in others if (path.parents[1] / ".installed").exists()]


@pytest.mark.skipif(not _other_environments(), reason="no environment of another Python (make environment PYTHON=...)")
@pytest.mark.parametrize("other", _other_environments(), ids=str)
def test_files_pass_between_environments(other, tmp_path):
    """Files from here are loaded there and saved again, files made there are loaded here: the same contents."""
    for name in PASSED:
        (tmp_path / f"{name}.ss").write_bytes(MADE[name]())
    done = subprocess.run(
        [other, "-W", "error", "-m", "golden.pass_on", tmp_path],
        cwd=ROOT / "tests",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    versions = json.loads(done.stdout)
    assert versions["python"] != ".".join(map(str, sys.version_info[:2]))
    for name in PASSED:
        ours, back, theirs = ((tmp_path / f"{name}{ending}.ss").read_bytes() for ending in ("", "-back", "-theirs"))
        assert_same_contents(ours, back)
        assert_same_contents(theirs, saved_again(theirs, "theirs"))
        if versions["pyarrow"] == pa.__version__:
            assert back == ours
            assert saved_again(theirs, "theirs") == theirs
