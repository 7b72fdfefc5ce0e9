"""Checks what `python -m build` made: wheel and sdist, each in an empty environment, with README's example and the demo.

Usage: python .ci/check_dist.py LOCK
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Files that an sdist must carry beside the package.
SDIST = (
    "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "src/supersample/py.typed",
    "tests/golden/format-1/summary.ss", "constraints/python-3.11.txt",
)  # fmt: skip
#: Files of the package that are not Python; of the page of the service all, since it loads each by its name.
WHEEL = (
    "supersample/py.typed", "supersample/report/templates/summary.html.j2", "supersample/report/templates/panels/map.html.j2",
    *(f"supersample/live/page/{each.name}" for each in (ROOT / "src" / "supersample" / "live" / "page").iterdir()),
)  # fmt: skip


def main() -> None:
    """Check the only wheel and the only sdist in dist/."""
    lock = Path(sys.argv[1]).resolve()
    (wheel,), (sdist,) = ((ROOT / "dist").glob("*.whl"), (ROOT / "dist").glob("*.tar.gz"))
    with zipfile.ZipFile(wheel) as archive:
        _require(WHEEL, archive.namelist(), wheel.name)
    with tarfile.open(sdist) as archive:
        _require(SDIST, [name.partition("/")[2] for name in archive.getnames()], sdist.name)
    for package in (wheel, sdist):
        with tempfile.TemporaryDirectory() as folder:
            _try(Path(folder), package, lock)
        print(f"{package.name}: installed, README's example and the demo run")  # noqa: T201


def _require(names: tuple[str, ...], present: list[str], archive: str) -> None:
    missing = set(names) - set(present)
    if missing:
        sys.exit(f"error: {archive} lacks {', '.join(sorted(missing))}")


def _try(folder: Path, package: Path, lock: Path) -> None:
    """Install a wheel or an sdist into an empty environment, and use it from a folder outside the repository."""
    venv.create(folder / "venv", with_pip=True)
    scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}

    def run(*command: str | Path) -> None:
        subprocess.run([scripts / command[0], *command[1:]], cwd=folder, env=environment, check=True)  # noqa: S603

    install = ("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint", lock)
    run(*install, "setuptools")  # the locked one: a build environment of its own would have the newest
    run(*install, "--no-build-isolation", package)
    where = f"import supersample; assert not supersample.__file__.startswith({str(ROOT)!r}), supersample.__file__"
    run("python", "-c", where)
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if not blocks:
        sys.exit("error: README.md has no Python example")
    (folder / "example.py").write_text("\n".join(blocks), encoding="utf-8")
    run("python", "-W", "error", "example.py")
    run("supersample", "--version")
    run("supersample", "demo", "--output", "demo")
    if not list((folder / "demo").glob("*.html")):
        sys.exit("error: the demo wrote no page")


if __name__ == "__main__":
    main()
