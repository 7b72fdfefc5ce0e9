"""The public functions that also run on clusters: the engine of a cluster gets its frames, this process reads all else.

The engine follows from the package of the source's type and is imported only when it is needed.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar, cast

from supersample import selection, summary
from supersample.engines.job import job_of
from supersample.engines.protocol import Engine
from supersample.errors import InputTypeError
from supersample.records.sources.clusters import engine_of

__all__ = ["frank_wolfe", "herd", "sbq", "summarize", "wkh"]

P = ParamSpec("P")
R = TypeVar("R")


def _dispatched(function: Callable[P, R], on_cluster: Callable[[Engine, Any, Mapping[str, Any]], R]) -> Callable[P, R]:
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
        home = engine_of(args[0] if args else kwargs.get(subject))
        if home is None:
            return function(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        engine = cast(Engine, import_module(home.module))
        return on_cluster(engine, bound.arguments[subject], bound.arguments)

    return dispatching


def _selecting(method: str) -> Callable[[Engine, Any, Mapping[str, Any]], selection.Selection]:
    def select(engine: Engine, frame: Any, options: Mapping[str, Any]) -> selection.Selection:
        from supersample.engines.herding import select as distributed

        return distributed(engine.cluster(frame), method, options)

    return select


def _summarizing(engine: Engine, frame: Any, options: Mapping[str, Any]) -> summary.Summary:
    return engine.run(frame, job_of(options))


summarize = _dispatched(summary.summarize, _summarizing)
frank_wolfe = _dispatched(selection.frank_wolfe, _selecting("frank_wolfe"))
herd = _dispatched(selection.herd, _selecting("herd"))
sbq = _dispatched(selection.sbq, _selecting("sbq"))
wkh = _dispatched(selection.wkh, _selecting("wkh"))
