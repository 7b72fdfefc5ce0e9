"""supersample watch: a service that watches streams."""

import signal
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from supersample.cli import STOPPED
from supersample.cli.installed import check_live
from supersample.cli.interrupts import starting
from supersample.cli.options import column_options, column_settings, quiet, seed, whole_or_text
from supersample.cli.output import say, tell, tell_json
from supersample.cli.runner import load
from supersample.errors import InputError

if TYPE_CHECKING:
    from supersample.live.settings import ServiceSettings

__all__ = ["watch"]

#: Arguments of ss.History with an option of the same name.
_ARGUMENTS = ("time", "every", "season", "lateness", "keep", "run_length", "guarantee", "at_least", "weight")


@click.command(short_help="Watch streams as a service, with a page and alarms.")
@click.argument("source", metavar="[SOURCE]", required=False)
@click.option(
    "--config", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Streams, sources and limits, as TOML."
)
@click.option("--name", default="stream", show_default=True, metavar="NAME", help="The name of the stream.")
@click.option("--time", metavar="COLUMN", help="The column that says when rows happened.  [default: rows are counted]")
@click.option("--every", metavar="SPAN", callback=whole_or_text, help="The span of a block: 15m, 1h, 1d, or 1000 rows.")
@click.option("--season", metavar="SPAN", callback=whole_or_text, help="After this the stream repeats itself: 1d, 7d.")
@click.option("--lateness", metavar="SPAN", callback=whole_or_text, help="How late rows may come to be looked at.")
@click.option("--keep", metavar="SPAN", callback=whole_or_text, help="The age at which blocks are dropped.  [default: never]")
@click.option(
    "--run-length",
    metavar="SPAN",
    callback=whole_or_text,
    help="The time between false alarms, on average.  [default: 10000 blocks]",
)
@click.option("--guarantee", type=click.Choice(["asymptotic", "exact"]), help="How that is kept.  [default: asymptotic]")
@click.option("--at-least", type=click.FloatRange(0, 2), metavar="MMD", help="The smallest change that matters.  [default: 0]")
@click.option("--no-volume", is_flag=True, help="Do not watch the number of rows.")
@column_options
@click.option("--weight", metavar="COLUMN", help="The column that says what each row counts for.")
@click.option("--like", type=click.Path(), metavar="FILE", help="Encode as this summary does.")
@seed
@click.option(
    "--format",
    "form",
    type=click.Choice(["ndjson", "csv"]),
    help="What lines of SOURCE, or messages, are.  [default: by its name, or ndjson]",
)
@click.option(
    "--kafka",
    metavar="SERVERS/TOPICS",
    help="Read topics of Kafka, from their beginning: broker:9092/rides. Names with commas.",
)
@click.option(
    "--kafka-settings",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Settings of librdkafka as name=value, such as sasl.password; no secret is an argument.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Where everything is kept.  [default: live]",
)
@click.option("--host", metavar="ADDRESS", help="Where to listen; anything but loopback needs tokens.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), metavar="PORT", help="0 takes one that is free.  [default: 8125]")
@click.option(
    "--certificate", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="A certificate, for https."
)
@click.option("--key", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Its key.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line for each thing that happens.")
@click.option("--fail-on-change", is_flag=True, help="Exit with status 1 if an alarm was raised.")
@quiet
def watch(source: str | None, config: Path | None, as_json: bool, fail_on_change: bool, quiet: bool, **options: Any) -> None:
    """Watch one or several streams: rows come in by HTTP, from SOURCE, or from what the configuration names; alarms go out.

    SOURCE is a file that grows, a folder in which files appear, or - for standard input. Everything is kept in a folder: after
    a kill at any moment, no row that was acknowledged is lost or counted twice. Ctrl-C saves and ends.

    Tokens come from the environment: SUPERSAMPLE_READ_TOKEN, SUPERSAMPLE_SEND_TOKEN and SUPERSAMPLE_ADMIN_TOKEN.

    \b
    Examples:
      supersample watch --name rides --time when --every 1h --season 1d -o live
      curl -H 'Content-Type: application/x-ndjson' --data-binary @rows.ndjson localhost:8125/streams/rides/rows
      tail -F app.ndjson | supersample watch - --time when --every 15m
      supersample watch --kafka broker:9092/rides --time when --every 1h
      supersample watch --config live.toml
    """
    with starting():
        check_live()
        from supersample.live.running import Running
    settings = _settings(source, config, options)
    alarms = 0

    def report(event: str, **values: Any) -> None:
        nonlocal alarms
        alarms += event == "alarm"
        if as_json:
            tell_json({"event": event, "time": datetime.now().astimezone(), **values})
        elif event == "alarm":
            tell(f"{values['stream']}: alarm {values['number']}: {values['text']}")
        elif not quiet or event not in ("started", "stopped"):
            say(f"{event}: " + ", ".join(f"{name} {value}" for name, value in values.items() if value not in ("", None)))

    running = Running(settings, report)
    interrupted = _run_until_stopped(running, report)
    if running.trouble:
        raise InputError(f"the last save failed ({running.trouble}); no acknowledged row is lost, the same command goes on")
    if interrupted:
        click.get_current_context().exit(STOPPED)
    if alarms and fail_on_change:
        click.get_current_context().exit(1)


def _run_until_stopped(running: Any, report: Any) -> bool:
    """Run until Ctrl-C, SIGTERM, or the end of standard input; return whether it was Ctrl-C."""
    interrupted = False

    def end(number: int, _: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = interrupted or number == signal.SIGINT
        running.ending.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        running.start()
        report("started", url=running.url, streams=list(running.service.streams), folder=str(running.service.settings.folder))
        try:
            running.wait()
        finally:
            running.stop()
        report("stopped", rows={name: each.history.n_seen for name, each in running.service.streams.items()})
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return interrupted


def _settings(source: str | None, config: Path | None, options: dict[str, Any]) -> "ServiceSettings":
    """Return what the configuration says, or what the options do; options of the server go before the configuration."""
    import os
    from dataclasses import replace

    from supersample.live.config import read_config, tokens_of
    from supersample.live.settings import ServerSettings, ServiceSettings, SourceSettings, StreamSettings

    server = {name: options.pop(name) for name in ("host", "port", "certificate", "key")}
    server = {name: value for name, value in server.items() if value is not None}
    folder, name, form = (options.pop(each) for each in ("output", "name", "form"))
    kafka = {each: options.pop(each) for each in ("kafka", "kafka_settings")}
    history = _history(options)
    if config is not None:
        given = "SOURCE" if source else next((name for name, each in (history | kafka).items() if each is not None), "")
        if given:
            raise click.UsageError(f"the configuration says what streams are; leave {given} out")
        found = read_config(config)
        found = replace(found, server=replace(found.server, **server), folder=folder or found.folder)
        return replace(found, streams=tuple(replace(each, history=_with_like(each.history)) for each in found.streams))
    if "every" not in history:
        raise click.UsageError("Missing option '--every', or '--config'.")
    sources = [] if source is None else [_source(source, form, SourceSettings)]
    if kafka["kafka"] is not None:
        sources.append(SourceSettings("kafka", "kafka", _kafka(kafka, form)))
    stream = StreamSettings(name, _with_like(history), tuple(sources))
    own = ServerSettings(tokens=tokens_of(os.environ), **server)
    return ServiceSettings(folder or Path("live"), (stream,), own)


def _history(options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of ss.History that were given."""
    found = column_settings(options) | {name: options[name] for name in _ARGUMENTS if options[name] is not None}
    if options["no_volume"]:
        found["volume"] = False
    if options["seed"] is not None:
        found["random_state"] = options["seed"]
    if options["like"] is not None:
        found["like"] = options["like"]
    return found


def _with_like(history: Any) -> dict[str, Any]:
    found = dict(history)
    return found | {"like": load(found["like"], "--like")} if "like" in found else found


def _source(source: str, form: str | None, settings: Any) -> Any:
    if source == "-":
        return settings("stdin", "stdin", {"format": form or "ndjson"})
    path = Path(source)
    kind = "folder" if path.is_dir() else "files"
    options = {"path": str(path)} | ({"format": form} if form is not None else {})
    return settings(kind, kind, options)


def _kafka(given: dict[str, Any], form: str | None) -> dict[str, Any]:
    servers, slash, topics = given["kafka"].rpartition("/")
    if not slash:
        raise click.UsageError(f"--kafka must be SERVERS/TOPICS, such as broker:9092/rides, got {given['kafka']!r}")
    found = {"servers": servers, "topics": topics.split(","), "format": form or "ndjson"}
    return found | ({"settings_file": given["kafka_settings"]} if given["kafka_settings"] is not None else {})
