"""The page as a file: one, small, whole, the same each time, and safe whatever the rows hold."""

import re
import threading
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from report_fakes import image_rows, mixed_rows
from supersample.errors import InputError
from supersample.report import write_comparison, write_report

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'`${7*7}{{7*7}}$x_1^2$"


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.text = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id"]


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(0)
    return pa.table(
        {
            HOSTILE: rng.normal(size=80),
            "words": [HOSTILE, "plain"] * 40,
            "$\\frac{1$": rng.choice(["$\\frac{$", "日本語", "🙂", "a\x00b"], 80),
            "": rng.integers(0, 9, 80),
        }
    )


@pytest.fixture(scope="module")
def mixed():
    return ss.summarize(mixed_rows()[0], 30, 6, random_state=0)


def test_hostile_rows_stay_text(hostile, tmp_path):
    left = ss.summarize(hostile, 20, 5, random_state=0)
    right = ss.summarize(hostile.slice(0, 50), 20, 5, like=left, random_state=0)
    left.source = right.source = HOSTILE
    for path in (
        write_report(left, tmp_path / "a.html", title=HOSTILE),
        write_comparison(left, right, tmp_path / "b.html"),
    ):
        page = path.read_text(encoding="utf-8")
        tags = Tags(page).tags
        assert [tag for tag, _ in tags].count("script") == 1
        assert not [attrs for _, attrs in tags if any(key.startswith("on") for key in attrs)]
        assert [tag for tag, _ in tags].count("img") == 0
        assert "&lt;script&gt;alert(1)" in page
        assert "{{7*7}}" in re.findall(r"<h1>.*?</h1>", page)[0]


def test_names_within_the_page_are_unique_and_links_lead_somewhere(mixed, tmp_path):
    tags = Tags(write_report(mixed, tmp_path / "a.html").read_text(encoding="utf-8"))
    assert len(tags.ids) == len(set(tags.ids))
    links = [attrs["href"] for tag, attrs in tags.tags if tag == "a"]
    assert links
    assert all(link.removeprefix("#") in tags.ids for link in links)


def test_two_hundred_noisy_images_stay_under_five_megabytes(tmp_path):
    summary = ss.summarize(image_rows(260, 64, 3)[0], 200, 20, random_state=0)
    path = write_report(summary, tmp_path / "page.html")
    assert path.stat().st_size < 5_000_000
    assert path.read_text(encoding="utf-8").count("<img ") == 200 + 2 * len(summary.criticisms)


def test_many_long_columns_stay_under_five_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    words = pa.array(["<&>" * 100, '"' * 300, "é" * 400] * 100)
    columns = {f"text {place} " + "<" * 80: words for place in range(100)} | {
        f"n{place}": rng.normal(size=300) for place in range(200)
    }
    table = pa.table(columns)
    path = write_report(ss.summarize(table, 200, 60, random_state=0), tmp_path / "page.html")
    assert path.stat().st_size < 5_000_000


def test_the_same_summary_gives_the_same_bytes(mixed, tmp_path):
    first = write_report(mixed, tmp_path / "first.html").read_bytes()
    again = ss.summarize(mixed_rows()[0], 30, 6, random_state=0)
    with mpl.rc_context({"font.size": 30, "axes.grid": True, "svg.fonttype": "path", "path.simplify": False}):
        assert write_report(again, tmp_path / "second.html").read_bytes() == first
        assert mpl.rcParams["font.size"] == 30
    mixed.save(tmp_path / "kept")
    assert write_report(ss.load(tmp_path / "kept"), tmp_path / "third.html").read_bytes() == first


def test_pages_can_be_written_side_by_side(mixed, tmp_path):
    def write(place):
        write_report(mixed, tmp_path / f"{place}.html")

    threads = [threading.Thread(target=write, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1
    assert len(list(tmp_path.iterdir())) == 4


def test_nothing_in_the_page_names_another_place(mixed, tmp_path):
    page = write_report(mixed, tmp_path / "page.html").read_text(encoding="utf-8")
    assert not re.search(r"https?:|//\w+\.\w|@import|url\((?!#)", page)
    assert "default-src 'none'" in page
    assert "#0" not in "".join(re.findall(r"<svg.*?</svg>", page, re.DOTALL)).replace("#000000", "").replace('"#', "")


@pytest.mark.parametrize(("place", "said"), [("missing/page.html", "a folder that exists"), (".", "must name a file")])
def test_places_that_cannot_be_written_are_refused(mixed, tmp_path, place, said):
    with pytest.raises(InputError, match=said):
        write_report(mixed, tmp_path / place)


def test_a_page_is_replaced_whole_or_not_at_all(mixed, tmp_path, monkeypatch):
    target = tmp_path / "page.html"
    target.write_text("old")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "disk full")))
    with pytest.raises(InputError, match="disk full"):
        write_report(mixed, target)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert target.read_text() == "old"
    monkeypatch.undo()
    assert write_report(mixed, target) == target
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
