"""Frames that live on a cluster: by the package of their type, which engine reads them."""

from typing import Any, NamedTuple

from supersample._registry import Registry

__all__ = ["ENGINES", "EngineHome", "engine_of"]


class EngineHome(NamedTuple):
    """The packages whose frames an engine reads, and the module that implements `supersample.engines.protocol.Engine`.

    The module is named, not imported: nobody should need Spark to read a file.
    """

    packages: tuple[str, ...]
    module: str


#: The engines of clusters; a new one is a module and a line here.
ENGINES: Registry[EngineHome] = Registry(
    "engine",
    {
        "dask": EngineHome(("dask", "dask_expr"), "supersample.engines.dask"),
        "spark": EngineHome(("pyspark",), "supersample.engines.spark"),
    },
)


def engine_of(source: Any) -> EngineHome | None:
    """Return the engine of a source, or None if this process reads it.

    >>> engine_of([1, 2]) is None
    True
    """
    package = type(source).__module__.split(".")[0]
    return next((home for home in ENGINES.values() if package in home.packages), None)
