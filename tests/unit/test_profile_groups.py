"""Counts of groups of values, and of texts by their words: exact, in any order, batches and parts."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from supersample import profile
from supersample._hashing import hash_texts
from supersample.profile import ColumnPlan
from supersample.profile.groups import GROUPS, group_of, with_words


def profiled(values, cuts=(), role="category"):
    state = profile.init([ColumnPlan("x", pa.string(), role)])
    for start, stop in zip([0, *cuts], [*cuts, len(values)], strict=True):
        state = profile.update(state, pa.record_batch({"x": pa.array(values[start:stop], pa.string())}))
    state["x"].check()
    return state


def names(seed, number, rows=3_000):
    return [f"shop {each}" for each in np.random.default_rng(seed).integers(0, number, rows)] + [None] * 7


def truth(values):
    there = pa.array([each for each in values if each is not None], pa.string())
    return np.bincount((hash_texts(there) % GROUPS).astype(np.int64), minlength=GROUPS).tolist()


@pytest.mark.parametrize("number", [3, 256, 257, 2_000])
def test_each_value_is_counted_in_the_group_of_its_hash(number):
    values = [*(f"shop {each}" for each in range(number)), *names(0, number)]
    column = profiled(values)["x"]
    assert column.group_counts.tolist() == truth(values)
    assert (column.groups is None) == (number <= 256)  # then they follow from the counts of values


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("cuts", [(1, 2, 900), (255, 256, 257, 257, 258), (3_000,)])
def test_order_and_batches_do_not_matter(cuts, turned):
    values = sorted(names(1, 400), key=str, reverse=turned)
    assert profiled(values, cuts)["x"].groups.tolist() == truth(values)


@pytest.mark.parametrize(("left", "right"), [(150, 150), (200, 600), (600, 600)])
def test_groups_of_parts_add_up(left, right):
    first, second = names(2, left), [f"{each}!" for each in names(3, right)]
    both = profile.merge(profiled(first), profiled(second))["x"]
    both.check()
    assert both.groups.tolist() == truth(first + second)


def test_columns_of_an_earlier_version_stay_without():
    values = names(4, 600)
    old = profile.Profile(tuple(replace(each, groups=None) for each in profiled(values).columns))
    assert old["x"].group_counts is None
    for later in (
        profile.update(old, pa.record_batch({"x": pa.array(values, pa.string())})),
        profile.merge(old, profiled(values)),
        profile.merge(profiled(values), old),
    ):
        assert later["x"].group_counts is None


@pytest.mark.parametrize("role", ["id", "time", "number", "redacted", "ignored"])
def test_other_columns_have_none(role):
    column = profiled(names(5, 600), role=role)["x"]
    assert (column.groups, column.group_counts, column.word_counts) == (None, None, None)


TEXTS = [
    "The parcel, the PARCEL!",
    "",
    "late",
    "... --",
    "late and torn",
    "the parcel was late",
    "née 12 ✂ x",
    None,
    "late",
] * 40


def words_in(texts):
    counts = np.zeros(GROUPS, dtype=np.int64)
    for text in texts:
        if text is not None:
            words = re.sub(r"[^\w✂]+", " ", text.lower()).strip().split(" ")
            counts[np.unique(group_of(hash_texts(pa.array(words))))] += 1
    return counts.tolist()


@pytest.mark.parametrize("cuts", [(), (1, 5, 6), (100,)])
def test_each_text_is_counted_once_in_each_group_of_its_words(cuts):
    texts = [*TEXTS, *(f"order {each} came" for each in range(400))]
    column = profiled(texts, cuts, "text")["x"]
    assert column.word_counts.tolist() == words_in(texts)
    assert profile.merge(profiled(TEXTS, role="text"), profiled(texts, role="text"))["x"].groups.tolist() == words_in(
        TEXTS + texts
    )


def test_long_texts_and_those_that_are_no_unicode_are_counted():
    long = "alpha beta " * 60_000
    broken = pa.array([b"\xff\xfe", b"alpha", b"beta \xff"]).cast(pa.string(), safe=False)
    texts = pa.chunked_array([pa.array([long, "beta", long]), broken]).combine_chunks()
    found = with_words(texts)
    alpha, beta = group_of(hash_texts(pa.array(["alpha", "beta"]))).tolist()
    assert (found[alpha], found[beta]) == (3, 4)


def test_a_profile_that_is_given_is_not_changed():
    state = profiled(names(6, 600))
    before = state["x"].groups.copy()
    profile.update(state, pa.record_batch({"x": pa.array(["new"])}))
    assert state["x"].groups.tolist() == before.tolist()
