"""Sources: lines of files that grow, files that appear, and what happens when they are rotated, damaged or gone."""

import itertools
import json
import os
import threading
import time

import pyarrow as pa
import pytest

from live_rows import is_history_of, rows
from live_services import body_of, client_of, running, settings_of
from supersample.errors import InputError
from supersample.live.batch import Batch
from supersample.live.feeding import Feed
from supersample.live.settings import Limits, SourceSettings, StreamSettings
from supersample.live.sources import SOURCES, Context, folder, source_of
from supersample.live.sources.lines import Lines


@pytest.fixture
def fed(tmp_path):
    """Return a function that runs a service with one source, and one that waits for something to be true of its stream."""

    def start(kind, **options):
        source = SourceSettings(kind, kind, options)
        stream = StreamSettings("rides", {"time": "when", "every": "10s", "random_state": 0}, (source,))
        return running(settings_of(tmp_path / "state", stream))

    return start


def wait(service, test, seconds=600.0):
    end = time.monotonic() + seconds
    stream = service.service.streams["rides"]
    while not test(stream):
        assert time.monotonic() < end, (stream.history, stream.ledger.aside(), service.events)
        time.sleep(0.02)


def seen(count):
    return lambda stream: stream.history.n_seen == count


def lines(number, n=10, form="ndjson"):
    return body_of(rows(number, n=n), form)[1]


def put(path, data):
    """Let a file appear whole."""
    part = path.with_name(f"_{path.name}")
    part.write_bytes(data)
    part.rename(path)


def append(path, data):
    with path.open("ab") as file:
        file.write(data)


def test_a_file_that_grows_is_read_line_by_line(fed, tmp_path):
    path = tmp_path / "app.ndjson"
    path.write_bytes(lines(0))
    with fed("files", path=str(path)) as service:
        wait(service, seen(10))
        whole = lines(1)
        append(path, whole[:-30])  # the last line is not whole
        wait(service, seen(19))
        append(path, whole[-30:])
        wait(service, seen(20))
    with fed("files", path=str(path)) as service:
        append(path, lines(2))
        wait(service, seen(30))


def test_a_file_of_csv_keeps_its_header(fed, tmp_path):
    path = tmp_path / "app.csv"
    path.write_bytes(lines(0, form="csv"))
    with fed("files", path=str(path)) as service:
        wait(service, seen(10))
    append(path, lines(1, form="csv").split(b"\n", 1)[1])
    with fed("files", path=str(path)) as service:
        wait(service, seen(20))


def test_a_position_holds_no_text_of_a_file(tmp_path):
    """Without a header, the first line of a CSV file is a row, of which columns may be dropped."""
    path = tmp_path / "app.csv"
    path.write_bytes(b"secret,1\na,2\n")

    def bodies(position):
        context = Context("files", Whole(), Limits(), lambda: None)
        steps = source_of(SourceSettings("files", "files", {"path": str(path)}), context).steps(position)
        return [
            (step.table["line"].to_pylist(), step.position)
            for step in itertools.takewhile(lambda step: step is not None, steps)
        ]

    ((first, position),) = bodies(None)
    assert first == [b"secret,1", b"a,2"]
    assert "secret" not in json.dumps(position)
    append(path, b"b,3\n")
    earlier = {"app.csv": position["app.csv"] | {"header": "secret,1\n"}}  # as versions before this one wrote it
    for each in (position, earlier):
        ((more, after),) = bodies(json.loads(json.dumps(each)))
        assert more == [b"secret,1", b"b,3"]
        assert "secret" not in json.dumps(after)


def test_a_file_that_is_rotated_is_read_to_its_end_and_the_new_one_from_its_start(fed, tmp_path):
    path = tmp_path / "app.ndjson"
    path.write_bytes(lines(0))
    with fed("files", path=str(tmp_path / "app*")) as service:
        wait(service, seen(10))
        append(path, lines(1))
        path.rename(tmp_path / "app.1.ndjson")
        path.write_bytes(lines(2))
        wait(service, seen(30))
        path.write_bytes(lines(3, n=2))  # cut back, and written again
        wait(service, seen(32))
        assert not service.service.streams["rides"].ledger.aside()


def test_a_line_that_cannot_be_read_is_set_aside_and_the_rest_goes_on(fed, tmp_path):
    path = tmp_path / "app.ndjson"
    path.write_bytes(lines(0))
    with fed("files", path=str(path)) as service:
        wait(service, seen(10))
        append(path, lines(1) + b'{"when": oh no}\n' + lines(2))
        wait(service, lambda stream: len(stream.ledger.aside()) == 1)
        wait(service, seen(30))
        append(path, lines(3))
        wait(service, seen(40))
        assert ("set aside", "files") in [(event, values.get("source")) for event, values in service.events]


