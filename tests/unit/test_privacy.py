"""What is kept of columns whose values are not for everyone: nothing, counts alone, or no text that few rows have."""

import json

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss

N = 3_000
OPTIONS = {"prototypes": 10, "criticisms": 2, "random_state": 0}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    towns = np.array(["Bern"] * 2_000 + ["Basel"] * 990 + ["Guttannen"] * 10)
    return pa.table(
        {
            "age": rng.integers(18, 90, N),
            "town": towns[rng.permutation(N)],
            "mail": [f"{place}@example.org" for place in range(N)],
        }
    )


def column(summary, name):
    return next(row for row in summary.profile.to_pylist() if row["name"] == name)


def shown(summary, folder):
    """Return all that people read of a summary."""
    page = summary.report(folder / "page.html").read_text()
    return "\n".join([page, str(summary), json.dumps(summary.profile.to_pylist()), *(note.text for note in summary.notes)])


def test_what_is_dropped_is_nowhere(people, tmp_path):
    summary = ss.summarize(people, drop=["mail"], **OPTIONS)
    assert b"example.org" not in summary.to_bytes()
    assert "example.org" not in shown(summary, tmp_path)
    assert "mail" not in summary.prototypes.column_names


def test_what_is_redacted_is_counted_alone(people, tmp_path):
    summary = ss.summarize(people, redact=["mail"], **OPTIONS)
    assert b"example.org" not in summary.to_bytes()
    assert "example.org" not in shown(summary, tmp_path)
    assert summary.prototypes["mail"].null_count == 10
    assert (column(summary, "mail")["count"], column(summary, "mail")["top"]) == (N, None)


def test_rare_texts_are_not_among_the_frequent_ones(people):
    all_of_them = ss.summarize(people, **OPTIONS)
    assert [each["value"] for each in column(all_of_them, "town")["top"]] == ["Bern", "Basel", "Guttannen"]
    summary = ss.summarize(people, min_count=11, **OPTIONS)
    assert [(each["value"], each["count"]) for each in column(summary, "town")["top"]] == [("Bern", 2_000), ("Basel", 990)]
    assert column(summary, "town")["distinct"] == 3
    assert column(summary, "age") == column(all_of_them, "age")  # numbers stay
    assert summary.prototypes == all_of_them.prototypes


def test_a_rare_text_is_shown_once_it_is_frequent(people, tmp_path):
    summary = ss.summarize(people, min_count=11, **OPTIONS)
    summary.save(tmp_path / "people.ss")
    again = ss.load(tmp_path / "people.ss")
    assert again.profile == summary.profile
    more = again.update({"age": [30], "town": ["Guttannen"], "mail": ["a@example.org"]})
    assert [each["value"] for each in column(more, "town")["top"]] == ["Bern", "Basel", "Guttannen"]
    assert column(summary.merge(ss.summarize(people, like=summary, random_state=1)), "town")["top"][2]["count"] == 20


def test_the_page_and_the_notes_keep_rare_texts_back(tmp_path):
    table = pa.table(
        {"x": np.arange(500.0) % 7, "kind": ["Ada"] * 3 + ["ada"] * 3 + ["b"] * 494, "one": [None] * 497 + ["Eve"] * 3}
    )
    hidden = ss.summarize(table, 5, 0, min_count=4, random_state=0)
    told = [(note.kind, note.text) for note in hidden.notes if note.column in ("kind", "one")]
    assert "mixed case" not in dict(told)
    assert dict(told)["constant"] == "all values are the same, where there is one"
    assert {note.kind: note.text for note in ss.summarize(table, 5, 0, random_state=0).notes}["constant"].startswith(
        "every value is 'Eve'"
    )


@pytest.mark.parametrize("wrong", [0, -3, 2.5, "many", True])
def test_a_count_that_cannot_be_is_refused(people, wrong):
    with pytest.raises(ss.errors.SupersampleError, match="min_count must be"):
        ss.summarize(people, min_count=wrong, **OPTIONS)


def test_summaries_that_show_different_texts_are_not_merged(people):
    first = ss.summarize(people, min_count=11, **OPTIONS)
    with pytest.raises(ss.errors.InputError, match="min_count must be left out with like="):
        ss.summarize(people, min_count=5, like=first)
