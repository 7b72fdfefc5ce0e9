"""What README and docs show is run, what they link to is there, and the reference has every public name.

The blocks of a page are run one after the other in one place, as a reader would: Python in one namespace, shell commands in the
folder that the Python blocks wrote to.
"""

import inspect
import os
import re
import runpy
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import pytest

import supersample as ss
from engine_parts import HELPERS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKING = [*PAGES, *(ROOT / name for name in ("BENCHMARKS.md", "CHANGELOG.md", "CONTRIBUTING.md"))]

#: Commands that are shown and not run, since they would change the environment that the tests run in.
NOT_RUN = ("pip install .", "pip install '.[dask]'")
#: What a fence may be: code that is run, what it prints, and directives of the site that list the names in the reference.
FENCES = {"python", "sh", "text", "{eval-rst}"}
#: Pages that tell what was done, with the commands to do it again (which take minutes, and data sets).
TOLD = ("papers", "decisions")


class Block(NamedTuple):
    language: str
    line: int
    code: str


def blocks(page):
    text = page.read_text()
    return [
        Block(found[1], text.count("\n", 0, found.start(2)), found[2])
        for found in re.finditer(r"^```(\S*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    ]


def name_of(page):
    return str(page.relative_to(ROOT))


def commands(block):
    return [line for line in block.code.splitlines() if line.split("  #")[0] not in NOT_RUN]


RUN = [page for page in PAGES if any(block.language in ("python", "sh") for block in blocks(page))]


#: Spark stays in the folder that it was started in, so a page with Spark has a process of its own.
ALONE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_documentation import run
print(run(Path(sys.argv[2])))
"""
WARNINGS = (
    "error",
    "ignore:PySpark does not yet fully support pandas:FutureWarning",
    "ignore:unclosed <socket:ResourceWarning",  # when its session is stopped
)


def run_alone(page):
    options = [part for each in WARNINGS for part in ("-W", each)]
    command = [sys.executable, *options, "-c", ALONE, str(Path(__file__).parent), str(page)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-4_000:]
    return int(done.stdout.splitlines()[-1])


def run(page):
    """Run the blocks of a page, and return how many there were; their assertions are those of the page."""
    mpl.use("agg")
    ran = 0
    namespace = {"__name__": "documentation"}
    for block in blocks(page):
        ran += block.language in ("python", "sh")
        if block.language == "python":
            # Empty lines before the code make an error point to its line of the page.
            exec(compile("\n" * block.line + block.code, page, "exec"), namespace)
        elif block.language == "sh":
            script = "\n".join(commands(block))
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, timeout=300, check=False
            )
            assert done.returncode == 0, f"{name_of(page)}, line {block.line}: {done.stderr}"
    return ran


def with_spark(page):
    return "pyspark" in page.read_text()


@pytest.mark.parametrize(
    "page", [page if page.name == "README.md" else pytest.param(page, marks=pytest.mark.once) for page in RUN], ids=name_of
)
def test_code_in_the_documentation_runs(page, tmp_path, monkeypatch):
    spark = with_spark(page)
    if spark and shutil.which("java") is None:
        message = f"java is not installed: the Spark session of {name_of(page)} cannot be run"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_CONF_DIR", str(HELPERS / "spark"))
    monkeypatch.setenv("PYTHONPATH", str(HELPERS), prepend=os.pathsep)
    assert (run_alone(page) if spark else run(page)) > 0


def test_no_code_is_passed_over():
    """Every fence is run, or shows what was printed; none is left open, and none hides as an indented block."""
    found = [f"{name_of(page)}: {block.language}" for page in PAGES for block in blocks(page) if block.language not in FENCES]
    for page in PAGES:
        text = page.read_text()
        assert text.count("```") == 2 * len(blocks(page)), f"{name_of(page)} has a fence that is no block"
        outside = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
        if not set(page.parts) & set(TOLD):
            found += [f"{name_of(page)}: {line}" for line in re.findall(r"^\n {4}\S.*", outside, re.MULTILINE)]
    assert found == []
    assert {page.stem for page in RUN} >= {"README", "summarise", "compare", "thin", "thin-mcmc", "integrate", "distil"}


def test_commands_that_are_not_run_are_shown():
    shown = [line.split("  #")[0] for page in PAGES for block in blocks(page) for line in block.code.splitlines()]
    assert set(NOT_RUN) <= set(shown)


@pytest.mark.parametrize("page", LINKING, ids=name_of)
def test_every_link_leads_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        headings = re.findall(r"^#+ (.*)", file.read_text(), re.MULTILINE) if anchor and file.is_file() else []
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        if not file.exists() or not file.is_relative_to(ROOT) or (anchor and anchor not in anchors):
            broken.append(target)
    assert broken == []


def test_every_page_has_its_place_on_the_site():
    settings = runpy.run_path(str(ROOT / "docs" / "_sphinx" / "contents.py"))
    listed = {"index"}
    for page, groups in settings["contents"].items():
        names = [entry.split("<")[-1].rstrip(">") for entries in groups.values() for entry in entries]
        listed |= {os.path.normpath(Path(page).parent / name) for name in names}
    shown = [*PAGES[1:], *(ROOT / "docs" / "gallery").glob("*.ipynb")]
    there = {str(page.relative_to(ROOT / "docs").with_suffix("")) for page in shown}
    assert listed == there


def test_the_reference_has_every_public_name():
    """Each name once, and no name that is not there."""
    text = "\n".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    documented = re.findall(r"^\.\. auto(?:function|class|exception|data):: (\S+)", text, re.MULTILINE)
    public = {
        f"{prefix}.{name}"
        for prefix, module in (
            ("supersample", ss),
            ("supersample.kernels", ss.kernels),
            ("supersample.features", ss.features),
            ("supersample.columns", ss.columns),
            ("supersample.measures", ss.measures),
            ("supersample.errors", ss.errors),
            ("supersample.live", ss.live),
            ("supersample.report", __import__("supersample.report", fromlist=["__all__"])),
        )
        for name in module.__all__
        if not isinstance(getattr(module, name), types.ModuleType)
    }
    assert len(set(documented)) == len(documented)
    assert set(documented) == public


def test_words_in_signatures_are_explained():
    """Names in public signatures that are neither public themselves nor Python's stand on the page of types."""
    explained = set(re.findall(r"py:type:: (\w+)", (ROOT / "docs" / "reference" / "types.md").read_text()))
    words = set()
    for name in ss.__all__:
        value = getattr(ss, name)
        if inspect.isfunction(value):
            source = inspect.getsource(inspect.unwrap(value))
            head = source[source.index("def ") : source.index('"""')]
            words |= set(re.findall(r"(?<![.\w\"])[A-Z]\w+(?!\w*\")", re.sub(r"\"[^\"]*\"", "", head)))
    known = {"Any", "Callable", "Literal", "Mapping", "Sequence", "None", "True", "False", "PathLike", "Iterable", "ArrayLike"}
    public = {*ss.__all__, *ss.kernels.__all__, *ss.features.__all__, *ss.measures.__all__}
    assert words - known - public <= explained


def test_pictures_are_small_and_used():
    """Each picture of the concepts is shown by a page, drawn by the script, and under 100 kB."""
    folder = ROOT / "docs" / "concepts" / "img"
    shown = {
        name for page in (ROOT / "docs" / "concepts").glob("*.md") for name in re.findall(r"\(img/(\S+)\)", page.read_text())
    }
    drawn = re.search(r"PICTURES.*?= \((.*?)\)", (ROOT / "docs" / "pictures.py").read_text(), re.DOTALL)
    names = {f"{name.replace('_', '-')}.svg" for name in re.findall(r"\w+", drawn[1])}
    assert {path.name for path in folder.iterdir()} == shown == names
    assert all(path.stat().st_size < 100_000 for path in folder.iterdir())
