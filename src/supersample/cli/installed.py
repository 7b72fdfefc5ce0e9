"""Whether the packages of the service are there; they are no part of supersample itself."""

from importlib.util import find_spec

from supersample.errors import InputError

__all__ = ["check_live"]


def check_live() -> None:
    """Say what to install where a package of the service is missing."""
    missing = [name for name in ("httpx", "prometheus_client", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise InputError(f"the service needs {', '.join(missing)}; install them with: pip install 'supersample[live]'")
