"""The errors users see: each says which argument, what was expected, what came and what to do."""

__all__ = ["InputError", "InputTypeError", "MismatchError", "SupersampleError"]


class SupersampleError(Exception):
    """Base of every error that supersample raises on purpose."""


class InputError(SupersampleError, ValueError):
    """An argument has the right type but an unusable value."""


class InputTypeError(SupersampleError, TypeError):
    """An argument is of a type that cannot be used."""


class MismatchError(SupersampleError, ValueError):
    """Two things that should be combined do not fit together."""
