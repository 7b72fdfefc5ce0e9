"""What stands around the package agrees with it: workflows, lock files, citation, and the make targets that texts name."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"
YAML_FILES = sorted(
    path
    for folder in (ROOT, ROOT / ".github", WORKFLOWS, ROOT / ".github" / "ISSUE_TEMPLATE")
    for path in folder.iterdir()
    if path.suffix in (".yml", ".yaml", ".cff")
)
PAPERS = {
    "Super-Sampling with a Reservoir": (["Paige", "Sejdinovic", "Wood"], 2016),
    "Optimally-Weighted Herding is Bayesian Quadrature": (["Huszár", "Duvenaud"], 2012),
    "Geometric Rates of Convergence for Kernel-based Sampling Algorithms": (["Khanna", "Hodgkinson", "Mahoney"], 2021),
    "Online Prototypes and Criticisms": (["Anonymous"], None),
    "FastMMD: Ensemble of Circular Discrepancy for Efficient Two-Sample Test": (["Zhao", "Meng"], 2015),
}


def read(path):
    return path.read_text(encoding="utf-8")


def parsed(*parts):
    return yaml.safe_load(read(ROOT.joinpath(*parts)))


def project():
    return tomllib.loads(read(ROOT / "pyproject.toml"))["project"]


def pythons():
    """Return the supported versions of Python, lowest first."""
    found = [re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", each) for each in project()["classifiers"]]
    minors = sorted(int(each[1]) for each in found if each)
    assert minors, "the classifiers name no version of Python"
    return [f"3.{minor}" for minor in minors]


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job.get("steps", ())]


def targets_of(makefile):
    """Return the targets of a Makefile that have plain names."""
    heads = re.findall(r"^([^\s#:=][^:=\n]*):(?!=)", makefile, re.MULTILINE)
    return {name for head in heads for name in head.split() if re.fullmatch(r"[a-z][a-z0-9-]*", name)}


def targets_named():
    """Return the make targets that workflows, hooks and texts name, each with the files that name it."""
    texts = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / ".github").rglob("*.*")]
    named = [(target, path.name) for path in texts for target in re.findall(r"`make ([a-z][a-z0-9-]*)", read(path))]
    for path in WORKFLOWS.iterdir():
        commands = "\n".join(step.get("run", "") for step in steps(yaml.safe_load(read(path))))
        named += [(target, path.name) for target in re.findall(r"^make ([a-z][a-z0-9-]*)", commands, re.MULTILINE)]
    hooks = [hook for repo in parsed(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    entries = [hook["entry"].split() for hook in hooks if "entry" in hook]
    named += [(entry[1], ".pre-commit-config.yaml") for entry in entries if entry[0] == "make"]
    return named


@pytest.mark.parametrize("path", YAML_FILES, ids=lambda path: path.name)
def test_yaml_files_are_mappings(path):
    assert isinstance(yaml.safe_load(read(path)), dict)


def test_no_yaml_file_is_left_out():
    names = {path.name for path in YAML_FILES}
    assert names >= {
        "test.yml", "release.yml", "dependabot.yml", "bug.yml", "feature.yml", "config.yml",
        ".pre-commit-config.yaml", ".readthedocs.yaml", "CITATION.cff",
    }  # fmt: skip


def test_supported_pythons_start_at_the_lowest_that_installs():
    assert project()["requires-python"] == f">={pythons()[0]}"


@pytest.mark.parametrize("job", ["lint", "suite", "newest"])
def test_every_supported_python_is_tested(job):
    assert parsed(".github", "workflows", "test.yml")["jobs"][job]["strategy"]["matrix"]["python"] == pythons()


def test_the_suite_runs_on_three_systems():
    systems = parsed(".github", "workflows", "test.yml")["jobs"]["suite"]["strategy"]["matrix"]["os"]
    assert systems == ["ubuntu-latest", "macos-latest", "windows-latest"]


def test_single_jobs_use_supported_pythons():
    used = {}
    for name in ("test.yml", "release.yml"):
        for job, content in parsed(".github", "workflows", name)["jobs"].items():
            for step in content.get("steps", ()):
                version = step.get("with", {}).get("python-version", "${{ matrix.python }}")
                if "matrix" not in version:
                    used[name, job] = version.split()
    assert used["test.yml", "lowest"] == [pythons()[0]]
    assert used["test.yml", "exchange"] == [pythons()[0], pythons()[-1]]
    assert {version for each in used.values() for version in each} <= set(pythons())
    assert len(used) == 7


def test_every_supported_python_has_a_lock_file():
    assert sorted(path.name for path in (ROOT / "constraints").glob("python-*.txt")) == sorted(
        f"python-{version}.txt" for version in pythons()
    )


def test_the_site_is_built_with_the_lock_file_of_its_python():
    build = parsed(".readthedocs.yaml")["build"]
    version = build["tools"]["python"]
    assert version in pythons()
    for command in build["jobs"]["install"]:
        assert re.findall(r"constraints/\S+", command) == [f"constraints/python-{version}.txt"]


def test_hooks_use_the_locked_ruff():
    (rev,) = [repo["rev"] for repo in parsed(".pre-commit-config.yaml")["repos"] if repo["repo"].endswith("/ruff-pre-commit")]
    for version in pythons():
        locked = re.search(r"^ruff==(\S+)", read(ROOT / "constraints" / f"python-{version}.txt"), re.MULTILINE)
        assert rev == f"v{locked[1]}"


def test_only_the_upload_may_prove_who_it_is():
    """Workflows may read the repository; one job more may ask for an identity, which the upload needs."""
    more = {}
    for path in WORKFLOWS.iterdir():
        workflow = yaml.safe_load(read(path))
        assert workflow["permissions"] == {"contents": "read"}
        more |= {(path.name, name): job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    assert more == {("release.yml", "publish"): {"id-token": "write"}}
    publish = parsed(".github", "workflows", "release.yml")["jobs"]["publish"]
    assert publish["environment"] == "release"
    assert publish["needs"] == ["test", "build"]


def test_the_citation_has_the_version_and_licence_of_the_package():
    citation = parsed("CITATION.cff")
    assert (citation["version"], citation["license"]) == (project()["version"], project()["license"])


def test_the_citation_names_the_papers():
    references = parsed("CITATION.cff")["references"]
    found = {
        each["title"]: ([author.get("family-names", author.get("name")) for author in each["authors"]], each.get("year"))
        for each in references
    }
    assert found == PAPERS
    assert len(references) == len(PAPERS)


@pytest.mark.parametrize("name", ["SECURITY.md", "CODE_OF_CONDUCT.md"])
def test_links_lead_to_files(name):
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", read(ROOT / name))]
    assert targets
    assert [target for target in targets if not target.startswith("https:") and not (ROOT / target).is_file()] == []


def test_make_targets_that_are_named_exist():
    named, there = targets_named(), targets_of(read(ROOT / "Makefile"))
    assert [f"make {target} in {name}" for target, name in named if target not in there] == []
    assert {target for target, name in named if name == "test.yml"} == {
        "lint", "suite", "environment", "test-lowest", "test-once", "test-arrays", "test-s3", "docs", "dist",
    }  # fmt: skip
    assert {"dist"} == {target for target, name in named if name == "release.yml"}
    assert {target for target, name in named if name == "CONTRIBUTING.md"} >= {"test", "lock", "dist", "level", "fuzz", "soak"}


@pytest.mark.parametrize(
    ("makefile", "targets"),
    [
        ("test: lint\n\tpytest\nlint:\n\truff\n", {"test", "lint"}),
        ("suite test-newest: %: x\n", {"suite", "test-newest"}),
        ("OUT := out\nTEST ?= a\n# note: this\n$(VENVS)/%/.done: a\n.PHONY: b\n", set()),
    ],
)
def test_targets_are_read_from_a_makefile(makefile, targets):
    assert targets_of(makefile) == targets
