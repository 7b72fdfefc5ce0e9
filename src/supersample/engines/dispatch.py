"""The public functions that also run on clusters: the engine of a cluster gets its frames, this process reads all else.

The engine follows from the module of the source's type and is imported only when it is needed.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, Literal, ParamSpec, TypeVar

from supersample import selection, summary
from supersample.engines.job import job_of
from supersample.errors import InputTypeError

__all__ = ["engine_of", "herd", "sbq", "summarize", "wkh"]

Engine = Literal["dask", "spark"]
P = ParamSpec("P")
R = TypeVar("R")

_PACKAGES: dict[str, Engine] = {"dask": "dask", "dask_expr": "dask", "pyspark": "spark"}


def engine_of(source: Any) -> Engine | None:
    """Return the engine of a source, or None if this process reads it.

    >>> engine_of([1, 2]) is None
    True
    """
    return _PACKAGES.get(type(source).__module__.split(".")[0])


def _dispatched(function: Callable[P, R], on_cluster: Callable[[Any, Any, Mapping[str, Any]], R]) -> Callable[P, R]:
    """Return the function, replaced by on_cluster(engine, frame, options) if its first argument is a cluster's frame."""
    signature = inspect.signature(function)
    subject = next(iter(signature.parameters))

    @wraps(function)
    def dispatching(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, value in kwargs.items():
            if name != subject and engine_of(value) is not None:
                raise InputTypeError(
                    f"{name} must be in memory, got {type(value).__name__} of a cluster; gather it first, or a sample of it"
                )
        engine = engine_of(args[0] if args else kwargs.get(subject))
        if engine is None:
            return function(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return on_cluster(import_module(f"supersample.engines.{engine}"), bound.arguments[subject], bound.arguments)

    return dispatching


def _selecting(method: str) -> Callable[[Any, Any, Mapping[str, Any]], selection.Selection]:
    def select(engine: Any, frame: Any, options: Mapping[str, Any]) -> selection.Selection:
        from supersample.engines.herding import select as distributed

        return distributed(engine.cluster(frame), method, options)

    return select


def _summarizing(engine: Any, frame: Any, options: Mapping[str, Any]) -> summary.Summary:
    found: summary.Summary = engine.run(frame, job_of(options))
    return found


summarize = _dispatched(summary.summarize, _summarizing)
herd = _dispatched(selection.herd, _selecting("herd"))
sbq = _dispatched(selection.sbq, _selecting("sbq"))
wkh = _dispatched(selection.wkh, _selecting("wkh"))
