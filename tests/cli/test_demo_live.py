"""supersample demo --live: the alarms are those of what was planted, and the service ends by itself."""

import itertools
import re
import urllib.error
import urllib.request

import pytest

from supersample.cli import demo_live, shop

pytest.importorskip("starlette", reason="needs the packages of supersample[live]")

PLANTED = "2024-05-04 12:00"


def alarms_of(done):
    return re.findall(r"^alarm (\d+): changed at (\S+ \S+):00 .*: (.*)$", done.stdout, re.MULTILINE)


def test_the_broken_checkout_is_the_first_alarm(run, monkeypatch):
    monkeypatch.setattr(demo_live, "hours", lambda: itertools.islice(shop.hours(), shop.BREAK + 6))
    done = run("demo", "--live", "--pace", 0, "--stay", 0)
    assert f"{PLANTED} the checkout breaks" in done.stderr
    assert alarms_of(done) == [("1", PLANTED, "status 500 0.9% -> 15.8%")]
    url = done.stdout.splitlines()[0]
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{url}/health")


@pytest.mark.once
def test_the_drift_is_the_only_other_thing_that_is_found(run):
    first, *others = alarms_of(run("demo", "--live", "--pace", 0, "--stay", 0))
    assert first[1] == PLANTED
    assert len(others) >= 1
    for _, change, what in others:
        assert "2024-05-06 12:00" < change < "2024-05-08 12:00"
        assert what.startswith("milliseconds mean")