def test_a_folder_that_goes_away_is_said_and_read_again_when_it_is_back(fed, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.ndjson").write_bytes(lines(0))
    with fed("folder", path=str(folder), settle=0.0) as service:
        wait(service, seen(10))
        folder.rename(tmp_path / "gone")
        wait(service, lambda _: any(event == "source away" for event, _ in service.events))
        with client_of(service) as client:
            assert 'supersample_source_up{source="folder",stream="rides"} 0.0' in client.get("/metrics").text
        (tmp_path / "gone").rename(folder)
        put(folder / "b.csv", lines(1, form="csv"))
        wait(service, seen(20))


@pytest.mark.parametrize(
    ("name", "form"), [("b.parquet", "parquet"), ("b.arrows", "arrow"), ("b.csv", "csv"), ("b.jsonl", "ndjson")]
)
def test_files_that_appear_in_a_folder_are_read_once(fed, tmp_path, name, form):
    folder = tmp_path / "in"
    folder.mkdir()
    with fed("folder", path=str(folder), settle=0.0) as service:
        put(folder / name, lines(0, n=25_000, form=form))  # more than one batch
        (folder / "_part.ndjson").write_bytes(lines(1))
        wait(service, seen(25_000))
    with fed("folder", path=str(folder), settle=0.0) as service:
        put(folder / "c.ndjson", lines(2))
        wait(service, seen(25_010))
        os.utime(folder / name, (1, 1))  # changed after it was read
        wait(service, lambda stream: len(stream.ledger.aside()) == 1)
        assert "changed after it was read" in service.service.streams["rides"].ledger.aside()[0]["reason"]
        assert service.service.streams["rides"].history.n_seen == 25_010


class Whole:
    """Decoders that return a row for each line."""

    def decode(self, body, *_):
        return pa.table({"line": body.splitlines()})


def test_a_file_that_changes_after_it_was_read_in_part_is_not_read_from_its_start(tmp_path, monkeypatch):
    """Its rows would be counted twice: those of the first batch are durable, and the change gives all of them new ids."""
    monkeypatch.setattr(folder, "_ROWS", 2)
    path, earlier = tmp_path / "b.ndjson", tmp_path / "a.ndjson"
    path.write_bytes(b"1\n2\n3\n")

    def resumed(position):
        context = Context("folder", Whole(), Limits(), lambda: None)
        return source_of(SourceSettings("folder", "folder", {"path": str(tmp_path), "settle": 0.0}), context).steps(position)

    first = next(resumed(None))
    assert first.table.num_rows == 2
    earlier.write_bytes(b"0\n")
    rest = resumed(first.position)
    assert [next(rest).table["line"].to_pylist() for _ in range(2)] == [[b"3"], [b"0"]]  # nothing comes between
    append(path, b"4\n")
    changed, other = (step for step, _ in zip(resumed(first.position), range(2), strict=False))
    assert changed.reason == "b.ndjson changed after its first 2 rows were read; write new rows to a new file"
    assert other.table["line"].to_pylist() == [b"0"]
    (last,) = (step for step, _ in zip(resumed(other.position), range(1), strict=False))
    assert last is None
    os.utime(path, (2**33, 2**33))  # it is still being written
    waiting = resumed(first.position)
    other = next(waiting)
    assert other.table["line"].to_pylist() == [b"0"]
    os.utime(path, (2, 2))
    assert "changed after it was read" in next(resumed(other.position)).reason


def test_files_that_are_gone_are_forgotten_once_another_one_is_read(fed, tmp_path):
    """So that the list of those read does not grow for ever; a folder that is empty for a while forgets nothing."""
    folder = tmp_path / "in"
    folder.mkdir()

    def known(stream):
        return set(stream.ledger.positions().get("folder", {}).get("done", ()))

    with fed("folder", path=str(folder), settle=0.0) as service:
        for number, name in enumerate(["a.ndjson", "b.ndjson"]):
            put(folder / name, lines(number))
            wait(service, lambda stream: len(known(stream)) == number + 1)  # noqa: B023
        folder.rename(tmp_path / "away")
        folder.mkdir()
        time.sleep(0.5)
        folder.rmdir()
        (tmp_path / "away").rename(folder)
        (folder / "a.ndjson").unlink()
        put(folder / "c.ndjson", lines(2))
        wait(service, lambda stream: known(stream) == {"b.ndjson", "c.ndjson"})
        put(folder / "a.ndjson", lines(3))
        wait(service, seen(40))
        assert not service.service.streams["rides"].ledger.aside()


def test_a_damaged_file_is_set_aside_once(fed, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.parquet").write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")
    (folder / "b.ndjson").write_bytes(lines(0))
    for _ in range(2):
        with fed("folder", path=str(folder), settle=0.0) as service:
            wait(service, seen(10))
            (aside,) = service.service.streams["rides"].ledger.aside()
            assert aside["times"] == 1
            assert "a.parquet" in aside["reason"]


def test_a_batch_that_could_not_be_kept_is_read_again_and_none_after_it_goes_before(fed, tmp_path, monkeypatch):
    path = tmp_path / "app.ndjson"
    path.write_bytes(b"")
    with fed("files", path=str(path)) as service:
        stream = service.service.streams["rides"]
        add, failures = stream.ledger.add, [1, 2, 3]

        def failing(run, entries):
            add(run, entries)
            if failures:
                failures.pop()
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(stream.ledger, "add", failing)
        path.write_bytes(lines(0, n=30_000))  # several batches
        wait(service, seen(30_000))
        told = [values["reason"] for event, values in service.events if event == "source away"]
        assert "No space left" in told[0]
        assert not failures


def test_an_error_that_nobody_expected_ends_no_source(fed, tmp_path, monkeypatch):
    path = tmp_path / "app.ndjson"
    path.write_bytes(lines(0))
    batches, failures = Lines.batches, [1]

    def failing(self, *arguments):
        if failures:
            failures.pop()
            raise ZeroDivisionError("oh no")
        return batches(self, *arguments)

    monkeypatch.setattr(Lines, "batches", failing)
    with fed("files", path=str(path)) as service:
        wait(service, seen(10))
        told = [values["reason"] for event, values in service.events if event == "source away"]
    assert told == ["ZeroDivisionError: oh no"]


def feed_of(stream, source, failing=()):
    """Return a thread that feeds a stream whose commits of these numbers fail, and an event: that the source has ended."""
    ended, told, add, count = threading.Event(), [], stream.ledger.add, itertools.count()

    def adding(run, entries):
        add(run, entries)
        if next(count) in failing:
            raise OSError(28, "No space left on device")

    stream.ledger.add = adding
    stream.start()
    feed = Feed(stream, source.name, source, lambda event, **values: told.append((event, values)), ended.set)
    feed.start()
    return feed, ended, told


def test_what_came_from_a_pipe_is_put_again_if_it_could_not_be_kept(opened):
    """In its order: rows put after later ones would be late."""
    stream = opened()
    left = iter([Batch(str(number), rows(number), "pipe") for number in range(12)])

    class Pipe:
        """A source that cannot go back."""

        name, wants_end = "pipe", True

        def steps(self, _):
            yield from left

        def close(self):
            """Nothing is open."""

    feed, ended, told = feed_of(stream, Pipe(), failing=(1,))
    assert ended.wait(60)
    feed.stop()
    assert [event for event, _ in told] == ["source away"]
    assert is_history_of(stream, 12)


def test_nothing_is_read_ahead_before_the_stream_has_columns(opened):
    """A batch that is read without them gets types of its own."""
    stream = opened()
    known = []

    class Source:
        """A source that notes whether columns are known whenever it is asked."""

        name, wants_end = "files", False

        def steps(self, _):
            for number in range(5):
                known.append(stream.schema() is not None)
                yield Batch(str(number), rows(number), "files", number)

        def close(self):
            """Nothing is open."""

    feed, ended, _ = feed_of(stream, Source())
    assert ended.wait(60)
    feed.stop()
    assert known == [False, True, True, True, True]


def test_sources_of_one_name_in_two_streams_are_told_apart(tmp_path):
    source = SourceSettings("files", "files", {"path": str(tmp_path / "x")})
    streams = [StreamSettings(name, {"time": "when", "every": "10s"}, (source,)) for name in ("rides", "other")]
    with running(settings_of(tmp_path / "state", *streams)) as service, client_of(service) as client:
        samples = [line for line in client.get("/metrics").text.splitlines() if line.startswith("supersample_source_up{")]
    assert sorted(samples) == [f'supersample_source_up{{source="files",stream="{name}"}} 1.0' for name in ("other", "rides")]


@pytest.mark.parametrize(
    ("kind", "options", "told"),
    [
        ("files", {}, "must have a path"),
        ("folder", {"path": "x", "settle": -1}, "settle must be a number of seconds"),
        ("stdin", {"format": "xml"}, "format must be 'ndjson' or 'csv'"),
        ("files", {"path": "x", "fromat": "csv"}, "no option 'fromat'; did you mean 'format'?"),
        ("file", {"path": "x"}, "kind must be one of stdin, files, folder"),
    ],
)
def test_options_that_cannot_be_used(fed, kind, options, told):
    with pytest.raises(InputError, match=told), fed(kind, **options):
        pass


def test_a_source_is_not_named_as_rows_by_post_are():
    with pytest.raises(InputError, match="another name than 'http'"):
        source_of(SourceSettings("http", "stdin"), None)


def test_the_registry_is_complete():
    assert {"stdin", "files", "folder"} <= set(SOURCES)


def test_positions_are_json(fed, tmp_path):
    path = tmp_path / "app.ndjson"
    path.write_bytes(lines(0))
    with fed("files", path=str(path)) as service:
        wait(service, lambda stream: "files" in stream.ledger.positions())  # rows are counted before they are committed
        position = service.service.streams["rides"].ledger.positions()["files"]
        assert json.loads(json.dumps(position))["app.ndjson"]["bytes"] == path.stat().st_size
