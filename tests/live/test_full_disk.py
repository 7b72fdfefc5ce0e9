"""A disk that is really full: what was acknowledged is kept, what was not can be sent again, and every row counts once."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from live_rows import close, is_history_of
from supersample.live.settings import Limits, StreamSettings
from supersample.live.stream import Stream

pytest.importorskip("resource", reason="only POSIX limits the size of files")

#: Runs in a process of its own, since the limit holds for every file that a process writes.
FULL = """
    import json, resource, sys
    from pathlib import Path
    from live_services import client_of, running, send, settings_of
    from supersample.live.settings import StreamSettings

    folder, stream = Path(sys.argv[1]), StreamSettings("rides", {"time": "when", "every": "10s"})

    def fill(spare):
        # Writing more than this ends half way, as on a full disk (Python ignores the signal that goes with it).
        largest = max(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + spare, resource.RLIM_INFINITY))

    def post(numbers):
        found = []
        for number in numbers:
            answer = send(client, number)
            found.append([number, answer.status_code, answer.json().get("repeated"), answer.headers.get("Retry-After")])
            if answer.status_code != 200:
                break
        return found

    with running(settings_of(folder, stream)) as service, client_of(service) as client:
        told = {"before": post(range(2))}
        fill(50_000)
        told["while"] = post(range(2, 100))
        full = len(told["while"]) + 1
        told["again"] = post([full])
        told["ready"] = client.get("/ready").json()
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        told["after"] = post(range(max(full + 2, 12)))
        told["ready after"] = client.get("/ready").json()
        told["rows"] = client.get("/streams/rides").json()["rows"]
    told["trouble"] = service.trouble
    print(json.dumps(told))
"""


def test_rows_that_a_full_disk_refused_are_counted_once_when_it_has_room_again(tmp_path):
    tests = Path(__file__).parents[1]
    code = f"import sys; sys.path[:0] = {[str(tests), str(tests / 'helpers')]!r}\n{textwrap.dedent(FULL)}"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    *taken, (full, status, _, later) = told["while"]
    assert taken  # there was room for some
    assert all(each[1:] == [200, False, None] for each in told["before"] + taken)
    assert (status, later) == (503, "5")
    assert told["again"] == [[full, 503, None, "5"]]
    assert "disk" in told["ready"]["streams"]["rides"]  # in the words of SQLite
    last = max(full + 2, 12)
    assert told["after"] == [[number, 200, number < full, None] for number in range(last)]
    assert told["ready after"] == {"status": "ready"}
    assert told["rows"] == 500 * last
    assert told["trouble"] == ""
    stream = Stream(StreamSettings("rides", {"time": "when", "every": "10s"}), tmp_path / "rides", Limits())
    try:
        assert is_history_of(stream, last)
    finally:
        close(stream)
