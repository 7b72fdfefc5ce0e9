"""Replace a data set or an endless stream by the few real points that represent it."""

from _thread import RLock as _RLock  # built in, unlike `threading`: this module reads no other file

# Type checkers treat this as true. It is not imported from `typing`, for the same reason.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from supersample import columns, errors, features, kernels, live, measures
    from supersample.discrepancy import TestResult, circular_discrepancy, circular_ensemble, mmd2, two_sample_test
    from supersample.embedding import MeanEmbedding
    from supersample.engines import frank_wolfe, herd, sbq, spark_sink, summarize, wkh
    from supersample.history import Alarm, ChangeDetector, History, Period
    from supersample.integration import Integral, Integration, integrate
    from supersample.selection import Selection, quadrature_weights
    from supersample.selection.critic import Critique, critic, online_critic
    from supersample.summary import Comparison, Progress, Summary, load
    from supersample.summary.distilling import Distilled, distil
    from supersample.summary.sampler import SuperSampler

__version__ = "0.1.0"

__all__ = [
    "Alarm",
    "ChangeDetector",
    "Comparison",
    "Critique",
    "Distilled",
    "History",
    "Integral",
    "Integration",
    "MeanEmbedding",
    "Period",
    "Progress",
    "Selection",
    "Summary",
    "SuperSampler",
    "TestResult",
    "circular_discrepancy",
    "circular_ensemble",
    "columns",
    "critic",
    "distil",
    "errors",
    "features",
    "frank_wolfe",
    "herd",
    "integrate",
    "kernels",
    "live",
    "load",
    "measures",
    "mmd2",
    "online_critic",
    "quadrature_weights",
    "sbq",
    "spark_sink",
    "summarize",
    "two_sample_test",
    "wkh",
]

#: The module of each public name. Names are imported on first use: importing all of them takes seconds, mostly for Numba and
#: scikit-learn.
_HOMES = {
    "Alarm": "supersample.history",
    "ChangeDetector": "supersample.history",
    "Comparison": "supersample.summary",
    "Critique": "supersample.selection.critic",
    "Distilled": "supersample.summary.distilling",
    "History": "supersample.history",
    "Integral": "supersample.integration",
    "Integration": "supersample.integration",
    "MeanEmbedding": "supersample.embedding",
    "Period": "supersample.history",
    "Progress": "supersample.summary",
    "Selection": "supersample.selection",
    "Summary": "supersample.summary",
    "SuperSampler": "supersample.summary.sampler",
    "TestResult": "supersample.discrepancy",
    "circular_discrepancy": "supersample.discrepancy",
    "circular_ensemble": "supersample.discrepancy",
    "columns": "supersample",
    "critic": "supersample.selection.critic",
    "distil": "supersample.summary.distilling",
    "errors": "supersample",
    "features": "supersample",
    "frank_wolfe": "supersample.engines",
    "herd": "supersample.engines",
    "integrate": "supersample.integration",
    "kernels": "supersample",
    "live": "supersample",
    "load": "supersample.summary",
    "measures": "supersample",
    "mmd2": "supersample.discrepancy",
    "online_critic": "supersample.selection.critic",
    "quadrature_weights": "supersample.selection",
    "sbq": "supersample.engines",
    "spark_sink": "supersample.engines",
    "summarize": "supersample.engines",
    "two_sample_test": "supersample.discrepancy",
    "wkh": "supersample.engines",
}


#: One thread imports at a time: threads that import modules which need each other could wait for each other.
_importing = _RLock()

if not TYPE_CHECKING:  # with this function, a type checker would accept every misspelt name

    def __getattr__(name):
        """Import a public name on first use and cache it."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        home = _HOMES[name]
        with _importing:
            value = import_module(f"{home}.{name}") if home == __name__ else getattr(import_module(home), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
