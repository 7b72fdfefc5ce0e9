"""What a notebook shows of a result: the words of the terminal and the page, harmless whatever the rows hold, and small."""

import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from report_fakes import messy_rows
from supersample.errors import InputError
from supersample.report import words, write_comparison
from supersample.report.view import view_of

MOST_BYTES = 30_000
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{7*7}}"


class Shown(HTMLParser):
    """The tags of a piece of HTML, whether each is closed, and its text without the style."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.open, self.parts = [], [], []
        self.feed(html)
        assert self.open == []
        self.text = " ".join(" ".join(self.parts).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag != "wbr":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.parts.append(data)


def shown(result):
    html = result._repr_html_()
    assert len(html.encode()) < MOST_BYTES
    return Shown(html)


def said(text):
    return " ".join(text.split())


def plain(text):
    """The text without white space: tags stand between words that belong together."""
    return re.sub(r"\s", "", text)


@pytest.fixture(scope="module")
def summary():
    return ss.summarize(messy_rows(2_000), 30, 6, random_state=0)


@pytest.fixture(scope="module")
def changed():
    rng = np.random.default_rng(0)
    x = rng.normal(size=3_000)
    columns = {"x": x, "follows": x + 0.3 * rng.normal(size=3_000), "other": rng.normal(size=3_000)}
    left = ss.summarize(pa.table(columns), 20, random_state=0)
    moved = columns | {"follows": rng.permutation(columns["follows"]), "other": columns["other"] + 1.0}
    return left.compare(ss.summarize(pa.table(moved), like=left, random_state=1))


def test_a_summary_shows_its_rows_with_the_words_of_the_page(summary):
    found, page = shown(summary), view_of(summary)
    for sentence in (page.headline, page.meaning, page.source):
        assert said(sentence) in found.text
    for card in page.prototypes.cards[:10]:
        assert f"{words.percent(card.share)} {card.row:,}" in found.text
    assert f"{words.percent(page.prototypes.cards[10].share)} {page.prototypes.cards[10].row:,}" not in found.text
    assert all(said(card.why) in found.text for card in page.criticisms.cards[:5])
    assert found.text.count("than to any prototype") == 5  # of six
    assert "Shown: 10 of 30." in found.text
    assert "Shown: 5 of 6." in found.text
    notes = [plain(f"{note.kind}:{note.column}{':' if note.column else ''}{note.words}")[:100] for note in page.notes]
    assert [note in plain(found.text) for note in notes] == [True] * 5 + [False] * (len(notes) - 5)
    assert len(notes) > 5
    assert f"Shown: 5 of {len(notes)}." in found.text
    left_out = next(line for line in str(summary).splitlines() if line.startswith("  left out"))
    assert said(left_out) in found.text


def test_the_largest_prototypes_are_those_of_the_summary(summary):
    table = summary.prototypes.to_pylist()
    first = max(table, key=lambda row: row["_share"])
    text = shown(summary).text
    place = text.index(f"{words.percent(first['_share'])} {first['_row']:,} {first['price']}")
    assert place < text.index("Criticisms")


def test_a_comparison_shows_the_verdict_and_what_changed(changed):
    found = shown(changed)
    assert changed.changed == ("other",)
    verdict, meaning = words.verdict(
        changed.pvalue, list(changed.changed), [each.in_words() for each in changed.pairs_at(0.05)], len(changed.columns)
    )
    assert said(f"{verdict} {meaning}") in found.text
    (column,) = (each for each in changed.columns if each.name == "other")
    assert f"other {column.what} {words.probability(column.pvalue)}" in found.text
    pair = next(each for each in changed.pairs_at(0.05) if set(each.columns) == {"x", "follows"})
    assert f"{pair.names} {pair.what} {words.probability(pair.pvalue)}" in found.text
    for rows in (changed.left_rows, changed.right_rows):
        for row in rows.column("_row").to_pylist()[:5]:
            assert re.search(rf"\b{row:,} -?\d", found.text)


def test_no_difference_shows_no_rows(changed):
    left, _ = changed.summaries
    found = shown(left.compare(left))
    assert "No difference found" in found.text
    assert "More common" not in found.text
    assert "What changed" not in found.text


RESULTS = {
    "selection": lambda x: ss.herd(x, 20),
    "weighted selection": lambda x: ss.sbq(np.tile(x, 6), 12, target=np.tile(x, 6)),
    "empty selection": lambda x: ss.Selection(np.empty(0, dtype=np.int64), x[:0], np.empty(0), np.empty(0), "None is near."),
    "test": lambda x: ss.two_sample_test(x, x + 0.5, n_resamples=99, random_state=0),
    "integral": lambda x: ss.integrate(lambda p: p[0] ** 2, ss.measures.Uniform(-1.0, 1.0), 6, random_state=0),
}


@pytest.mark.parametrize("name", RESULTS)
def test_other_results_say_what_the_terminal_says(name):
    result = RESULTS[name](np.random.default_rng(0).normal(size=(200, 2)))
    found = shown(result)
    for line in str(result).splitlines():
        assert plain(words.shortened(line)) in plain(words.shortened(found.text))


def test_a_selection_shows_its_first_points():
    x = np.random.default_rng(0).normal(size=(200, 12))
    found = ss.herd(x, 11)
    text = shown(found).text
    for index, point in zip(found.indices[:10], found.points[:10], strict=True):
        assert f"{index:,} 0.0909 {point[0]:.4g} {point[1]:.4g}" in text
    assert f"{found.indices[10]:,} 0.0909" not in text
    assert "Shown: 10 of 11. 4 more columns are not shown here." in text


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(0)
    quotes = '"' * 3_000
    columns = {f"{HOSTILE}{quotes}{place}": [f"{quotes}{each}" for each in rng.integers(0, 4, 600)] for place in range(12)}
    columns |= {f"{quotes}{place}": rng.integers(0, 4, 600).astype(str) for place in range(12)}
    columns |= {f"{HOSTILE}{name}": rng.choice([HOSTILE, "plain"], 600) for name in "abc"}
    columns |= {"<script>": rng.normal(size=600)}
    return pa.table(columns)


def test_hostile_names_and_values_stay_text_and_the_whole_small(hostile):
    left = ss.summarize(hostile, 20, 8, random_state=0)
    moved = {name: ['"' * 50] * 600 for name in hostile.column_names[:-1]} | {"<script>": np.arange(600.0)}
    right = ss.summarize(pa.table(moved), like=left, random_state=0)
    left.source = right.source = f"{HOSTILE}{'&' * 500}"
    found = left.compare(right)
    assert found.rejects()
    for result in (left, right, found):
        one = shown(result)
        assert not {tag for tag, _ in one.tags} & {"script", "img", "link", "iframe", "object"}
        assert not [attrs for _, attrs in one.tags if set(attrs) - {"class", "scope", "colspan"}]
        assert HOSTILE[:20] in unescape(one.text)


def test_nothing_is_fetched_and_no_colour_is_set(summary, changed):
    for result in (summary, changed):
        html = result._repr_html_()
        assert not re.search(r"https?:|url\(|@import|src=|href=", html)
        colours = re.findall(r"(?:colou?r|background|border[a-z-]*): *([^;]*)", html)
        assert colours
        assert all(re.fullmatch(r"inherit|none|collapse|1px solid rgba\(128, 128, 128, 0\.35\)", each) for each in colours)


def test_styles_stay_inside(summary):
    (style,) = re.findall(r"<style>(.*?)</style>", summary._repr_html_(), re.DOTALL)
    selectors = [each for rule in re.findall(r"([^{}]+)\{", style) for each in rule.split(",")]
    assert all(each.strip().startswith(".supersample-shown") for each in selectors)


def test_reading_does_not_change_a_summary(summary):
    before = summary.to_bytes()
    summary._repr_html_()
    assert summary.to_bytes() == before


def test_a_comparison_writes_the_page_of_the_two(changed, tmp_path):
    left, right = changed.summaries
    path = changed.report(tmp_path / "mine.html", title="Two weeks")
    assert path == tmp_path / "mine.html"
    theirs = write_comparison(left, right, tmp_path / "theirs.html", title="Two weeks", comparison=changed)
    assert path.read_bytes() == theirs.read_bytes()
    path.write_text("old")
    assert changed.report(str(path), title="Two weeks").read_bytes() == theirs.read_bytes()
    with pytest.raises(InputError, match="folder that exists"):
        changed.report(tmp_path / "none" / "page.html")


def test_the_page_of_a_comparison_is_of_what_was_compared(tmp_path):
    rows = np.random.default_rng(0).normal(size=(1_000, 2))
    left = ss.summarize(rows[:500], 10, random_state=0)
    right = ss.summarize(rows[500:], like=left, random_state=0)
    found = left.compare(right)
    before = found.report(tmp_path / "before.html").read_bytes()
    left.update(rows + 9.0)
    assert found.report(tmp_path / "after.html").read_bytes() == before


def test_a_comparison_made_by_hand_has_no_page(changed, tmp_path):
    by_hand = ss.Comparison(**{name: value for name, value in vars(changed).items() if name != "summaries"})
    assert "The two differ" in shown(by_hand).text
    with pytest.raises(InputError, match=r"make it by Summary\.compare"):
        by_hand.report(tmp_path / "page.html")
