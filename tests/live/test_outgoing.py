"""What goes out: events to listeners, metrics, webhooks, and the answers that the client of Python makes of it."""

import hashlib
import hmac
import json
import socket
import sqlite3
import threading
import time
from contextlib import contextmanager, suppress

import pandas as pd
import pytest

import live_target
import supersample as ss
from live_rows import rows
from live_services import TOKENS, client_of, running, send, settings_of
from supersample.errors import InputError, InputTypeError
from supersample.live.settings import Limits, StreamSettings, WebhookSettings
from supersample.live.webhooks import SIGNATURE

SECRET = "a secret that signs"


def changed_stream(client, first=0, last=50):
    for number in range(first, last):
        assert send(client, number, shift=2.0 * (number >= 36)).status_code == 200


@pytest.fixture
def target():
    """An address that takes posts; the statuses of its next answers are a list."""
    with live_target.target() as server:
        yield server


def until(test, seconds=600.0):
    end = time.monotonic() + seconds
    while not test():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_an_alarm_is_posted_signed_and_again_until_it_is_taken(tmp_path, target):
    target.statuses[:] = [500, 503]
    hooks = (WebhookSettings(target.url, SECRET), WebhookSettings("http://127.0.0.1:9/other", "", ("elsewhere",)))
    with running(settings_of(tmp_path, webhooks=hooks)) as service, client_of(service) as client:
        changed_stream(client)
        until(lambda: len(target.posts) == 3)
        metrics = client.get("/metrics").text  # what was posted is there
        assert 'supersample_alarms_total{stream="rides"} 1.0' in metrics
        assert 'supersample_changed{stream="rides"} 1.0' in metrics
        alarm = client.get("/streams/rides/alarms/1").json()
        stream = service.service.streams["rides"]
        until(lambda: not undelivered(stream))
        failed = [values for event, values in service.events if event == "webhook failed"]
    assert [values["reason"] for values in failed] == ["the target answered 500", "the target answered 503"]
    assert "hush" not in json.dumps(failed)
    assert SECRET not in json.dumps(failed)
    headers, body, _ = target.posts[-1]
    values = json.loads(body)
    assert (
        values.items()
        >= {"stream": "rides", "number": 1, "kind": "content", "changed": ["x"], "change": alarm["change"]}.items()
    )
    stamp, mac = (part.split("=")[1] for part in headers[SIGNATURE].split(","))
    assert mac == hmac.new(SECRET.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    assert {post[0]["Delivery-Id"] for post in target.posts} == {"rides-1"}


def undelivered(stream):
    """Return what is still to be delivered, whenever it is due."""
    return stream.database.rows("SELECT id, target, body FROM deliveries WHERE delivered IS NULL")


def deliver(stream, *targets):
    """Have something to deliver to each target, as if an alarm had been raised."""
    add = "INSERT INTO deliveries (alarm, target, body, due) VALUES (1, ?, X'7B7D', 0)"
    with stream.database.transaction() as run:
        run.executemany(add, [(each,) for each in targets])


def test_attempts_that_fail_and_deliveries_that_are_given_up_are_counted(tmp_path, target, monkeypatch):
    monkeypatch.setattr("supersample.live.webhooks._ATTEMPTS", 2)
    target.statuses[:] = [500, 503]
    hooks = (WebhookSettings(target.url, SECRET),)
    with running(settings_of(tmp_path, webhooks=hooks)) as service, client_of(service) as client:
        stream = service.service.streams["rides"]
        assert 'supersample_webhook_failures_total{stream="rides"} 0.0' in client.get("/metrics").text
        deliver(stream, *service.service.webhooks._targets)
        until(lambda: len([event for event, _ in service.events if event == "webhook failed"]) == 2)
        metrics = client.get("/metrics").text
        assert not undelivered(stream)
    assert 'supersample_webhook_failures_total{stream="rides"} 2.0' in metrics
    assert 'supersample_webhook_given_up_total{stream="rides"} 1.0' in metrics
    assert 'supersample_webhook_errors_total{stream="rides"} 0.0' in metrics


def test_what_is_due_for_a_target_that_is_gone_is_given_up_and_an_error_does_not_keep_the_service_from_starting(
    tmp_path, target, monkeypatch
):
    hooks = (WebhookSettings(target.url, SECRET),)
    with running(settings_of(tmp_path, webhooks=hooks)) as service:
        stream, webhooks = service.service.streams["rides"], service.service.webhooks
        deliver(stream, "no longer there")
        with monkeypatch.context() as patched:
            patched.setattr(stream.alarms, "give_up_others", None)
            webhooks._give_up_others(stream)
        assert (len(undelivered(stream)), webhooks.errors, webhooks.given_up) == (1, {"rides": 1}, {"rides": 0})
        assert [event for event, _ in service.events if event != "noticed"] == ["webhook error"]
        webhooks._give_up_others(stream)
        assert (len(undelivered(stream)), webhooks.given_up) == (0, {"rides": 1})


@contextmanager
def dripping(start):
    """Run a target that answers with a few bytes and then one after the other, without end."""
    ended, asked, threads = threading.Event(), threading.Event(), []

    def drip(connection):
        with connection, suppress(OSError):
            connection.recv(65_536)
            connection.sendall(start)
            asked.set()
            while not ended.wait(0.05):
                connection.sendall(b"x")

    def accept():
        with suppress(OSError):
            while True:
                threads.append(threading.Thread(target=drip, args=(listening.accept()[0],)))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", asked, ended
        finally:
            ended.set()
            listening.shutdown(socket.SHUT_RDWR)
            for each in (accepting, *threads):
                each.join()


def test_no_target_waits_for_another_one_that_is_slow(tmp_path, target, monkeypatch):
    """One sends a header for ever, which holds up itself; one a body, which nobody reads."""
    monkeypatch.setattr("supersample.live.webhooks._SECONDS", 3_600.0)
    with dripping(b"HTTP/1.1 200 OK\r\nX-Long: ") as (slow, asked, ended), dripping(b"HTTP/1.1 200 OK\r\n\r\n") as (long, *_):
        hooks = tuple(WebhookSettings(url) for url in (slow, long, target.url))
        with running(settings_of(tmp_path, webhooks=hooks)) as service:
            stream, names = service.service.streams["rides"], list(service.service.webhooks._targets)
            deliver(stream, names[0])
            assert asked.wait(600)
            deliver(stream, *names[1:])
            service.service.webhooks.wake()
            until(lambda: len(undelivered(stream)) == 1)
            assert undelivered(stream)[0][1] == names[0]
            assert len(target.posts) == 1
            ended.set()  # else the service would wait for the target when it stops


def test_a_target_that_drips_has_failed_when_its_time_is_over(tmp_path, monkeypatch):
    monkeypatch.setattr("supersample.live.webhooks._SECONDS", 0.3)
    with (
        dripping(b"HTTP/1.1 200 OK\r\nX-Long: ") as (slow, *_),
        running(settings_of(tmp_path, webhooks=(WebhookSettings(slow),))) as service,
    ):
        deliver(service.service.streams["rides"], *service.service.webhooks._targets)
        until(lambda: any(event == "webhook failed" for event, _ in service.events))
    failed = next(values for event, values in service.events if event == "webhook failed")
    assert (failed["reason"], failed["again_in"]) == ("TimeoutError", 1.0)


def test_a_delivery_that_is_due_survives_a_restart(tmp_path, target):
    nobody = WebhookSettings(target.url.replace(str(target.server_port), "9"), SECRET)
    with running(settings_of(tmp_path, webhooks=(nobody,))) as service, client_of(service) as client:
        changed_stream(client)
        stream = service.service.streams["rides"]
        until(lambda: any(event == "webhook failed" for event, _ in service.events))
        due = undelivered(stream)
        assert len(due) == 1
    with running(settings_of(tmp_path, webhooks=(nobody,))) as service:
        assert undelivered(service.service.streams["rides"]) == due
    with running(settings_of(tmp_path)) as service:  # without a target nothing is due for anybody
        assert not target.posts


def test_an_error_while_an_alarm_is_delivered_is_said_and_counted_and_deliveries_go_on(tmp_path, target, monkeypatch):
    hooks = (WebhookSettings(target.url, SECRET),)
    with running(settings_of(tmp_path, webhooks=hooks)) as service, client_of(service) as client:
        book, failures = service.service.streams["rides"].alarms, [1, 2]
        delivered = book.delivered

        def failing(number, **more):
            if failures:
                failures.pop()
                raise sqlite3.OperationalError("database or disk is full")
            delivered(number, **more)

        monkeypatch.setattr(book, "delivered", failing)
        deliver(service.service.streams["rides"], *service.service.webhooks._targets)
        until(lambda: len(target.posts) == 3 and not undelivered(service.service.streams["rides"]))
        told = [values for event, values in service.events if event == "webhook error"]
        assert 'supersample_webhook_errors_total{stream="rides"} 2.0' in client.get("/metrics").text
    assert [each["reason"] for each in told] == ["OperationalError: database or disk is full"] * 2
    assert {post[0]["Delivery-Id"] for post in target.posts} == {"rides-1"}


def test_a_target_that_cannot_even_be_asked_is_one_more_failed_attempt(tmp_path, target, monkeypatch):
    def failing(*_):
        raise ZeroDivisionError("oh no")

    monkeypatch.setattr("supersample.live.webhooks.signature", failing)
    hooks = (WebhookSettings(target.url, SECRET), WebhookSettings(f"{target.url}&other"))
    with running(settings_of(tmp_path, webhooks=hooks)) as service:
        deliver(service.service.streams["rides"], *service.service.webhooks._targets)
        until(lambda: len(target.posts) == 1 and any(event == "webhook failed" for event, _ in service.events))
        failed = next(values for event, values in service.events if event == "webhook failed")
    assert failed["reason"] == "ZeroDivisionError"
    assert SIGNATURE not in target.posts[0][0]


def listened(client, count):
    """Return the first events that a listener gets."""
    found = []
    with client.stream("GET", "/events") as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line[6:]))
                if len(found) == count:
                    return found
    return found


