"""The vector of one text, word by word and n-gram by n-gram."""

import math

import numpy as np
from sklearn.utils import murmurhash3_32

SEEDS = {"word": 0x9E3779B97F4A7C15, "part": 0xD1B54A32D192ED03}
MASK = (1 << 64) - 1


def signs(text, kind):
    """Return 64 signs for a string: the bits of a SplitMix64 of its 22-bit MurmurHash3."""
    place = abs(murmurhash3_32(text.encode(), seed=0)) % 2**22
    mixed = (place + 1) * SEEDS[kind] & MASK
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & MASK
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK
    mixed ^= mixed >> 31
    return np.array([1.0 if mixed >> bit & 1 else -1.0 for bit in range(64)])


def word_vector(word):
    padded = f" {word} "
    grams = np.zeros(64)
    for size in (3, 4, 5):
        parts = [padded[start : start + size] for start in range(max(len(padded) - size + 1, 1))]
        grams += sum(signs(part, "part") for part in parts)
        if len(padded) <= size:  # a short word is its own only n-gram, counted once
            break
    vector = signs(word, "word") / 8.0 + grams / max(np.sqrt(grams @ grams), 1e-300)
    return np.rint(vector * 2**20)


def text_vector(text):
    words = "".join(each if each.isalnum() else " " for each in text.lower()).split()
    total = np.zeros(64)
    for word in sorted(set(words)):
        total += np.rint(math.sqrt(words.count(word)) * min(len(word) / 6, 1.0) * 1024) * word_vector(word)
    return total / np.sqrt(total @ total) if words else total
