"""Requests that schemathesis makes of the API description, against a service with a stream that has changed.

`python -m live_fuzzed PATH --max-examples 100` takes the path of schemathesis, which has an environment of its own, and options
of its command `run`. What is asked and allowed is in `live_fuzzed.toml`.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from live_services import TOKENS, client_of, running, send, settings_of

__all__ = ["main"]


def main(command, *options):
    """Start a service, let schemathesis ask it, and return its status."""
    with tempfile.TemporaryDirectory() as folder, running(settings_of(Path(folder), tokens=TOKENS)) as service:
        with client_of(service, TOKENS["send"]) as client:
            for number in range(50):  # it changes in the middle, so that it has an alarm
                assert send(client, number, shift=2.0 * (number >= 36)).status_code == 200
            headers = {"Content-Type": "text/csv"}
            assert client.post("/streams/rides/rows", content=b"no column\n1\n", headers=headers).status_code == 422
        with client_of(service, TOKENS["read"]) as client:
            before = client.get("/streams/rides").json()
            assert before["alarms"] == before["aside"] == 1, before
        tokens = {f"SUPERSAMPLE_{right.upper()}_TOKEN": token for right, token in TOKENS.items()}
        config = Path(__file__).with_suffix(".toml")
        run = [command, "--config-file", str(config), "run", f"{service.url}/openapi.json", *options]
        status = subprocess.run(run, cwd=folder, env={**os.environ, **tokens}, check=False).returncode
        with client_of(service, TOKENS["read"]) as client:
            assert client.get("/ready").json() == {"status": "ready"}
        return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
