"""The start of a stream that is to match a target."""

from typing import Any

from supersample.errors import InputError, MismatchError
from supersample.kernels import as_kernel
from supersample.selection import stream
from supersample.selection.stream import background
from supersample.selection.stream.aim import Aim, aim_at, rows_of_target
from supersample.selection.stream.lifecycle import Stream
from supersample.selection.stream.plan import HELD_OUT, Plan, Settings
from supersample.summary.depending import drained
from supersample.summary.state import Running
from supersample.summary.summary import Summary

__all__ = ["aim_of", "refuse_own_maps", "refuse_with_target", "started"]


def started(settings: Settings, width: int, target: Any) -> Stream:
    """Return a stream that has seen nothing, aimed at a target: rows, a measure, a Summary, or None for its own rows."""
    if target is None:
        return stream.init(settings, width)
    refuse_with_target(settings, "n_criticisms")
    if not isinstance(target, Summary):
        plan, aim = aim_at(rows_of_target(target, width, settings), settings)
        return stream.init(settings, width, plan, aim=aim)
    plan, aim = aim_of(target._ready().settled)
    if aim.points.shape[1] != width:
        raise MismatchError(
            f"target is a Summary of rows of {aim.points.shape[1]} coordinates, and X has {width} columns; pass "
            f"target.encode(X) for X, or use summarize(X, target=...)"
        )
    refuse_own_maps(settings, plan)
    return stream.init(settings, width, plan, aim=aim)


def aim_of(state: Running) -> tuple[Plan, Aim]:
    """Return the maps of a settled summary, and the rows that it has seen as a target."""
    held = drained(state)
    sample = background.settled(held.background, held.settings.n_background)
    return held.fixed_plan, Aim.of_stream(sample, held.moments, held.held_out)


def refuse_with_target(settings: Settings, criticisms: str) -> None:
    """Refuse what has no meaning with a target."""
    if settings.half_life is not None:
        raise InputError(
            "half_life must be left out with target: what the rows are to match does not depend on when they come; leave out "
            "one of the two"
        )
    if settings.n_criticisms:
        raise InputError(
            f"{criticisms} must be 0 with target, got {settings.n_criticisms}: criticisms are rows that the prototypes of "
            f"their own data do not show; to see them, choose without target"
        )


def refuse_own_maps(settings: Settings, plan: Plan) -> None:
    """Refuse a kernel or features for a target that is a Summary, whose maps are fixed; those that equal its own may stand."""
    kernel, features = settings.kernel, settings.features
    given: dict[str, tuple[Any, Any, Any]] = {
        "features": (features, "auto", plan.feature_map),
        "n_features": (settings.n_features, None, plan.feature_map.n_features),
        "n_held_out": (settings.n_held_out, HELD_OUT, plan.held_out.n_features),
        "bandwidth" if kernel.is_resolved else "kernel": (kernel, as_kernel("gaussian", "median"), plan.kernel),
    }
    for name, (value, default, own) in given.items():
        if value not in (default, own):
            raise InputError(
                f"{name} must be left out where target is a Summary, which has its own, {own!r}, got {value!r}; leave it out, "
                f"or pass the rows of the target in place of the Summary"
            )
