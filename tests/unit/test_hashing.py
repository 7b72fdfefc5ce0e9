"""The hash of values: the same on every machine, each bit of the input felt in each bit of the output."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_oracles import hash_of_bytes, hash_of_number, hash_of_word
from supersample._hashing import hash_numbers, hash_texts, hash_words

#: Files hold what follows from these: they never change.
PINNED_TEXTS = {
    "": 16294208416658607535,
    "a": 6774081908283191102,
    "eight by": 4779498065847330112,
    "nine byte": 1577334615408726163,
    "größer als sechzehn": 4047282491624005143,
    "\0": 6791897765849424158,
    "\0\0": 7235116703822611636,
}
PINNED_NUMBERS = {
    0.0: 16294208416658607535,
    1.0: 9860564707913756141,
    -1.5: 6650937253580682039,
    1e300: 18400163445926009254,
    float("inf"): 2638638862653029785,
}


@pytest.mark.parametrize("text", PINNED_TEXTS)
def test_texts_have_the_hash_they_always_had(text):
    assert hash_texts(pa.array([text])).tolist() == [PINNED_TEXTS[text]]


@pytest.mark.parametrize("value", PINNED_NUMBERS)
def test_numbers_have_the_hash_they_always_had(value):
    assert hash_numbers(np.array([value])).tolist() == [PINNED_NUMBERS[value]]


@given(st.lists(st.text()))
def test_texts_hash_as_their_bytes(texts):
    expected = [hash_of_bytes(text.encode()) for text in texts]
    assert hash_texts(pa.array(texts, pa.string())).tolist() == expected
    assert hash_texts(pa.array(["other", *texts], pa.large_string())[1:]).tolist() == expected
    assert hash_texts(pa.array([text.encode() for text in texts], pa.binary())).tolist() == expected


@given(st.lists(st.floats()))
def test_numbers_hash_as_their_bits(values):
    assert hash_numbers(np.array(values, dtype=np.float64)).tolist() == [hash_of_number(value) for value in values]


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_words_hash_as_whole_numbers(words):
    assert hash_words(np.array(words, dtype=np.uint64)).tolist() == [hash_of_word(word) for word in words]


def test_equal_numbers_hash_alike():
    other_nan = np.array([0xFFF8000000000001], dtype=np.uint64).view(np.float64)[0]
    first, second, nan, other = hash_numbers(np.array([0.0, -0.0, np.nan, other_nan]))
    assert first == second
    assert nan == other


def test_missing_texts_do_not_disturb_the_others():
    hashes = hash_texts(pa.array(["a", None, "b"]))
    assert hashes[[0, 2]].tolist() == hash_texts(pa.array(["a", "b"])).tolist()


def test_values_of_no_column():
    assert hash_texts(pa.array([], pa.string())).size == hash_numbers(np.empty(0)).size == 0


def turned(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.parametrize("length", [2, 5, 8, 13, 24])
def test_each_bit_of_a_text_turns_half_of_the_bits_of_its_hash(length):
    """Fixed inputs, so nothing is left to chance; the limit is six deviations of the mean of 500 fair coins."""
    bases = [(i * 40503 % 65536).to_bytes(2, "little") * 12 for i in range(500)]
    bases = [base[:length] for base in bases]
    originals = hash_texts(pa.array(bases, pa.binary()))
    for bit in range(8 * length):
        other = hash_texts(pa.array([turned(base, bit) for base in bases], pa.binary()))
        turns = np.unpackbits((originals ^ other).view(np.uint8).reshape(-1, 8), axis=1).mean(axis=0)
        assert np.abs(turns - 0.5).max() < 6 * 0.5 / np.sqrt(len(bases))


@pytest.mark.parametrize("shift", [0, 20, 52])
@pytest.mark.parametrize("kind", ["whole numbers", "words", "texts"])
def test_neighbours_spread_evenly_over_the_buckets_of_any_bits(kind, shift):
    """Chi-squared of 65,536 values in 1,024 buckets: 1,023 on average, and within six deviations of sqrt(2 x 1,023)."""
    values = np.arange(1 << 16)
    hashes = {
        "whole numbers": lambda: hash_numbers(values.astype(np.float64)),
        "words": lambda: hash_words(values.astype(np.uint64)),
        "texts": lambda: hash_texts(pa.array(map(str, values))),
    }[kind]()
    counts = np.bincount((hashes >> np.uint64(shift)).astype(np.int64) & 1023, minlength=1024)
    chi2 = float(((counts - 64.0) ** 2 / 64.0).sum())
    assert abs(chi2 - 1023) < 6 * np.sqrt(2 * 1023)
