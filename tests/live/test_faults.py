"""What must not happen, and what holds then: faults of end points, sessions that end, answers that take long."""

import asyncio
import logging
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from live_services import TOKENS, client_of, running, send, settings_of
from supersample.live.http import entrance
from supersample.live.http.registry import ENDPOINTS


def failing(*_):
    raise ZeroDivisionError("person 7")


def test_a_fault_is_answered_counted_and_said_without_what_it_quotes(tmp_path, monkeypatch, caplog, capfd):
    monkeypatch.setattr("supersample.live.http.reading.status_of", failing)
    count = 'supersample_answers_total{endpoint="streams",status="500"}'
    with running(settings_of(tmp_path)) as service, client_of(service) as client:
        before = client.get("/metrics").text
        for name in {each.handler.__name__.strip("_") for each in ENDPOINTS}:
            assert f'supersample_answers_total{{endpoint="{name}",status="500"}} 0.0' in before
        assert 'supersample_answers_total{endpoint="rows",status="413"} 0.0' in before
        answer = client.get("/streams")
        assert answer.status_code == 500
        assert answer.json() == {"error": "a fault of the service (ZeroDivisionError); its log says where"}
        assert answer.headers["Connection"] == "close"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert f"{count} 1.0" in client.get("/metrics").text
        (told,) = [values for event, values in service.events if event == "fault"]
    assert (told["endpoint"], told["reason"]) == ("streams", "ZeroDivisionError")
    assert f"{__file__}:{failing.__code__.co_firstlineno + 1}" == told["where"][-1]
    assert "person" not in str(told)
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert capfd.readouterr().err == ""


def test_a_fault_in_the_middle_of_events_ends_them_and_is_said(tmp_path, monkeypatch, caplog, capfd):
    with running(settings_of(tmp_path)) as service, client_of(service) as client:
        monkeypatch.setattr("supersample.live.http.entrance.status_of", failing)
        assert client.get("/events").content == b""
        assert [values["endpoint"] for event, values in service.events if event == "fault"] == ["events"]
        assert not service.service.hub._listeners
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert capfd.readouterr().err == ""


def test_the_end_of_the_service_answers_what_is_still_computed_and_prints_no_traceback(tmp_path, monkeypatch, caplog, capfd):
    monkeypatch.setattr("supersample.live.http.serving._GRACE", 0.05)
    under_way, free = threading.Event(), threading.Event()

    def long(*_):
        under_way.set()
        free.wait(600)
        return {}

    monkeypatch.setattr("supersample.live.http.reading.prototypes_of", long)
    monkeypatch.setattr("supersample.live.stream.Stream.take", lambda *_: (under_way.set(), Future())[1])
    for ask in (lambda client: client.get("/streams/rides/prototypes"), lambda client: send(client, 0)):
        under_way.clear()
        with ThreadPoolExecutor(1) as pool:
            try:
                with running(settings_of(tmp_path)) as service, client_of(service) as client:
                    asked = pool.submit(ask, client)
                    assert under_way.wait(600)
                    service._server.should_exit = True
                    answer = asked.result()
            finally:
                free.set()
        assert answer.status_code == 503
        assert "is being closed" in answer.json()["error"]
    assert "batch_id" in answer.json()
    assert not [each for each in caplog.records if each.exc_info]
    assert "Traceback" not in capfd.readouterr().err


def test_a_slow_reader_that_the_end_of_the_service_cuts_off_is_no_fault(tmp_path, caplog):
    with running(settings_of(tmp_path)):
        pass
    logger = logging.getLogger("uvicorn.error")
    for error in (asyncio.CancelledError(), ZeroDivisionError()):
        logger.error("Exception in ASGI application", exc_info=error)
    assert [each.exc_info[0] for each in caplog.records if each.exc_info] == [ZeroDivisionError]


@pytest.mark.parametrize("silence", [0.02, 600.0])
def test_events_end_with_the_session(tmp_path, monkeypatch, silence):
    monkeypatch.setattr("supersample.live.events._SILENCE", silence)
    with running(settings_of(tmp_path, tokens=TOKENS)) as service, client_of(service) as client:
        client.post("/login", data={"token": TOKENS["read"]})
        with client.stream("GET", "/events") as answer:
            lines = answer.iter_lines()
            assert next(lines) == "event: status"
            with client_of(service, cookies=dict(client.cookies)) as other:
                assert other.post("/logout").status_code == 303
                assert other.get("/streams").status_code == 401
            if silence > 1.0:
                with client_of(service, TOKENS["send"]) as sender:
                    assert send(sender, 0).json()["rows"] == 500
            told = [line for line in lines if line.startswith("data: ")]  # it ends
    assert len(told) == 1
    assert '"rows": 0' in told[0]


def test_events_that_are_never_sent_free_their_place(tmp_path):
    """A caller may be gone before the first byte, so that nobody ever reads what was prepared."""

    async def asked_and_gone(service, guard):
        for _ in range(3):
            await entrance._events(SimpleNamespace(service=service, guard=guard, request=None))
        for _ in range(5):  # what has begun is ended by the loop
            await asyncio.sleep(0)
        return len(service.hub._listeners)

    with running(settings_of(tmp_path)) as service:
        guard = SimpleNamespace(rights=lambda _: {"read"})
        assert asyncio.run(asked_and_gone(service.service, guard)) == 0


@pytest.mark.parametrize("path", ["ticks?limit=100000", "alarms", "alarms/1", "set-aside", "set-aside/1"])
def test_what_may_be_long_holds_up_nobody(watched, client, path):
    free = threading.Event()
    watched.service.reading.submit(free.wait, 600)
    with ThreadPoolExecutor(1) as pool, client_of(watched) as other:
        try:
            asked = pool.submit(client.get, f"/streams/rides/{path}")
            while watched.service.reading._work_queue.qsize() == 0 and not asked.done():
                time.sleep(0.01)
            assert other.get("/health").status_code == other.get("/streams/rides").status_code == 200
            assert not asked.done()
        finally:
            free.set()
        assert asked.result().status_code in (200, 404)


def test_a_status_does_not_wait_while_ticks_are_read(watched, client):
    with ThreadPoolExecutor(1) as pool, client_of(watched) as other:
        with watched.service.streams["rides"].database._reading_long:
            asked = pool.submit(client.get, "/streams/rides/ticks")
            while not asked.running():
                pass
            assert other.get("/streams/rides").json()["rows"] == 25_000
            assert not asked.done()
        assert len(asked.result().json()["rows"]) > 100
