"""A service that runs in this process, and clients of it."""

import io
from contextlib import contextmanager

import httpx
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from live_rows import rows
from supersample._plain import as_rows
from supersample.live.running import Running
from supersample.live.settings import Limits, ServerSettings, ServiceSettings, StreamSettings

__all__ = ["BODIES", "TOKENS", "body_of", "client_of", "running", "send", "settings_of"]

TOKENS = {right: f"{right}-token-{right}-token" for right in ("read", "send", "admin")}


def settings_of(folder, *streams, limits=None, webhooks=(), tokens=None, **server):
    """Return the settings of a service on a free port."""
    own = ServerSettings(port=0, tokens=tokens or {}, **server)
    streams = streams or (StreamSettings("rides", {"time": "when", "every": "10s", "random_state": 0}),)
    return ServiceSettings(folder, streams, own, limits or Limits(), webhooks)


@contextmanager
def running(settings, told=None):
    """Run a service for as long as the block runs; `events` of it is what happened."""
    events = []
    service = Running(settings, told or (lambda event, **values: events.append((event, values))))
    service.events = events
    service.start()
    try:
        yield service
    finally:
        service.stop()


def client_of(service, token=None, **more):
    """Return a client with a token."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=service.url, headers=headers, timeout=60.0, trust_env=False, **more)


def _ndjson(table):
    import json

    from supersample._plain import plain

    return "".join(json.dumps(plain(each)) + "\n" for each in as_rows(table)).encode()


def _csv(table):
    sink = io.BytesIO()
    pyarrow.csv.write_csv(table, sink)
    return sink.getvalue()


def _arrow(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _parquet(table):
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


#: The media type of each format, and what writes it.
BODIES = {
    "ndjson": ("application/x-ndjson", _ndjson),
    "csv": ("text/csv", _csv),
    "arrow": ("application/vnd.apache.arrow.stream", _arrow),
    "parquet": ("application/vnd.apache.parquet", _parquet),
}


def body_of(table, form="arrow"):
    """Return media type and body of a table."""
    media_type, write = BODIES[form]
    return media_type, write(table)


def send(client, number, stream="rides", **more):
    """Send the rows of a number as a batch, and return the answer."""
    media_type, body = body_of(rows(number, **more))
    headers = {"Content-Type": media_type, "Batch-Id": f"batch-{number}"}
    return client.post(f"/streams/{stream}/rows", content=body, headers=headers)
