"""A client of the service: sends rows, and asks what is known of a stream."""

import os
import secrets
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import pyarrow as pa

from supersample.errors import InputError, InputTypeError, SupersampleError
from supersample.live.pauses import Pauses

if TYPE_CHECKING:
    import httpx

__all__ = ["Client", "ServiceError"]

#: Answers after which the same request may succeed later.
_PASSING = (429, 502, 503, 504)


class ServiceError(SupersampleError, RuntimeError):
    """The service did not do what it was asked to; `status` is the status of its answer, 0 if there was none."""

    def __init__(self, message: str, status: int = 0) -> None:
        """Keep the status."""
        super().__init__(message)
        self.status = status


class Client:
    """A client of `supersample watch`; needs `pip install 'supersample[live]'`.

    url: where the service is. token: for sending or reading; by default that of the environment variable SUPERSAMPLE_TOKEN.
    patience: seconds for which a request is repeated while the service is away or cannot keep up. verify: as of httpx: whether,
    or by which certificates, the service's certificate is checked.

    >>> from supersample.live import Client
    >>> with Client("http://127.0.0.1:8125") as client:  # doctest: +SKIP
    ...     client.send("rides", table)
    ...     client.status("rides")["verdict"]
    """

    def __init__(
        self, url: str = "http://127.0.0.1:8125", *, token: str | None = None, patience: float = 60.0, timeout: float = 30.0,
        verify: Any = True,
    ) -> None:  # fmt: skip
        try:
            import httpx  # not at the top: the package does not need it
        except ImportError as error:
            raise InputError("Client needs httpx; install it with: pip install 'supersample[live]'") from error
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise InputError(f"url must be that of a service, such as 'http://127.0.0.1:8125', got {url!r}")
        token = os.environ.get("SUPERSAMPLE_TOKEN", "") if token is None else token
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._patience = patience
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout, verify=verify)

    def send(self, stream: str, rows: Any, *, batch_id: str | None = None) -> dict[str, Any]:
        """Send rows and return what became of them once they are durable.

        rows: a table of PyArrow, a frame, or a mapping of columns; a list of mappings, one for each row.
        batch_id: names these rows; sent again under the same id, they are counted once. By default a new one, which is kept
        while this call repeats itself; pass your own if the caller may repeat it, too.
        """
        sink = pa.BufferOutputStream()
        table = _table_of(rows)
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        headers = {"Batch-Id": batch_id or secrets.token_hex(12), "Content-Type": "application/vnd.apache.arrow.stream"}
        body = bytes(sink.getvalue())
        return self._asked("POST", f"/streams/{quote(stream, safe='')}/rows", content=body, headers=headers)

    def streams(self) -> list[dict[str, Any]]:
        """Return the status of every stream."""
        found: list[dict[str, Any]] = self._asked("GET", "/streams")["streams"]
        return found

    def status(self, stream: str) -> dict[str, Any]:
        """Return the verdict on a stream, and what it rests on."""
        return self._asked("GET", f"/streams/{quote(stream, safe='')}")

    def alarms(self, stream: str) -> list[dict[str, Any]]:
        """Return the alarms of a stream, the first one first."""
        found: list[dict[str, Any]] = self._asked("GET", f"/streams/{quote(stream, safe='')}/alarms")["alarms"]
        return found

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        """Return the client, which is closed at the end of the block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the connections."""
        self.close()

    def _asked(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        """Ask until there is an answer that stands, or patience ends."""
        import httpx

        pauses, end = Pauses(0.2, 10.0), time.monotonic() + self._patience
        while True:
            answer, trouble = None, ""
            try:
                answer = self._http.request(method, path, **request)
            except httpx.TransportError as error:
                trouble = f"{type(error).__name__}: {error}"
            if answer is not None and answer.status_code not in _PASSING:
                return _values(answer)
            pause = max(pauses.next(), _wanted(answer))
            if time.monotonic() + pause > end:
                if answer is not None:
                    return _values(answer)
                raise ServiceError(f"the service at {self._http.base_url} does not answer ({trouble}); is it running?")
            time.sleep(pause)


def _wanted(answer: "httpx.Response | None") -> float:
    """Return the seconds that the service asks to wait."""
    text = "" if answer is None else answer.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else 0.0


def _values(answer: "httpx.Response") -> dict[str, Any]:
    try:
        values = answer.json()
    except ValueError:
        values = {}
    if answer.is_success and isinstance(values, dict):
        return values
    told = values.get("error") if isinstance(values, dict) else None
    raise ServiceError(f"the service answered {answer.status_code}: {told or answer.reason_phrase}", answer.status_code)


def _table_of(rows: Any) -> pa.Table:
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    if isinstance(rows, Mapping):
        return pa.table(dict(rows))
    if isinstance(rows, list) and all(isinstance(each, Mapping) for each in rows):
        return pa.Table.from_pylist([dict(each) for each in rows])
    if hasattr(rows, "__arrow_c_stream__"):
        return pa.table(rows)
    raise InputTypeError(
        f"rows must be a table, a frame, a mapping of columns or a list of mappings, got {type(rows).__name__}"
    )
