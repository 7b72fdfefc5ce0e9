"""Scores of any PyTorch module, by gradients of one row at a time. Needs the extra `torch`."""

import copy
import hashlib
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from supersample._typing import Floats
from supersample.errors import InputError
from supersample.features.scores import Scores
from supersample.kernels.named import name_of

__all__ = ["TorchScores", "is_module"]


def is_module(model: Any) -> bool:
    """Whether the model is a torch module; does not import torch."""
    return any(each.__module__.startswith("torch.nn") and each.__name__ == "Module" for each in type(model).__mro__)


#: Attributes of a module that its forward pass may use besides tensors.
_PLAIN = (bool, int, float, complex, str, bytes, tuple, type(None))


class TorchScores(Scores):
    """-d loss(module(x), y) / d theta for each row by itself, over all parameters that require a gradient or those named."""

    def __init__(
        self, module: Any, n_inputs: int, loss: Callable[[Any, Any], Any] | None, parameters: Sequence[str] | None
    ) -> None:
        """Copy the module, so that later training or a change of mode does not change the map, nor the map the module."""
        self._torch = importlib.import_module("torch")
        self._module = copy.deepcopy(module).eval()
        self._loss = loss
        held = {name: each.detach() for name, each in self._module.named_parameters()}
        wanted = (
            [name for name, each in module.named_parameters() if each.requires_grad] if parameters is None else list(parameters)
        )
        unknown = [name for name in wanted if name not in held]
        if unknown or not wanted:
            raise InputError(f"parameters must name some of {sorted(held)}, got {list(parameters or ())}")
        self._free = {name: held[name] for name in wanted}
        self._fixed = {name: each for name, each in held.items() if name not in self._free}
        self._buffers = {name: each.detach() for name, each in self._module.named_buffers()}
        self.n_inputs = n_inputs
        self.n_scores = sum(int(each.numel()) for each in self._free.values())
        self._gradients = self._torch.func.vmap(self._torch.func.grad(self._log_likelihood), in_dims=(None, 0, 0))
        self._n_outputs = self._try_out()

    def check(self, rows: Floats) -> None:
        """Refuse labels that are not class numbers, if the loss is the default cross-entropy."""
        labels = rows[:, -1]
        known = (labels >= 0) & (labels < self._n_outputs) & (labels == np.floor(labels))
        if self._loss is None and not bool(known.all()):
            raise InputError(
                f"the last column of points must hold the labels, whole numbers from 0 to {self._n_outputs - 1} for a module "
                f"with {self._n_outputs} outputs, got {labels[int(np.argmin(known))]}; pass np.column_stack([X, y]), or a loss"
            )

    def __call__(self, rows: Floats) -> Floats:
        """Return the gradients of all rows, flattened in the order of the parameters."""
        torch = self._torch
        like = next(iter(self._free.values()))
        inputs = torch.as_tensor(rows[:, :-1], dtype=like.dtype, device=like.device)
        kind = torch.long if self._loss is None else like.dtype
        labels = torch.as_tensor(rows[:, -1]).to(device=like.device, dtype=kind)
        try:
            found = self._gradients(self._free, inputs, labels)
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            raise InputError(
                f"loss must be a function of the {self._n_outputs} outputs of the module and of the label of one row, both as "
                f"vectors, that returns one number; differentiating it failed with: {error}"
            ) from error
        flat = [found[name].reshape(rows.shape[0], -1) for name in self._free]
        return np.asarray(torch.cat(flat, dim=1).detach().cpu().numpy(), dtype=np.float64)

    def _try_out(self) -> int:
        """Run the module on one row of zeros and return the number of outputs."""
        like = next(iter(self._free.values()))
        try:
            with self._torch.no_grad():
                out = self._module(like.new_zeros((1, self.n_inputs - 1)))
            n_outputs = int(out.numel())
        except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise InputError(
                f"n_inputs must be the number of columns that the module takes; with a row of {self.n_inputs - 1} it failed "
                f"with: {error}"
            ) from error
        if self._loss is None and (out.ndim != 2 or n_outputs < 2):
            raise InputError(
                f"loss must be given for a module whose output is not a row of two or more logits, got shape "
                f"{tuple(out.shape)} for one row; pass a function of output and label"
            )
        return n_outputs

    def _log_likelihood(self, free: Any, one: Any, label: Any) -> Any:
        torch = self._torch
        state = {**self._fixed, **free, **self._buffers}
        out = torch.func.functional_call(self._module, state, (one[None],))
        if self._loss is None:
            return -torch.nn.functional.cross_entropy(out, label[None])
        return -self._loss(out.reshape(-1), label[None])

    @property
    def identity(self) -> Mapping[str, Any]:
        """The module's form, a digest of the loss's code, and one of parameters, buffers and plain attributes."""
        whole = hashlib.sha256(repr(self._module).encode())
        for name, part in self._module.named_modules():
            plain = {key: value for key, value in vars(part).items() if not key.startswith("_") and isinstance(value, _PLAIN)}
            whole.update(f"{name}: {sorted(plain.items(), key=lambda item: item[0])!r}".encode())
        for name, each in sorted({**self._fixed, **self._free, **self._buffers}.items()):
            whole.update(name.encode() + each.cpu().numpy().tobytes())
        loss = "cross-entropy" if self._loss is None else name_of(self._loss)
        return {"model": "torch", "loss": loss, "free": list(self._free), "parameters": whole.hexdigest()}
