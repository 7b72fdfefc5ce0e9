"""The description is that of the routes, and what they answer is what it says."""

import json
import re
import subprocess
import sys

import pytest
from starlette.routing import Route

from live_services import TOKENS, client_of, running, settings_of
from supersample.live.http.app import application
from supersample.live.http.registry import ENDPOINTS
from supersample.live.settings import StreamSettings

TYPES = {"string": str, "integer": int, "number": int | float, "boolean": bool, "object": dict, "array": list}


def test_every_route_is_described_and_nothing_else(watched):
    app = application(watched.service)
    routes = {(method, route.path) for route in app.routes if isinstance(route, Route) for method in route.methods}
    described = {(method.upper(), path) for path, each in app.state.description["paths"].items() for method in each}
    assert routes == described == {(each.method, each.path) for each in ENDPOINTS}
    names = [each["operationId"] for methods in app.state.description["paths"].values() for each in methods.values()]
    assert len(set(names)) == len(names)


def operations(paths):
    return [each for methods in paths.values() for each in methods.values()]


def test_a_service_that_asks_for_no_token_says_so(client):
    found = operations(client.get("/openapi.json").json()["paths"])
    assert len(found) == len(ENDPOINTS)
    assert not any("security" in each for each in found)


def test_parameters_in_paths_are_declared():
    for each in ENDPOINTS:
        inside = {part[1:-1] for part in each.path.split("/") if part.startswith("{")}
        assert inside == {one.name for one in each.parameters if one.where == "path"}
        assert all(one.required for one in each.parameters if one.where == "path")


@pytest.mark.parametrize(
    "endpoint", [each for each in ENDPOINTS if each.path != "/events"], ids=lambda each: f"{each.method} {each.path}"
)
def test_answers_are_those_that_are_described(client, endpoint):
    described = client.get("/openapi.json").json()["paths"][endpoint.path][endpoint.method.lower()]["responses"]
    path = endpoint.path.replace("{name}", "rides").replace("{number}", "1")
    for address in (path, path.replace("rides", "none"), f"{path}?unknown=1"):
        answer = client.request(endpoint.method, address)
        assert str(answer.status_code) in described
        content = described[str(answer.status_code)].get("content", {})
        kind = answer.headers.get("Content-Type", "").split(";")[0]
        if content:
            assert kind in content or (kind == "text/html" and endpoint.path == "/login")
        if kind == "application/json":
            schema = content[kind]["schema"]
            if "$ref" in schema:
                schema = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
            values = answer.json()
            assert isinstance(values, dict)
            assert set(schema.get("required", ())) <= set(values)
            for name, one in schema.get("properties", {}).items():
                assert name not in values or isinstance(values[name], TYPES[one["type"]])


#: Times that the description allows, the strangest too.
TIMES = [
    "2026-03-02", "0001-01-01", "9999-12-31", "2026-03-02T00:00:00Z", "2026-03-02T00:00:00.123456-00:30",
    "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59",
]  # fmt: skip


def times_of(client):
    """Return the parameters that are times, by their path, and what the description says of them."""
    found = [
        (path, one["name"], one["schema"])
        for path, methods in client.get("/openapi.json").json()["paths"].items()
        for one in methods.get("get", {}).get("parameters", ())
        if one["in"] == "query" and one["schema"]["type"] == "string"
    ]
    assert len(found) == 8
    return found


def test_times_that_are_described_are_understood(client):
    for path, name, schema in times_of(client):
        assert schema["anyOf"] == [{"format": "date-time"}, {"format": "date"}]
        ends = TIMES[-2] if name.endswith("end") else TIMES[-1]  # of a range without rows, which costs nothing
        for text in TIMES if "ticks" in path else [ends]:
            answer = client.get(path.replace("{name}", "rides"), params={name: text})
            assert answer.status_code == 200 or answer.json()["error"].startswith("there are no rows "), (path, answer.text)


def test_times_are_described_as_the_streams_count_them(tmp_path):
    by_rows = StreamSettings("by-rows", {"every": 500})
    with running(settings_of(tmp_path / "one", by_rows)) as service, client_of(service) as client:
        (form,) = {json.dumps(schema["anyOf"]) for _, _, schema in times_of(client)}
        ((_, pattern),) = json.loads(form)[0].items()
        for text in ("0000", "-5", "1500", "2.5"):
            assert re.search(pattern, text)
            error = client.get("/streams/by-rows/ticks", params={"start": text}).json()["error"]
            assert "still learns" in error  # and not: must be a number
        assert not any(re.search(pattern, text) for text in (*TIMES, "", "1e5", "nan"))
    both = (by_rows, StreamSettings("rides", {"time": "when", "every": "10s"}))
    with running(settings_of(tmp_path / "two", *both)) as service, client_of(service) as client:
        assert all(len(schema["anyOf"]) == 3 for _, _, schema in times_of(client))


def test_that_a_body_without_rows_cannot_be_used_is_described(client):
    described = client.get("/openapi.json").json()["paths"]["/streams/{name}/rows"]["post"]
    assert "such as an empty one, is answered 422" in described["requestBody"]["description"]
    assert {"413", "422", "500"} <= set(described["responses"])
    assert set(described["requestBody"]["content"]) >= {"text/tab-separated-values"}


def test_answers_that_are_no_errors_are_described_too(tmp_path):
    with running(settings_of(tmp_path, tokens=TOKENS)) as service, client_of(service) as client:
        paths = client.get("/openapi.json").json()["paths"]
        assert all(("security" in each) == (each.get("x-right") is not None) for each in operations(paths))
        answer = client.post("/login", data={"token": "wrong"})
        assert answer.status_code == 403
        assert set(paths["/login"]["post"]["responses"]["403"]["content"]) == {"text/html", "application/json"}
        assert answer.headers["Content-Type"].startswith("text/html")
        service.service.streams["rides"]._not_saved = "no space left"
        answer = client.get("/ready")
        assert (answer.status_code, answer.json()) == (503, {"status": "not ready"})
        told = paths["/ready"]["get"]["responses"]["503"]["content"]["application/json"]["schema"]["anyOf"][0]
        assert answer.json()["status"] in told["properties"]["status"]["enum"]
        service.service.streams["rides"]._not_saved = ""


def test_importing_the_package_and_its_client_imports_no_server():
    code = "import sys, supersample as ss; ss.History; ss.live.Client; print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "supersample.live" in done.stdout
    for name in ("starlette", "uvicorn", "httpx", "prometheus_client", "confluent_kafka"):
        assert f"'{name}'" not in done.stdout


def test_what_is_no_address_is_said_in_json(watched):
    with client_of(watched) as client:
        for method, path, status in (("GET", "/nothing", 404), ("PUT", "/streams", 405), ("GET", "/streams/", 404)):
            answer = client.request(method, path)
            assert answer.status_code == status
            assert set(answer.json()) == {"error"}
