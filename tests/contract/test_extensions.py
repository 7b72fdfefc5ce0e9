"""Kernels, feature maps and column types written outside the package: summarised, saved, loaded, merged and compared."""

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import special

import supersample as ss
from supersample.errors import InputError, InputTypeError


@ss.kernels.register("rational", alpha=float)
@dataclass(frozen=True)
class Rational(ss.kernels.Radial):
    """(1 + r^2 / (2 alpha))^-alpha: Gaussians whose inverse squared width is Gamma distributed."""

    alpha: float = 2.0

    @property
    def identity(self):
        return {**super().identity, "alpha": self.alpha}

    def profile(self, distances):
        distances /= 2.0 * self.alpha
        distances += 1.0
        np.power(distances, -self.alpha, out=distances)

    def spread(self, uniforms):
        return np.sqrt(special.gammaincinv(self.alpha, uniforms[:, 0]) / self.alpha)


@ss.kernels.register("overlap", power=int)
class Overlap(ss.kernels.Kernel):
    """(1 + x.y)^power: neither shift-invariant nor of one size."""

    def __init__(self, power=2):
        self.power = power

    @property
    def identity(self):
        return {"kernel": "overlap", "power": self.power}

    def fill(self, left, right, out):
        out[...] = (1.0 + left @ right.T) ** self.power

    def paired(self, left, right):
        return (1.0 + np.einsum("ij,ij->i", left, right)) ** self.power


@ss.features.register("tiles", kernel=ss.kernels.Kernel, centres=np.ndarray)
class Tiles(ss.features.FeatureMap):
    """Kernel values at a few rows, scaled: a crude map, but a map."""

    dtype = np.dtype(np.float64)

    def __init__(self, kernel, centres):
        self.kernel, self.centres, self.n_features = kernel, centres, len(centres)

    @classmethod
    def from_sample(cls, kernel, sample, n_features, random_state):
        rows = np.random.default_rng(random_state).choice(len(sample), n_features or 40, replace=False)
        return cls(kernel, sample[np.sort(rows)])

    @property
    def identity(self):
        return {"map": "tiles", "kernel": dict(self.kernel.identity), "centres": self.centres.tolist()}

    def fill(self, points, out):
        self.kernel.fill(points.astype(np.float64), self.centres, out)
        out /= np.sqrt(self.n_features)


@ss.columns.register("clock", size_of_day=float)
@dataclass(frozen=True)
class Clock(ss.columns.ColumnType):
    """Times of day written as text, "23:59", on a circle."""

    size_of_day: float

    size, furthest = 2, 1.0

    @classmethod
    def learn(cls, name, column, weight, *, forced):
        if not pa.types.is_string(column.type) or not name.endswith("_clock"):
            return None
        return cls(name, weight, column.null_count > 0, 24.0)

    def takes(self, kind):
        return pa.types.is_string(kind)

    def encode(self, column, out):
        hours = np.array(
            [np.nan if each is None else int(each[:2]) + int(each[3:]) / 60 for each in column.to_pylist()], dtype=float
        )
        turn = 2.0 * np.pi * hours / self.size_of_day
        out[:, 0], out[:, 1] = np.nan_to_num(np.cos(turn)), np.nan_to_num(np.sin(turn))
        return np.isnan(hours).astype(float)


def table_of(n, seed, late=0.0):
    rng = np.random.default_rng(seed)
    minutes = ((rng.normal(12.0 + late, 2.0, n) % 24) * 60).astype(int)
    at = [
        None if drop else f"{each // 60:02d}:{each % 60:02d}" for each, drop in zip(minutes, rng.random(n) < 0.05, strict=True)
    ]
    return pa.table({"opened_clock": at, "x": rng.normal(size=n), "y": rng.gamma(2.0, size=n)})


