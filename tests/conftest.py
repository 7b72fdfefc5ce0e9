"""What holds for the whole suite: examples that are the same in every run, and tests that share a worker."""

import os
import signal
import sys
from pathlib import Path

import pytest
import scipy.linalg  # noqa: F401  (it has a BLAS of its own, which is to be there when threads are limited)
from hypothesis import settings
from threadpoolctl import threadpool_limits

# Workers that compile at once would write each other's files: Numba notes a file of its cache before that file is written.
if worker := os.environ.get("PYTEST_XDIST_WORKER"):
    os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "numba" / worker))
    # Where each core has a worker, more threads of BLAS wait for one another. Processes that a test starts have theirs: no
    # variable is set, since they would inherit it.
    if int(os.environ["PYTEST_XDIST_WORKER_COUNT"]) >= (os.cpu_count() or 1):
        threadpool_limits(1, user_api="blas")

# The virtual machines of Spark live for seconds here: to compile for the long run would take longer than the tests.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

# A shell lets its background jobs ignore SIGINT, and so would every process that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A test that draws new examples in each run may fail by chance. To look for what is new, ask for it:
# `pytest --hypothesis-profile explore`, with `--hypothesis-seed` to do it again.
settings.register_profile("steady", derandomize=True, deadline=None, database=None, print_blob=True)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("steady")

# Signals that kill, POSIX locks and limits, bash and forks are not there on Windows; /proc is there on Linux alone.
collect_ignore = []
if sys.platform == "win32":
    collect_ignore += [
        "cli/test_process.py", "cli/test_start.py", "contract/test_disk.py", "contract/test_documentation.py",
        "contract/test_threads.py", "helpers/interrupts.py", "property/test_interrupts.py", "property/test_kill.py",
        "live/test_kafka_kills.py", "live/test_kills.py", "live/test_watch_command.py",
    ]  # fmt: skip
if sys.platform != "linux":
    collect_ignore += ["contract/test_memory.py", "helpers/engine_parts.py", "engines", "fuzz"]
#: Files of this name have no doctests, and pytest cannot collect two of them.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]
#: What takes longest: workers begin with it, so that none is left alone with it at the end.
LONGEST = (
    "spark", "dask", "tests/engines/test_engines.py", "tests/contract/test_documentation.py",
    "tests/cli/test_start.py", "tests/cli/test_process.py", "tests/property/test_kill.py", "tests/browser/test_pages.py",
)  # fmt: skip


def together(nodeid):
    """Return the name of the tests that share a worker: those of a file share what they set up, those of an engine it."""
    if "[spark" in nodeid or "engines/test_spark.py" in nodeid:
        return "spark"
    if "[dask" in nodeid:
        return "dask"
    return nodeid.split("::")[0]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """In a worker, start with what takes longest; the scheduler keeps this order."""
    if hasattr(config, "workerinput"):
        places = {name: place for place, name in enumerate(LONGEST)}
        items.sort(key=lambda item: places.get(together(item.nodeid), len(places)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Distribute tests for `pytest -n 2 --dist loadfile`; other modes stay as they are.

    Marks of xdist's groups would say the same, but pytest 9.2 ignores the names that xdist 3.8 gives to marked tests.
    """
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return together(nodeid)

    if config.getoption("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False  # the number of tests says little about their time
    return Together(config, log)
