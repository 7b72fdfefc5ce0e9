"""What the page of a history holds: the same each time, bounded, safe whatever the rows hold, and true to the rows."""

import base64
import json
import re

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from supersample.errors import InputError
from supersample.history.history import state_of
from supersample.report.timeline import view_of_history
from supersample.report.timeline.embedded import script_json
from supersample.report.timeline.moments import length_words, moment
from supersample.report.timeline.scale import scale_of
from supersample.report.timeline.spans import spans_of

HOSTILE = "</script><script>alert(1)</script><!--\u2028{{7*7}}\"'"


def rows(n=6_000, seed=0):
    """Return rows of 100 hours; from hour 60 on, the number is larger, and a tenth of the texts are missing."""
    rng = np.random.default_rng(seed)
    hour = np.sort(rng.uniform(0, 100, n))
    text = rng.choice(["a", "b", HOSTILE], n, p=[0.5, 0.4, 0.1]).astype(object)
    text[(hour >= 60) & (rng.random(n) < 0.1)] = None
    when = np.datetime64("2026-03-02T00:00:00") + (hour * 3600).astype("timedelta64[s]")
    return pa.table(
        {"when": when, HOSTILE: rng.normal(1.5 * (hour >= 60), 1.0), "kind": pa.array(text.tolist()), "one": [1] * n}
    )


@pytest.fixture(scope="module")
def history():
    return ss.History(time="when", every="1h", random_state=0).update(rows())


@pytest.fixture(scope="module")
def view(history):
    return view_of_history(history, title=HOSTILE)


def test_the_page_is_safe_and_the_same_each_time(history, tmp_path):
    pages = [history.report(tmp_path / f"{name}.html", title=HOSTILE).read_bytes() for name in ("a", "b")]
    assert pages[0] == pages[1]
    text = pages[0].decode()
    assert re.findall(r"<script[^>]*>", text) == ['<script type="application/json" id="data">', "<script>"]
    assert text.count("</script>") == 2
    assert "{{" not in text.replace("{{7*7}}", "")
    assert not re.search(r"https?://(?!www\.w3\.org)", text)


def test_a_saved_history_gives_the_same_page(history, tmp_path):
    history.save(tmp_path / "kept")
    one, other = (each.report(tmp_path / "page.html").read_bytes() for each in (history, ss.History.load(tmp_path / "kept")))
    assert one == other


def test_what_is_embedded_adds_up_to_the_rows(view):
    table, held = rows(), json.loads(script_json(view.embedded))
    assert sum(held["rows"]) == table.num_rows
    columns = {each["name"]: each for each in held["columns"]}
    (number,) = (each for name, each in columns.items() if name.startswith("</script>"))
    assert np.sum(number["counts"]) == sum(number["finite"]) == table.num_rows
    mean = np.average(number["means"], weights=number["finite"])
    assert abs(mean - table[1].to_numpy().mean()) < 1e-9
    kind = columns["kind"]
    totals = dict(zip(kind["labels"], np.sum(kind["counts"], axis=0).tolist(), strict=True))
    assert totals["a"] == table["kind"].to_pylist().count("a")
    assert sum(kind["absent"]) == table["kind"].null_count
    assert columns["one"]["kind"] == "none"


def test_the_features_are_those_of_the_blocks(history, view):
    spans, kept = spans_of(state_of(history)), view.embedded["features"]
    numbers = np.frombuffer(base64.b64decode(kept["means"]), dtype="<i2").reshape(len(spans), kept["size"]) * kept["unit"]
    means = np.array([each.sums / each.n_in_time for each in spans])
    assert np.abs(numbers - means).max() <= kept["unit"] / 2 * (1 + 1e-9)
    assert kept["rows"] == [each.n_in_time for each in spans]


def test_spans_are_few_and_never_across_a_change(history):
    state = state_of(history)
    change = state.alarms[0].change
    spans = spans_of(state, most=10)
    assert len(spans) <= 10 + len(state.alarms) + 1
    assert not [each for each in spans if each.start < change < each.end]
    whole = spans_of(state)
    assert sum(each.rows for each in spans) == sum(each.rows for each in whole) == state.n_seen
    assert np.allclose(np.sum([each.sums for each in spans], axis=0), np.sum([each.sums for each in whole], axis=0), rtol=1e-12)


def test_the_view_says_what_was_found(view, history):
    (alarm,) = history.alarms
    assert view.headline.startswith(f"1 change found, at {str(alarm.change)[:16]}: ")
    (card,) = view.alarms
    assert [name for name, _ in card.changes][:1] == [view.courses[0].name]
    assert card.before.columns[0].name == card.after.columns[0].name == view.courses[0].name
    (mark,) = view.marks
    assert mark.low <= mark.place <= mark.high
    assert view.labels[0] == (0.0, "2026-03-02")
    assert view.labels[-1] == (1.0, "2026-03-06 04:00")


def test_no_rows_no_page(tmp_path):
    with pytest.raises(InputError, match="seen no rows"):
        ss.History(time="when", every="1h").report(tmp_path / "page.html")


def test_axes_are_even_where_blocks_are():
    even = scale_of([(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0)])
    assert even.is_even
    assert even.at(2.5) == 0.625
    bent = scale_of([(0.0, 16.0), (16.0, 17.0), (17.0, 18.0)])
    assert not bent.is_even
    assert np.allclose(bent.places, [0.0, 4 / 6, 5 / 6, 1.0])
    # All gaps together take a quarter of the axis at most.
    gap = scale_of([(0.0, 1.0), (1_000.0, 1_001.0)])
    assert np.allclose(gap.places, [0.0, 0.375, 0.625, 1.0])


def test_moments_and_lengths_are_words():
    rules = ss.History(time=None, every=100)._rules
    assert moment(1_200.0, rules) == "row 1,200"
    assert length_words(100.0, rules) == "100 rows"
    clock = ss.History(time="when", every="90m")._rules
    assert moment(86_400.0, clock) == "1970-01-02 00:00"
    assert length_words(5_400.0, clock) == "90 minutes"
