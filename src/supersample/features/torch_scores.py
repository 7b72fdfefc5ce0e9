"""Scores of any PyTorch module, by gradients of one row at a time. Needs the extra `torch`."""

import hashlib
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from supersample._typing import Floats
from supersample.errors import InputError
from supersample.features.scores import Scores

__all__ = ["TorchScores", "is_module"]


def is_module(model: Any) -> bool:
    """Whether the model is a torch module, found out without importing torch."""
    return any(each.__module__.startswith("torch.nn") and each.__name__ == "Module" for each in type(model).__mro__)


class TorchScores(Scores):
    """-d loss(module(x), y) / d theta for each row by itself, over all parameters that require a gradient or those named."""

    def __init__(
        self, module: Any, n_inputs: int, loss: Callable[[Any, Any], Any] | None, parameters: Sequence[str] | None
    ) -> None:
        """Copy the parameters, so that later training does not change the map."""
        self._torch = importlib.import_module("torch")
        self._module = module.eval()
        self._loss = loss
        held = {name: each.detach().clone() for name, each in module.named_parameters()}
        wanted = (
            [name for name, each in module.named_parameters() if each.requires_grad] if parameters is None else list(parameters)
        )
        unknown = [name for name in wanted if name not in held]
        if unknown or not wanted:
            raise InputError(f"parameters must name some of {sorted(held)}, got {list(parameters or ())}")
        self._free = {name: held[name] for name in wanted}
        self._fixed = {name: each for name, each in held.items() if name not in self._free}
        self._buffers = {name: each.detach().clone() for name, each in module.named_buffers()}
        self.n_inputs = n_inputs
        self.n_scores = sum(int(each.numel()) for each in self._free.values())
        self._gradients = self._torch.func.vmap(self._torch.func.grad(self._log_likelihood), in_dims=(None, 0, 0))

    def __call__(self, rows: Floats) -> Floats:
        """Return the gradients of all rows, flattened in the order of the parameters."""
        torch = self._torch
        kind = next(iter(self._free.values())).dtype
        inputs = torch.as_tensor(rows[:, :-1], dtype=kind)
        labels = torch.as_tensor(rows[:, -1])
        labels = labels.to(kind) if self._loss is not None else labels.to(torch.long)
        found = self._gradients(self._free, inputs, labels)
        flat = [found[name].reshape(rows.shape[0], -1) for name in self._free]
        return np.asarray(torch.cat(flat, dim=1).detach().cpu().numpy(), dtype=np.float64)

    def _log_likelihood(self, free: Any, one: Any, label: Any) -> Any:
        torch = self._torch
        state = {**self._fixed, **free, **self._buffers}
        out = torch.func.functional_call(self._module, state, (one[None],))
        if self._loss is None:
            return -torch.nn.functional.cross_entropy(out, label[None])
        return -self._loss(out.reshape(-1), label[None])

    @property
    def identity(self) -> Mapping[str, Any]:
        """The module's form, the loss's name, and a digest of parameters and buffers."""
        whole = hashlib.sha256(repr(self._module).encode())
        for name, each in sorted({**self._fixed, **self._free, **self._buffers}.items()):
            whole.update(name.encode() + each.cpu().numpy().tobytes())
        loss = "cross-entropy" if self._loss is None else getattr(self._loss, "__name__", repr(self._loss))
        return {"model": "torch", "loss": loss, "free": list(self._free), "parameters": whole.hexdigest()}