CASES = {
    "kernel": {"kernel": "rational"},
    "kernel as an object": {"kernel": Rational(bandwidth=1.5, alpha=0.7)},
    "kernel without a spectrum": {"kernel": "overlap"},
    "feature map": {"features": "tiles"},
    "feature map as an object": {"features": Tiles(ss.kernels.Gaussian(1.0), np.random.default_rng(0).normal(size=(30, 6)))},
    "column type": {},
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_registered_works_everywhere(case, tmp_path):
    options = {"prototypes": 25, "criticisms": 4, "random_state": 0, **CASES[case]}
    first = ss.summarize(table_of(6_000, 0), **options)
    assert [(column.kind, column.width) for column in first.columns] == [("clock", 3), ("number", 1), ("number", 1)]
    first.save(tmp_path / "first.ss")
    loaded = ss.load(tmp_path / "first.ss")
    assert loaded.to_bytes() == first.to_bytes()
    assert loaded.kernel == first.kernel
    assert loaded.feature_map == first.feature_map
    assert loaded.mmd < loaded.random_mmd
    same, other = (ss.summarize(table_of(6_000, 1, late), like=loaded, random_state=1) for late in (0.0, 9.0))
    assert loaded.merge(same).n_seen == 12_000
    assert not loaded.compare(same).rejects(0.001)
    assert loaded.compare(other).rejects(0.001)
    assert loaded.compare(other).columns[0].name == "opened_clock"
    assert "<td>clock</td>" in first.report(tmp_path / "page.html").read_text().replace("\n", "")


def test_the_command_takes_what_is_registered(tmp_path):
    """Names of kernels and feature maps are looked up in the registries, not in a list of the command's own."""
    from click.testing import CliRunner

    from supersample.cli.group import group

    table, files = table_of(60, 0), [str(tmp_path / name) for name in ("rows.parquet", "rows.ss")]
    pq.write_table(table, files[0])
    options = ["--kernel", "rational", "--features", "tiles", "--n-features", "20", "-p", "5", "-c", "0", "--seed", "0"]
    done = CliRunner().invoke(group, ["summarize", files[0], "-o", files[1], *options])
    assert done.exit_code == 0, done.output
    found = ss.load(files[1])
    assert isinstance(found.feature_map, Tiles)
    assert isinstance(found.kernel, Rational)


def test_a_stream_can_be_stopped_and_resumed_in_files(tmp_path):
    rows = table_of(8_000, 2)
    options = {"prototypes": 20, "kernel": "rational", "features": "tiles", "random_state": 0}
    whole = ss.summarize(iter([rows]), **options)
    ss.summarize(rows.slice(0, 3_000), **options).save(tmp_path / "part.ss")
    assert ss.load(tmp_path / "part.ss").update(rows.slice(3_000)).prototypes.equals(whole.prototypes)


@pytest.mark.parametrize("case", ["kernel", "feature map", "column type"])
def test_where_it_is_not_registered_a_file_is_refused_in_words(case, tmp_path):
    ss.summarize(table_of(300, 0), 5, 0, random_state=0, **CASES[case]).save(tmp_path / "rows.ss")
    program = (
        "import sys, supersample as ss\ntry:\n    ss.load(sys.argv[1])\nexcept ss.errors.InputError as error:\n    print(error)"
    )
    command = [sys.executable, "-c", program, tmp_path / "rows.ss"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    assert "which is not registered here" in said
    assert "import the module that registers it and load again" in said


@pytest.mark.parametrize(
    ("encode", "told"),
    [
        (lambda column, out: out[:, 5], r"cannot encode it \(IndexError: .*\); correct its encode"),
        (lambda column, out: out.__setitem__((slice(None), 0), 0.0), "must write a finite number into every coordinate"),
        (lambda column, out: out.fill(3.0), "must write numbers of size at most furthest = 1, got 3"),
        (lambda column, out: out.fill(0.0) or np.zeros(2), "must return None, or 0.0 or 1.0 for each row"),
    ],
)
def test_a_column_type_that_encodes_wrongly_is_named(encode, told, monkeypatch):
    monkeypatch.setattr(Clock, "encode", lambda self, column, out: encode(column, out))
    with pytest.raises(InputError, match=f"^column 'opened_clock': its column type 'clock' {told}"):
        ss.summarize(table_of(100, 0), 5)


def test_kernels_are_equal_by_class_and_identity():
    assert Overlap(2) == Overlap(2) != Overlap(3)
    assert hash(Overlap(2)) == hash(Overlap(2))
    assert repr(Overlap(3)) == "Overlap(power=3)"


def test_names_are_given_once():
    with pytest.raises(InputError, match="the kernel 'gaussian' exists already; choose another name"):
        ss.kernels.register("gaussian")(Rational)
    with pytest.raises(InputError, match="the feature map 'auto' exists already; choose another name"):
        ss.features.register("auto")(Tiles)
    with pytest.raises(InputError, match="the column type 'number' exists already; choose another name"):
        ss.columns.register("number")(Clock)
    assert (
        ss.kernels.register("rational", alpha=float)(Rational) is Rational
    )  # the same class again, as a cell that is run twice


@pytest.mark.parametrize("register", [ss.kernels.register, ss.features.register, ss.columns.register])
def test_what_cannot_be_registered_is_said(register):
    with pytest.raises(InputTypeError, match=r"register must decorate a class that extends supersample\.\w+\.\w+, got"):
        register("something")(dict)
    with pytest.raises(InputTypeError, match=r"must be a word of lower-case letters, .* got 'Stream'"):
        register("Stream")({"kernels": Rational, "features": Tiles, "encoding": Clock}[register.__module__.split(".")[-2]])


def test_fields_must_be_of_types_that_a_file_holds():
    with pytest.raises(InputTypeError, match="alpha must be given as one of the types float, int"):
        ss.kernels.register("odd", alpha=complex)(Rational)
    with pytest.raises(InputTypeError, match="hours must be given as float, int, str, bool or tuple"):
        ss.columns.register("odd", hours=np.ndarray)(Clock)


def test_a_bandwidth_for_a_kernel_without_one_is_refused():
    with pytest.raises(InputError, match="bandwidth must be left out with kernel='overlap', which has none"):
        ss.summarize(table_of(100, 0), 5, kernel="overlap", bandwidth=2.0)


def test_a_format_of_ones_own_is_read_like_the_others(tmp_path, monkeypatch):
    """What CONTRIBUTING says of a format: a function and a line in the registry."""
    from supersample.records.sources import formats

    def columns_of(path):
        values = np.array(path.read_text().split(), dtype=float)
        table = pa.table({"x": values})
        return formats.DataFile(path, table.schema, len(values), lambda _, skip: iter(table.slice(skip).to_batches()))

    monkeypatch.setattr(formats.FORMATS, "_entries", {**formats.FORMATS})
    formats.FORMATS.add("plain", formats.Format((".txt",), columns_of))
    (tmp_path / "some.txt").write_text("1 2 3")
    (tmp_path / "more.txt").write_text("4 5")
    assert ss.summarize(tmp_path, 5, 0, random_state=0).prototypes["x"].to_pylist() == [4.0, 5.0, 1.0, 2.0, 3.0]


def test_an_engine_of_ones_own_gets_its_frames(monkeypatch):
    """What CONTRIBUTING says of an engine: a module with `run` and `cluster`, and a line in the registry."""
    from supersample.engines import local
    from supersample.records.sources import clusters

    class Frame(list):
        """Partitions that only their own engine can read."""

    Frame.__module__ = "elsewhere.frames"
    home = clusters.EngineHome(("elsewhere",), local.__name__)
    monkeypatch.setattr(clusters.ENGINES, "_entries", {**clusters.ENGINES, "elsewhere": home})
    parts = [table_of(3_000, seed) for seed in range(2)]
    found = ss.summarize(Frame(parts), 10, 2, random_state=0)
    assert found.to_bytes() == local.summarize(parts, prototypes=10, criticisms=2, random_state=0).to_bytes()
    arrays = [np.random.default_rng(seed).normal(size=(50, 2)) for seed in range(2)]
    assert len(ss.herd(Frame(arrays), 5, random_state=0)) == 5


def test_a_panel_of_ones_own_is_on_the_page_with_its_data(tmp_path, monkeypatch):
    """What CONTRIBUTING says of a panel: a template and a line in the registry."""
    from jinja2 import DictLoader, PackageLoader

    from supersample.report import panels, rendering

    markup = '<section id="mine"><p>{{ own }} rows, {{ view.n_columns }} columns</p></section>'

    class Loader(PackageLoader):
        def get_source(self, environment, template):
            mine = DictLoader({"panels/mine.html.j2": markup})
            return (mine if template == "panels/mine.html.j2" else super()).get_source(environment, template)

    monkeypatch.setattr(rendering, "PackageLoader", Loader)
    mine = panels.Panel("My own", "panels/mine.html.j2", lambda summary: summary.n_seen)
    monkeypatch.setattr(panels.PANELS, "_entries", {**panels.PANELS, "mine": mine})
    written = ss.summarize(table_of(80, 0), 5, 1, random_state=0).report(tmp_path / "page.html").read_text()
    assert '<a href="#mine">My own</a>' in written
    assert "<p>80 rows, 3 columns</p>" in written


def test_a_selection_rule_of_ones_own_gets_weights_path_and_resume():
    """What CONTRIBUTING says of a selection rule: a function that builds candidates, picks, and calls `assemble`."""
    from supersample._random import as_seed
    from supersample.selection.batch.assemble import assemble, begin
    from supersample.selection.batch.candidates import build

    def farthest(candidates, m, *, resume=None):
        """Take the row of the highest mean similarity, then always the one that is least similar to those taken."""
        space = build(candidates, None, "gaussian", "median", None, as_seed(0))
        count, chosen = begin(space, m, resume, refine=False, replace=False)
        while len(chosen) < count:
            near = space.gram(space.points, chosen.points).max(axis=1) if len(chosen) else -space.z
            best = int(np.argmin(near))
            chosen.add(space, best, space.row(best))
        return assemble(space, chosen, "uniform", candidates, as_seed(0))

    rows = np.random.default_rng(0).normal(size=(60, 2))
    found = farthest(rows, 6)
    resumed = farthest(rows, 6, resume=farthest(rows, 2))
    kernel = ss.kernels.Gaussian(found.kernel.bandwidth)
    np.testing.assert_array_equal(resumed.indices, found.indices)
    assert len(set(found.indices.tolist())) == 6
    np.testing.assert_allclose(found.mmd[-1] ** 2, ss.mmd2(found.points, rows, kernel=kernel), rtol=1e-9)


def test_a_command_of_ones_own_is_in_the_list(monkeypatch):
    """What CONTRIBUTING says of a command: a file with a function of its name, and a line in the list."""
    import types

    import click
    from click.testing import CliRunner

    from supersample.cli import group as group_module

    module = types.ModuleType("elsewhere_commands")
    module.count = click.command()(click.argument("word")(lambda word: click.echo(len(word))))
    monkeypatch.setitem(sys.modules, "elsewhere_commands", module)
    monkeypatch.setitem(group_module.COMMANDS, "count", ("elsewhere_commands", "Count letters."))
    monkeypatch.setitem(group_module.group.commands, "count", click.Command("count", short_help="Count letters."))
    assert "Count letters." in CliRunner().invoke(group_module.group, ["--help"]).output
    assert CliRunner().invoke(group_module.group, ["count", "supersample"]).output == "11\n"
