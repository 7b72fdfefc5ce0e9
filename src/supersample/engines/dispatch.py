"""The public `summarize`: rows of this process are read by it, frames of a cluster by the cluster's engine.

Engines are recognised by the module of what they are given, and imported only then.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, Literal, ParamSpec

from supersample.engines.job import job_of
from supersample.summary import Summary
from supersample.summary import summarize as alone

__all__ = ["engine_of", "summarize"]

Engine = Literal["dask", "spark"]
P = ParamSpec("P")

_PACKAGES: dict[str, Engine] = {"dask": "dask", "dask_expr": "dask", "pyspark": "spark"}


def engine_of(source: Any) -> Engine | None:
    """Name the engine that a source belongs to, None for what this process reads.

    >>> engine_of([1, 2]) is None
    True
    """
    return _PACKAGES.get(type(source).__module__.split(".")[0])


def _dispatched(function: Callable[P, Summary]) -> Callable[P, Summary]:
    signature = inspect.signature(function)

    @wraps(function)
    def dispatching(*args: P.args, **kwargs: P.kwargs) -> Summary:
        bound = signature.bind(*args, **kwargs)
        source = bound.arguments["source"]
        engine = engine_of(source)
        if engine is None:
            return function(*args, **kwargs)
        bound.apply_defaults()
        run: Callable[..., Summary] = import_module(f"supersample.engines.{engine}").run
        return run(source, job_of(bound.arguments))

    return dispatching


summarize = _dispatched(alone)
