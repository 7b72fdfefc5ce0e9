"""Free text as points: hashed words and n-grams, and which columns are text."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import messy
import text_oracles as slow
from supersample.records.encoding import ColumnOptions, Encoding, learn, text
from supersample.records.encoding.text import Text, text_vectors
from supersample.records.encoding.text_role import text_role

WORDS = ["it", "came", "late", "Late!", "chocolate", "a", "42", "naïve", "über-cool", "the", "refund", "東京", "ok,", "…"]
#: The first coordinates of two texts, in multiples of 2**-40.
PINNED = [
    [-164802292486, -245338984689, -54953675083, 48603709500, -45900475877, -56399425869, -299949781508, -141920001633],
    [53963410870, 219423590034, -219222993442, -95666597784, 70221189029, 7038857145, -7038857145, -19661393696],
]


def _vectors(texts):
    return text_vectors(pa.array(texts, pa.large_string()))


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=8))
def test_vectors_equal_those_made_word_by_word(texts):
    np.testing.assert_allclose(_vectors(texts), [slow.text_vector(each) for each in texts], rtol=0, atol=1e-14)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=30), st.integers(0, 29))
def test_a_text_has_the_same_vector_whatever_stands_beside_it(texts, place):
    alone = texts[place % len(texts)]
    np.testing.assert_array_equal(_vectors(texts)[place % len(texts)], _vectors([alone])[0])


def test_sums_are_the_same_in_any_order_of_texts_and_words():
    notes = messy.notes(300, np.random.default_rng(0))
    expected = _vectors(notes)
    np.testing.assert_array_equal(_vectors(notes[::-1])[::-1], expected)
    np.testing.assert_array_equal(_vectors([" ".join(reversed(note.split())) for note in notes]), expected)
    np.testing.assert_array_equal([_vectors([note])[0] for note in notes[:50]], expected[:50])


def test_blocks_and_remembered_words_change_nothing(monkeypatch):
    texts = [*messy.notes(300, np.random.default_rng(0)), "", "!"]
    expected = _vectors(texts)
    for name, value in {"_BYTES": 50, "_MOST_MET": 20}.items():
        monkeypatch.setattr(text, name, value)
        text._met.clear()
        np.testing.assert_array_equal(_vectors(texts), expected)
        assert len(text._met) <= text._MOST_MET


def test_the_vectors_of_stored_summaries_stay_what_they_are():
    """Files hold points and sums of them: if another version of scikit-learn hashed otherwise, they would not fit together."""
    found = _vectors(["The parcel came late.", "naïve 東京 👍"])
    assert np.rint(found[:, :8] * 2**40).astype(np.int64).tolist() == PINNED


def test_vectors_have_a_length_of_one_or_zero_and_unlike_texts_a_squared_distance_of_about_two():
    letters = np.random.default_rng(0).choice(list("abcdefghijklmnopqrstuvwxyz"), size=(36, 4, 7))
    vectors = _vectors([*(" ".join("".join(word) for word in words) for words in letters), "", " .,!"])
    np.testing.assert_allclose((vectors[:-2] ** 2).sum(axis=1), 1.0)
    assert not vectors[-2:].any()
    gaps = 2.0 - 2.0 * (vectors[:-2] @ vectors[:-2].T)[np.triu_indices(36, 1)]
    assert abs(gaps.mean() - 2.0) < 0.05
    assert gaps.std() < 0.3
    assert np.abs(vectors).max() <= 1.0


def test_case_signs_and_the_order_of_words_do_not_count():
    first, *others = _vectors(["Late, and torn!", "torn and LATE", "late -- and  torn"])
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_texts_that_share_words_or_parts_of_words_are_nearer():
    base, same_topic, misspelt, other = _vectors(
        ["my parcel never arrived", "where is my parcel", "my parcell nevr arived", "wrong password on login"]
    )
    assert base @ same_topic > base @ other + 0.2
    assert base @ misspelt > base @ other + 0.2


def test_missing_texts_are_marked_and_stand_at_zero():
    notes = messy.notes(50, np.random.default_rng(0))
    table = pa.table({"note": [*notes, None]})
    encoding = learn(table, ColumnOptions())
    assert [(note.kind, note.width) for note in encoding.notes] == [("text", 65)]
    (batch,) = table.combine_chunks().to_batches()
    points = encoding.points(batch)
    np.testing.assert_array_equal(points[:-1, :64], _vectors(notes))
    assert not points[-1, :64].any()
    np.testing.assert_array_equal(points[:, 64], [0.0] * 50 + [1.0])
    again = Encoding.of(json.loads(json.dumps(encoding.to_plain())))
    assert again == encoding
    np.testing.assert_array_equal(again.points(batch), points)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_all_types_of_text_are_encoded_alike(kind):
    notes = messy.notes(50, np.random.default_rng(0))
    out = np.empty((50, 64))
    absent = Text("note", 1.0, missing=False).encode(pa.array(notes, kind), out)
    np.testing.assert_array_equal(out, _vectors(notes))
    assert not absent.any()


def test_a_text_of_weight_four_is_twice_as_far_out():
    notes = pa.table({"note": messy.notes(50, np.random.default_rng(0))})
    (batch,) = notes.to_batches()
    heavy = learn(notes, ColumnOptions({"note": 4.0}))
    np.testing.assert_allclose(heavy.points(batch), 2.0 * learn(notes, ColumnOptions()).points(batch))
    assert heavy.reach()[0] == 2.0


ROLES = {
    "notes": (messy.notes(200, np.random.default_rng(0)), "note", "text"),
    "long labels": (["I agree with all of it, and would say so again", "I do not agree"] * 30, "answer", "category"),
    "long text that is repeated": (["word " * 30, "other " * 30] * 3, "body", "text"),
    "titles": ([f"the {place} red shoes of {place % 7}" for place in range(40)], "title", "text"),
    "regions": (["north", "south"] * 20, "region", "category"),
    "codes": ([f"C-{place:06d}" for place in range(40)], "customer", "id"),
    "hashes": ([f"{place * 2654435761 % 2**32:064x}" for place in range(40)], "digest", "id"),
    "names of people": ([f"Ada{place} Lovelace{place}" for place in range(40)], "name", "id"),
    "numbered names": ([f"row {place} of 7" for place in range(40)], "name", "id"),
    "uuids": ([f"{place:08x}-ab{place:02x}-4c{place:02x}-8def-0123456789ab" for place in range(40)], "key", "id"),
    "text without spaces": ([f"荷物が{place}日に届きませんでした" for place in range(40)], "memo", "text"),
    "codes that repeat": ([f"C-{place // 4}" for place in range(160)], "customer", "category"),
    "codes that repeat, named as ids": ([f"C-{place // 4}" for place in range(160)], "customer_id", "id"),
    "few codes named as ids": (["A", "B"] * 30, "shop_id", "category"),
    "too few rows": (["C-1", "C-2", "C-3"], "customer_id", "category"),
    "nothing": ([], "none", "category"),
}


@pytest.mark.parametrize("case", ROLES)
def test_text_is_told_from_categories_and_ids(case):
    values, name, role = ROLES[case]
    counts = pa.array(values, pa.large_string()).value_counts()
    found = text_role(counts.field("values"), counts.field("counts").to_numpy(), name)
    assert found == role
    if values:
        learned = Text.learn(name, pa.array(values), 1.0, forced=False)
        assert (learned is not None) == (role == "text")


def test_other_columns_are_not_taken():
    assert Text.learn("x", pa.array([1.0, 2.0]), 1.0, forced=True) is None
    assert not Text("x", 1.0, missing=False).takes(pa.float64())
