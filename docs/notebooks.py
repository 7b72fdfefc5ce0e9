"""Run the notebooks of docs/gallery and write them with their outputs: `make gallery`, or python docs/notebooks.py FOLDER.

The notebooks in the repository have no outputs, so that a change of one is a change of text. A cell that fails ends the run.
"""

import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

GALLERY = Path(__file__).parent / "gallery"


def run(path: Path, folder: Path) -> float:
    """Run one notebook in an empty folder, write it with its outputs, and return the seconds that it took."""
    notebook = nbformat.read(path, as_version=4)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as empty:
        client = NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": empty}})
        client.timeout = None  # a slow machine is no error
        client.shutdown_kernel = "immediate"
        client.extra_arguments = ["--IPKernelApp.log_level=ERROR"]  # it warns that it speaks without encryption, on one machine
        client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when each cell ran
    nbformat.write(notebook, folder / path.name)
    return time.perf_counter() - start


def main() -> None:
    """Run all notebooks."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.ipynb"):
        old.unlink()  # none may stay that is not of this run
    for path in sorted(GALLERY.glob("*.ipynb")):
        sys.stdout.write(f"{path.name}: {run(path, folder):.1f} s\n")


if __name__ == "__main__":
    main()
