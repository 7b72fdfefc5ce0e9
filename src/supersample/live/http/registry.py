"""All end points; those of another file are one line here."""

from supersample.live.http import deciding, entrance, page, reading, rows
from supersample.live.http.endpoint import Endpoint

__all__ = ["ENDPOINTS"]

ENDPOINTS: tuple[Endpoint, ...] = (
    *entrance.ENDPOINTS,
    *page.ENDPOINTS,
    *reading.ENDPOINTS,
    *deciding.ENDPOINTS,
    *rows.ENDPOINTS,
)
