"""The errors users see: each says which argument, what was expected, what came and what to do."""

from typing import Any

__all__ = ["FunctionError", "InputError", "InputTypeError", "MismatchError", "SupersampleError"]


class SupersampleError(Exception):
    """Base of every error that supersample raises on purpose."""


class InputError(SupersampleError, ValueError):
    """An argument has the right type but an unusable value."""


class InputTypeError(SupersampleError, TypeError):
    """An argument is of a type that cannot be used."""


class MismatchError(SupersampleError, ValueError):
    """Two things that should be combined do not fit together."""


class FunctionError(SupersampleError, ValueError):
    """A user's function raised an error, returned something unusable, or its value could not be saved.

    integral: what all calls that succeeded gave, an `Integral` to pass as resume=; None if there were none.
    """

    def __init__(self, message: str, integral: Any = None) -> None:
        """Keep what is known."""
        super().__init__(message)
        self.integral = integral