def test_who_listens_hears_of_every_change_soon(tmp_path):
    streams = [StreamSettings(name, {"time": "when", "every": "10s"}) for name in ("rides", "other")]
    with running(settings_of(tmp_path, *streams)) as service, client_of(service) as client, client_of(service) as listener:
        assert {each["name"] for each in listened(listener, 2)} == {"rides", "other"}
        got = []
        thread = threading.Thread(target=lambda: got.extend(listened(listener, 3)))
        thread.start()
        until(lambda: len(service.service.hub._listeners) == 1)
        sent = time.monotonic()
        send(client, 0)
        thread.join(60)
        assert time.monotonic() - sent < 30
        assert (got[-1]["name"], got[-1]["rows"]) == ("rides", 500)


def test_listeners_are_limited_and_their_places_are_free_again(tmp_path):
    with (
        running(settings_of(tmp_path, limits=Limits(listeners=1))) as service,
        client_of(service) as one,
        client_of(service) as two,
    ):
        with one.stream("GET", "/events") as answer:
            lines = answer.iter_lines()  # as long as it is held, the connection is
            next(lines)
            refused = two.get("/events")
            assert refused.status_code == 429
            assert refused.headers["Retry-After"] == "10"
        until(lambda: not service.service.hub._listeners)
        assert len(listened(two, 1)) == 1
        assert two.head("/events").status_code == 405


