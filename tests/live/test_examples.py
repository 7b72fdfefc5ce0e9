"""The files of docs/examples: what they name is there."""

import configparser
import re
import shlex
from pathlib import Path

import yaml

from supersample.cli.watch import watch
from supersample.live.config import read_config
from supersample.live.metrics import _COUNTERS, _GAUGES, _WEBHOOKS

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def options(command):
    known = {each for option in watch.params for each in option.opts}
    return [each for each in shlex.split(command) if each.startswith("-")], known


def test_the_configuration_can_be_read():
    found = read_config(EXAMPLES / "live.toml", {"WEBHOOK_SECRET": "x", "SUPERSAMPLE_READ_TOKEN": "y" * 20})
    assert [(each.name, each.sources[0].kind) for each in found.streams] == [("rides", "folder")]
    assert found.webhooks[0].secret == "x"


def test_the_rules_name_metrics_that_there_are():
    known = {f"supersample_{name}" for name, *_ in _GAUGES} | {f"supersample_{name}_total" for name, *_ in _COUNTERS}
    known |= {f"supersample_{name}_total" for name, *_ in _WEBHOOKS}
    known |= {"supersample_changed", "supersample_stream_up", "supersample_source_up", "supersample_answers_total"}
    rules = yaml.safe_load((EXAMPLES / "alerts.yml").read_text())["groups"][0]["rules"]
    named = [name for each in rules for name in re.findall(r"supersample_\w+", each["expr"])]
    assert len(rules) == 8
    assert set(named) <= known
    assert {f"supersample_{name}_total" for name, *_ in _WEBHOOKS} <= set(named)


def test_the_unit_and_the_container_start_the_service_by_options_that_there_are():
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(EXAMPLES / "supersample-watch.service")
    given, known = options(unit["Service"]["ExecStart"])
    assert set(given) == {"--json", "--config", "--output"} <= known
    container = (EXAMPLES / "Containerfile").read_text()
    started = " ".join(re.findall(r"^(?:ENTRYPOINT|CMD) (\[.*\])$", container, re.MULTILINE))
    given = re.findall(r'"(--\w+)"', started)
    assert set(given) == {"--json", "--config", "--output"}
    assert re.search(r"^USER supersample$", container, re.MULTILINE)
    assert "/health" in re.search(r"^HEALTHCHECK .*\n.*$", container, re.MULTILINE)[0]
