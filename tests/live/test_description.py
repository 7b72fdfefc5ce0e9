"""The description is that of the routes, and what they answer is what it says."""

import subprocess
import sys

import pytest
from starlette.routing import Route

from live_services import TOKENS, client_of, running, settings_of
from supersample.live.http.app import application
from supersample.live.http.registry import ENDPOINTS

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