def test_a_token_is_asked_of_listeners(tmp_path):
    with running(settings_of(tmp_path, tokens=TOKENS)) as service, client_of(service) as client:
        assert client.get("/events").status_code == 401


def test_metrics_say_what_the_status_says_and_no_value_of_the_data(client):
    from prometheus_client.parser import text_string_to_metric_families

    status = client.get("/streams/rides").json()
    text = client.get("/metrics").text
    samples = {
        (sample.name, sample.labels.get("stream")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples["supersample_rows_total", "rides"] == status["rows"] == 25_000
    assert samples["supersample_alarms_total", "rides"] == 1
    assert samples["supersample_evidence", "rides"] == status["evidence"]
    assert samples["supersample_stream_up", "rides"] == 1
    assert ("supersample_last_received_seconds", "empty") not in samples
    labels = {name for family in text_string_to_metric_families(text) for sample in family.samples for name in sample.labels}
    assert labels == {"stream", "endpoint", "status"}
    assert "Rides" not in text


def test_metrics_show_rows_once_they_are_acknowledged(tmp_path):
    with running(settings_of(tmp_path)) as service, client_of(service) as client:
        for number in range(3):
            assert send(client, number).status_code == 200
            assert f'supersample_rows_total{{stream="rides"}} {500.0 * (number + 1)}' in client.get("/metrics").text


def test_the_client_sends_what_people_have_and_asks(tmp_path):
    with running(settings_of(tmp_path, tokens=TOKENS)) as service:
        with ss.live.Client(service.url, token=TOKENS["send"]) as client:
            table = rows(0, n=20)
            frames = [
                table,
                table.to_batches()[0],
                table.to_pandas(),
                table.to_pydict(),
                table.to_pylist(),
                pd.DataFrame(table.to_pandas()),
            ]
            for frame in frames:
                assert client.send("rides", frame)["rows"] == 20
            assert client.send("rides", table, batch_id="again")["rows"] == 20
            assert client.send("rides", table, batch_id="again")["repeated"]
            with pytest.raises(ss.live.ServiceError, match="the service answered 403: the token does not allow this") as caught:
                client.status("rides")
            assert caught.value.status == 403
            with pytest.raises(InputTypeError, match="rows must be a table"):
                client.send("rides", 3)
        with ss.live.Client(service.url, token=TOKENS["read"]) as client:
            assert client.status("rides")["rows"] == 140
            assert [each["name"] for each in client.streams()] == ["rides"]
            assert client.alarms("rides") == []
    with pytest.raises(InputError, match="url must be that of a service"):
        ss.live.Client("localhost:8125")


def test_the_client_sends_again_under_the_same_id(tmp_path, target):
    target.statuses[:] = [503, 429, 204]
    with ss.live.Client(target.url.split("/hook")[0]) as client:
        assert client.send("rides", rows(0, n=5)) == {}  # this target has nothing to say
    ids = [headers["Batch-Id"] for headers, _, _ in target.posts]
    assert len(ids) == 3
    assert len(set(ids)) == 1
    with (
        ss.live.Client("http://127.0.0.1:9", patience=0.1) as client,
        pytest.raises(ss.live.ServiceError, match="does not answer"),
    ):
        client.streams()
