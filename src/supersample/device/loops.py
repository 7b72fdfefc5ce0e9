"""Loops whose every step is the same: recorded once and replayed where the library can."""

import sys
from collections.abc import Callable

from supersample.device.arrays import Array, Home

__all__ = ["repeat"]

State = tuple[Array, ...]

#: Fewer steps than this are not worth a recording.
_WORTH = 16


def repeat(home: Home, step: Callable[[State], State], state: State, times: int) -> State:
    """Apply a step so many times. It must not read the device, and must keep shapes and types.

    In torch on a GPU the step is recorded as a CUDA graph: small steps otherwise take as long as their launches. JAX compiles
    it.
    """
    if home.kind == "torch" and home.on_gpu and times >= _WORTH:
        return _replayed(home, step, state, times)
    if home.kind == "jax" and times >= _WORTH:
        step = sys.modules["jax"].jit(step)
    for _ in range(times):
        state = step(state)
    return state


def _replayed(home: Home, step: Callable[[State], State], state: State, times: int) -> State:
    torch = sys.modules["torch"]
    held = tuple(each.clone() for each in state)
    with torch.cuda.device(home.device):
        # Libraries set themselves up at the first call, which a recording must not contain.
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            step(held)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for place, after in zip(held, step(held), strict=True):
                place.copy_(after)
        for _ in range(times):
            graph.replay()
    return held
