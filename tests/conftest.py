"""What holds for the whole suite: examples that are the same in every run, and tests that stay together in one worker."""

import os

import pytest
from hypothesis import settings

# A test that draws new examples in each run may fail by chance. To look for what is new, ask for it:
# `pytest --hypothesis-profile explore`, with `--hypothesis-seed` to do it again.
settings.register_profile("steady", derandomize=True, deadline=None, database=None, print_blob=True)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("steady")

#: Files that take longest: with `pytest -n 2 --dist loadgroup --no-loadscope-reorder` workers begin with them, so that none is
#: left over for one worker at the end.
LONGEST = ("tests/engines/test_engines.py",)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Keep the tests of a file in one worker, where they share what they set up; those of Spark too, which start it once."""
    if not config.getoption("loadgroup", default=False):  # set in workers
        return
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item)))
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(_file(item), len(places)))


def _file(item):
    return item.nodeid.split("::")[0].replace(os.sep, "/")


def _group(item):
    named = item.name.endswith(("[docs/guides/cluster.md]", "[spark]")) or "[spark-" in item.name
    return "spark" if named or "session" in getattr(item, "fixturenames", ()) else _file(item)
