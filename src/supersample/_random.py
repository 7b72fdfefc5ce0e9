"""Randomness: one seed in, independent streams out, keyed by purpose.

A seed is kept as the pair (entropy, spawn_key) of a `numpy.random.SeedSequence`, an integer and a tuple of
integers: they can be stored, compared and turned into the same stream again.
"""

import zlib
from typing import NamedTuple

import numpy as np

from supersample._stored import INTEGER, stored, tuple_of
from supersample._typing import RandomState
from supersample.errors import InputError, InputTypeError

__all__ = ["Seed", "as_seed"]

#: Number of 32-bit words that given entropy is folded into.
_WORDS = 4


@stored("Seed", {"entropy": INTEGER, "path": tuple_of(INTEGER)})
class Seed(NamedTuple):
    """A stored seed: the entropy and the path of purposes that it was derived by."""

    entropy: int
    path: tuple[int, ...] = ()

    def child(self, purpose: str | int) -> "Seed":
        """Derive the seed of one purpose (a word) or of one partition (its index)."""
        key = purpose if isinstance(purpose, int) else zlib.crc32(purpose.encode())
        return Seed(self.entropy, (*self.path, key))

    def sequence(self) -> np.random.SeedSequence:
        """Return the NumPy seed sequence; it can be passed on as a `random_state`."""
        return np.random.SeedSequence(self.entropy, spawn_key=self.path)

    def generator(self) -> np.random.Generator:
        """Start the stream of random numbers that belongs to this seed."""
        return np.random.Generator(np.random.PCG64(self.sequence()))


def as_seed(random_state: RandomState) -> Seed:
    """Turn the `random_state` argument into a storable seed.

    None draws fresh entropy from the operating system; a Generator is advanced; nothing is taken from NumPy's
    global state.
    """
    if random_state is None:
        return Seed(_entropy(np.random.SeedSequence()))
    if isinstance(random_state, np.random.SeedSequence):
        return Seed(_entropy(random_state), tuple(int(key) for key in random_state.spawn_key))
    if isinstance(random_state, np.random.Generator):
        words = random_state.integers(0, 2**32, size=_WORDS, dtype=np.uint32)
        return Seed(int.from_bytes(words.astype("<u4").tobytes(), "little"))
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer):
        raise InputTypeError(
            f"random_state must be an int, a numpy Generator, a SeedSequence or None, got "
            f"{type(random_state).__name__}; pass an int to make results repeat"
        )
    if random_state < 0:
        raise InputError(f"random_state must not be negative, got {random_state}; pass an int of 0 or more")
    return Seed(int(random_state))


def _entropy(sequence: np.random.SeedSequence) -> int:
    entropy = sequence.entropy
    if isinstance(entropy, int):
        return entropy
    # A SeedSequence may hold a list of ints: fold them into one, in order, so that it can be stored.
    words = np.random.SeedSequence(entropy).generate_state(_WORDS)
    return int.from_bytes(words.astype("<u4").tobytes(), "little")
