"""What a service says of its streams: verdict, ticks, alarms and decisions, ranges, profiles, prototypes."""

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import supersample as ss
from live_rows import rows
from live_services import client_of, running, send, settings_of


def get(client, path, status=200, **query):
    answer = client.get(path, params=query)
    assert answer.status_code == status, answer.text
    return answer.json()


def decide(client, word, status=200, number=1, **body):
    answer = client.post(f"/streams/rides/alarms/{number}/{word}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.fixture
def reopened(client):
    yield client
    decide(client, "reopen")


def test_the_list_and_the_verdict(client):
    listed = {each["name"]: each for each in get(client, "/streams")["streams"]}
    assert set(listed) == {"rides", "empty"}
    assert listed["empty"]["verdict"] == "learning"
    assert listed["empty"]["sentence"] == "learning: 0 of the first 5,000 rows are there"
    found = get(client, "/streams/rides")
    assert found["verdict"] == "changed"
    assert found["alarm"] == 1
    assert (found["rows"], found["late_rows"], found["alarms"], found["open_alarms"]) == (25_000, 0, 1, 1)
    assert found["since"] == get(client, "/streams/rides/alarms/1")["change"]
    assert found["sentence"].startswith(f"changed since {found['since']}; evidence of another change: ")
    assert found["last_row"] == "2026-03-02T00:20:49.950000Z"
    assert 0.0 <= found["evidence"] < 1.0
    assert abs(time.time() - found["last_received"]) < 3_600
    assert (found["logged_batches"], found["trouble"], found["title"]) == (0, "", "<b>Rides</b>") or found["logged_batches"] > 0


def test_ticks_are_those_of_the_history(client):
    history = ss.History(time="when", every="10s", random_state=0)
    for number in range(50):
        history.update(rows(number, shift=2.0 * (number >= 36)))
    found = get(client, "/streams/rides/ticks")
    blocks = history.blocks
    assert found["every"] == 10.0
    assert found["start"][0] == "2026-03-02T00:00:00Z"
    assert set(found["rows"]) == {200.0}
    assert found["evidence"][-1] == history.evidence
    assert len(found["start"]) == len(found["evidence"]) == len(found["closed"]) == 124 - 1
    assert sum(found["rows"]) < blocks["rows"].to_numpy().sum()
    part = get(client, "/streams/rides/ticks", start="2026-03-02T00:10", end="2026-03-02T00:11")
    assert part["start"] == [f"2026-03-02T00:10:{each}0Z" for each in range(6)]
    assert get(client, "/streams/rides/ticks", limit=2)["start"] == found["start"][-2:]
    assert max(found["evidence"]) > 1.0


def test_an_alarm_says_what_changed_with_rows_of_before_and_after(client):
    (alarm,) = get(client, "/streams/rides/alarms")["alarms"]
    assert alarm["changed"] == ["x"]
    assert alarm["between"][0] <= alarm["change"] <= alarm["between"][1]
    assert abs(int(alarm["change"][14:16]) * 60 + int(alarm["change"][17:19]) - 900) <= 20
    assert alarm["state"] == "open"
    assert alarm["evidence"] > 1.0
    one = get(client, "/streams/rides/alarms/1")
    assert one.items() >= alarm.items()
    assert one["columns"][0]["name"] == "x"
    assert one["columns"][0]["pvalue"] <= 0.01
    assert {"when", "x", "y"} <= set(one["before"][0])
    assert one["after"]
    assert get(client, "/streams/rides/alarms/2", 404)["error"] == "the stream has no alarm of that number"
    assert get(client, "/streams/empty/alarms") == {"alarms": []}


def test_decisions_change_the_verdict(reopened):
    found = decide(reopened, "acknowledge", by="Ann", note="looking <i>")
    assert (found["state"], found["by"], found["note"]) == ("acknowledged", "Ann", "looking <i>")
    status = get(reopened, "/streams/rides")
    assert (status["verdict"], status["open_alarms"]) == ("changed", 0)
    assert ", somebody deals with it; " in status["sentence"]
    assert decide(reopened, "normal")["state"] == "normal"
    status = get(reopened, "/streams/rides")
    assert (status["verdict"], status["alarm"]) == ("same", None)
    assert status["sentence"].startswith(f"same since {get(reopened, '/streams/rides/alarms/1')['change']}; ")
    assert decide(reopened, "snooze", hours=2)["state"] == "snoozed"
    status = get(reopened, "/streams/rides")
    assert (status["verdict"], status["open_alarms"]) == ("same", 0)
    decide(reopened, "snooze", hours=1e-9)
    status = get(reopened, "/streams/rides")
    assert (status["verdict"], status["open_alarms"]) == ("changed", 1)  # it is over, and open again


def test_the_longest_note_is_taken(reopened):
    body = {"by": "\N{PENCIL}" * 200, "note": "\N{MEMO}" * 2_000}
    answer = reopened.post("/streams/rides/alarms/1/acknowledge", content=json.dumps(body))  # escaped
    assert answer.status_code == 200
    assert {name: answer.json()[name] for name in body} == body


def test_a_decision_that_waits_for_the_disk_holds_up_nobody(watched, client, reopened):
    with ThreadPoolExecutor(1) as pool:
        with watched.service.streams["rides"].database.transaction():
            asked = pool.submit(decide, client, "acknowledge")
            with client_of(watched) as other:
                while not asked.running():
                    pass
                for _ in range(20):
                    assert get(other, "/health") == {"status": "ok"}
            assert not asked.done()
        assert asked.result()["state"] == "acknowledged"


def test_comparisons_that_wait_are_limited(watched, client, monkeypatch):
    monkeypatch.setattr(watched.service, "computations", asyncio.Semaphore(1))
    held, free = threading.Event(), threading.Event()
    watched.service.computing.submit(lambda: (held.set(), free.wait(60)))
    held.wait(60)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(get, client, "/streams/rides/profile")
        while not watched.service.computations.locked():
            time.sleep(0.01)
        with client_of(watched) as other:
            answer = other.get("/streams/rides/compare")
            assert (answer.status_code, answer.headers["Retry-After"]) == (429, "5")
            assert "ask again later" in answer.json()["error"]
        free.set()
        assert waiting.result()["rows"] == 25_000
    assert not watched.service.computations.locked()


@pytest.mark.parametrize(
    ("word", "body", "told"),
    [
        ("snooze", {}, "more than 0"),
        ("snooze", {"hours": -1}, "more than 0"),
        ("snooze", {"hours": 1e9}, "at most 720"),
        ("snooze", {"hours": True}, "of another type"),
        ("acknowledge", {"bye": "Ann"}, "no field 'bye'; did you mean 'by'?"),
        ("acknowledge", {"by": 3}, "of another type"),
        ("normal", {"by": "x" * 201}, "at most 200 characters"),
    ],
)
def test_decisions_that_cannot_be_made(client, word, body, told):
    assert told in decide(client, word, 400, **body)["error"]
    assert get(client, "/streams/rides/alarms/1")["state"] == "open"


def test_decisions_about_nothing(client):
    assert "no alarm of that number" in decide(client, "normal", 404, number=7)["error"]
    answer = client.post("/streams/rides/alarms/1/normal", content=b"[1]")
    assert answer.status_code == 400
    assert "JSON object" in answer.json()["error"]


@pytest.mark.parametrize(
    "body", [rb'{"by": "\ud800"}', rb'{"note": "\udfff"}', rb'{"\ud800": "Ann"}', b'{"by": "\xed\xa0\x80"}']
)
def test_half_of_a_surrogate_pair_is_refused(client, body):
    answer = client.post("/streams/rides/alarms/1/normal", content=body)
    assert answer.status_code == 400
    assert "one half of a surrogate pair" in answer.json()["error"]
    assert get(client, "/streams/rides/alarms/1")["state"] == "open"


def test_two_ranges_are_compared(client):
    found = get(
        client, "/streams/rides/compare", first_start="2026-03-02T00:05", first_end="2026-03-02T00:10",
        second_start="2026-03-02T00:16", second_end="2026-03-02T00:20",
    )  # fmt: skip
    assert found["pvalue"] < 1e-3
    assert found["columns"][0]["name"] == "x"
    assert found["first_rows"]
    same = get(
        client,
        "/streams/rides/compare",
        first_end="2026-03-02T00:07",
        second_start="2026-03-02T00:07",
        second_end="2026-03-02T00:14",
    )
    assert same["pvalue"] > 1e-3
    assert "no rows" in get(client, "/streams/rides/compare", 400, first_start="2030-01-01")["error"]
    assert "first_start must be a date" in get(client, "/streams/rides/compare", 400, first_start="yesterday")["error"]


def test_profiles_and_prototypes(client):
    found = get(client, "/streams/rides/profile", start="2026-03-02T00:16")
    assert {each["name"] for each in found["columns"]} == {"when", "x", "y"}
    assert found["rows"] > 4_000
    found = get(client, "/streams/rides/prototypes")
    assert found["reference"]["end"] <= found["now"]["start"]
    assert len(found["now"]["prototypes"]) == 5
    mean = sum(each["_weight"] * each["x"] for each in found["now"]["prototypes"])
    assert 1.0 < mean < 3.0  # rows of after the change, which are around 2
    assert "still learns" in get(client, "/streams/empty/prototypes", 400)["error"]


def test_parameters_that_cannot_be_used(client):
    assert "no parameter 'begin'" in get(client, "/streams/rides/ticks", 400, begin="1")["error"]
    assert "whole number" in get(client, "/streams/rides/ticks", 400, limit="many")["error"]
    assert "from 1 to 100000" in get(client, "/streams/rides/ticks", 400, limit="0")["error"]
    assert "at most 64 characters" in get(client, "/streams/rides/ticks", 400, start="x" * 65)["error"]
    assert "whole number" in get(client, "/streams/rides/alarms/one", 400)["error"]
    assert "/streams lists them" in get(client, "/streams/none", 404)["error"]


def test_a_stream_that_counts_rows(tmp_path):
    from supersample.live.settings import StreamSettings

    stream = StreamSettings("rides", {"every": 500, "random_state": 0})
    with running(settings_of(tmp_path, stream)) as service, client_of(service) as client:
        for number in range(12):
            assert send(client, number).status_code == 200
        found = get(client, "/streams/rides/ticks", start="1000", end="2000")
        assert found["start"] == [1_000, 1_500]
        assert get(client, "/streams/rides")["last_row"] is not None
        assert "must be a number" in get(client, "/streams/rides/ticks", 400, start="2026-01-01")["error"]
        assert get(client, "/streams/rides/profile", start="0", end="2000")["rows"] == 2_000


def test_what_was_set_aside_can_be_looked_at(tmp_path):
    with running(settings_of(tmp_path)) as service, client_of(service) as client:
        headers = {"Content-Type": "text/csv", "Batch-Id": "<script>"}
        assert client.post("/streams/rides/rows", content=b"\xff<script>", headers=headers).status_code == 422
        (found,) = get(client, "/streams/rides/set-aside")["batches"]
        assert (found["id"], found["size"], found["times"]) == ("<script>", 9, 1)
        content = client.get(f"/streams/rides/set-aside/{found['number']}")
        assert content.content == b"\xff<script>"
        assert content.headers["Content-Type"] == "application/octet-stream"
        assert content.headers["Content-Disposition"].startswith("attachment")
        assert client.get("/streams/rides/set-aside/9").status_code == 404
