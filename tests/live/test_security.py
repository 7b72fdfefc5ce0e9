"""Who may do what: tokens by right, sessions of the page, other sites, and what no answer holds."""

import re
import shutil
import ssl
import subprocess

import httpx
import pyarrow as pa
import pytest

from live_rows import rows
from live_services import TOKENS, body_of, client_of, running, settings_of
from supersample.errors import InputError
from supersample.live import Client
from supersample.live.http.registry import ENDPOINTS
from supersample.live.http.security import COOKIE, Guard
from supersample.live.settings import ServerSettings


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A service that asks for tokens."""
    with running(settings_of(tmp_path_factory.mktemp("guarded"), tokens=TOKENS)) as service:
        yield service


def path_of(endpoint):
    return endpoint.path.replace("{name}", "rides").replace("{number}", "1")


ALLOWED = {"read": {"open", "read"}, "send": {"open", "send"}, "admin": {"open", "read", "admin"}, None: {"open"}}


@pytest.mark.parametrize("right", [None, "read", "send", "admin"])
@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda each: f"{each.method} {each.path}")
def test_every_end_point_asks_for_its_right(guarded, endpoint, right):
    if endpoint.path == "/events":
        pytest.skip("it does not end; test_events looks at it")
    with client_of(guarded, TOKENS.get(right)) as client:
        status = client.request(endpoint.method, path_of(endpoint)).status_code
    if endpoint.right in ALLOWED[right]:
        assert status not in (401,)
        assert status != 403 or endpoint.path == "/login"
    else:
        assert status == (401 if right is None else 403)


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", "Basic cmVhZA==", f"Bearer {TOKENS['read']}x", "Bearer \xff"])
def test_a_token_that_is_none_opens_nothing(guarded, given):
    with client_of(guarded) as client:
        answer = client.get("/streams", headers={"Authorization": given.encode("latin-1")})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_token_in_the_address_opens_nothing(guarded):
    with client_of(guarded) as client:
        assert client.get("/streams", params={"token": TOKENS["read"]}).status_code == 401


def test_the_page_by_a_session(guarded):
    with client_of(guarded) as client:
        assert 'action="/login"' in client.get("/").text
        assert client.get("/session").json() == {"rights": [], "login": True}
        assert client.post("/login", data={"token": "wrong"}).status_code == 403
        assert client.post("/login", data={"token": TOKENS["send"]}).status_code == 403  # it may not read
        assert client.post("/login", content=b"a=1&" * 5).status_code == 400
        answer = client.post("/login", data={"token": TOKENS["read"]})
        assert (answer.status_code, answer.headers["Location"]) == (303, "/")
        cookie = answer.headers["Set-Cookie"]
        assert re.match(rf"{COOKIE}=[\w-]{{40,}}; HttpOnly; Path=/; SameSite=strict$", cookie)
        assert TOKENS["read"] not in cookie
        assert client.get("/streams").status_code == 200
        assert client.get("/session").json() == {"rights": ["read"], "login": True}
        assert client.post("/streams/rides/alarms/1/normal").status_code == 403  # it reads and no more
        client.post("/logout")
    with client_of(guarded) as client:
        assert client.get("/streams", headers={"Cookie": cookie.split(";")[0]}).status_code == 401
        client.post("/login", data={"token": TOKENS["admin"]})
        assert client.post("/streams/rides/alarms/1/normal").status_code == 404  # there is none, and it may be said


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate by openssl")
def test_a_service_by_https(tmp_path):
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext"]
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    subprocess.run([*command, names, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    trusted = ssl.create_default_context(cafile=certificate)
    with running(settings_of(tmp_path / "state", tokens=TOKENS, certificate=certificate, key=key)) as service:
        assert service.url.startswith("https://127.0.0.1:")
        with client_of(service, verify=trusted) as client:
            answer = client.post("/login", data={"token": TOKENS["read"]}, headers={"Origin": service.url})
            assert answer.status_code == 303
            assert "; Secure" in answer.headers["Set-Cookie"]
            assert client.get("/streams").status_code == 200
        with Client(service.url, token=TOKENS["send"], verify=trusted) as client:
            assert client.send("rides", rows(0, n=5))["rows"] == 5
        with client_of(service) as client, pytest.raises(httpx.ConnectError, match=r"(?i)certificate"):
            client.get("/health")  # nobody vouches for the certificate
        with httpx.Client(trust_env=False) as client, pytest.raises(httpx.TransportError):
            client.get(f"{service.url.replace('https', 'http')}/health")


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"}, {"Host": "evil.example:8125"}, {"Host": ""}, {"Host": "localhost/x"}, {"Host": "[::1"},
        {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://localhost:1"}, {"Origin": "http://\xff"},
        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
    ],
    ids=str,
)  # fmt: skip
def test_requests_from_other_sites_are_refused_on_loopback_too(client, headers):
    raw = {name: value.encode("latin-1") for name, value in headers.items()}
    media_type, body = body_of(pa.table({"x": [1.0]}), "ndjson")
    for method, path in (("GET", "/streams"), ("POST", "/streams/empty/rows"), ("GET", "/"), ("GET", "/health")):
        answer = client.request(
            method, path, headers=raw | {"Content-Type": media_type}, content=body if method == "POST" else None
        )
        assert answer.status_code in (400, 403)  # a Host that is none is refused before us
    assert client.get("/streams/empty").json()["rows"] == 0


def test_the_own_page_and_names_of_this_machine_are_not_other_sites(client, watched):
    port = watched.url.rsplit(":", 1)[1]
    for name in ("localhost", "127.0.0.1", "LOCALHOST", "[::1]"):
        headers = {"Host": f"{name}:{port}", "Origin": f"http://{name}:{port}", "Sec-Fetch-Site": "same-origin"}
        assert client.get("/streams", headers=headers).status_code == 200


def test_every_answer_has_a_strict_policy(client):
    for path in ("/", "/streams", "/streams/none", "/nothing", "/metrics", "/streams/rides/ticks?limit=x"):
        headers = client.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "server" not in headers
    assert client.get("/streams").headers["Cache-Control"] == "no-store"


def test_the_page_holds_no_data_and_no_script_of_its_own(client):
    text = client.get("/").text
    assert "Rides" not in text
    assert "<script>" not in text
    assert not re.search(r"\son\w+=", text)


@pytest.mark.parametrize(
    "path",
    ["/streams/../../etc/passwd", "/streams/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/streams/rides%00",
     "/streams/rides/set-aside/..%2f1",
     "//etc/passwd", "/streams/rides/alarms/1%0d%0aX: y"],
)  # fmt: skip
def test_no_path_names_a_file(client, path):
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert "root:" not in answer.text


def test_settings_that_would_leave_a_door_open_are_refused():
    with pytest.raises(InputError, match="can be reached from other machines, so it needs tokens"):
        Guard(ServerSettings(host="0.0.0.0"))
    with pytest.raises(InputError, match="at least 16 characters"):
        Guard(ServerSettings(tokens={"read": "short"}))
    with pytest.raises(InputError, match="must differ"):
        Guard(ServerSettings(tokens={"read": "x" * 20, "admin": "x" * 20}))


def test_no_secret_is_shown():
    from supersample.live.settings import WebhookSettings

    settings = ServerSettings(tokens={"read": "s" * 20}), WebhookSettings("https://hook.example", "s" * 20)
    assert "s" * 20 not in repr(settings)
