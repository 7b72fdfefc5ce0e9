"""All end points; those of another file are one line here."""

from supersample.live.http import deciding, entrance, reading, rows
from supersample.live.http.endpoint import Endpoint

__all__ = ["ENDPOINTS"]

ENDPOINTS: tuple[Endpoint, ...] = (*entrance.ENDPOINTS, *reading.ENDPOINTS, *deciding.ENDPOINTS, *rows.ENDPOINTS)
