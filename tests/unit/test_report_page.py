"""The page as a file: one, small, whole, the same each time, and safe whatever the rows hold."""

import dataclasses
import re
import threading
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pytest

from report_fakes import Note, changes, fake, image_rows, mixed_rows
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


@pytest.fixture
def hostile():
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            HOSTILE: rng.normal(size=80),
            "words": [HOSTILE, "plain"] * 40,
            "$\\frac{1$": rng.choice(["$\\frac{", "日本語", "🙂", "a\x00b"], 80),
            "": rng.integers(0, 9, 80),
        }
    )
    kinds = ("number", "category", "category", "number")
    notes = tuple(Note(n, HOSTILE, kind, note=HOSTILE) for n, kind in zip(table.column_names, kinds, strict=True))
    return fake(table, notes, source=HOSTILE)


def test_hostile_rows_stay_text(hostile, tmp_path):
    hostile.comparison = dataclasses.replace(changes(hostile, hostile), changed=(HOSTILE,))
    for path in (
        write_report(hostile, tmp_path / "a.html", title=HOSTILE),
        write_comparison(hostile, hostile, tmp_path / "b.html", title=HOSTILE),
    ):
        page = path.read_text(encoding="utf-8")
        tags = Tags(page).tags
        assert [tag for tag, _ in tags].count("script") == 1
        assert not [attrs for _, attrs in tags if any(key.startswith("on") for key in attrs)]
        assert all(attrs["src"].startswith("data:image/") for tag, attrs in tags if tag == "img")
        assert "&lt;script&gt;alert(1)" in page
        assert "49" not in re.findall(r"<h1>.*?</h1>", page)[0]


def test_names_within_the_page_are_unique_and_links_lead_somewhere(tmp_path):
    summary = fake(*mixed_rows())
    tags = Tags(write_report(summary, tmp_path / "a.html").read_text(encoding="utf-8"))
    assert len(tags.ids) == len(set(tags.ids))
    links = [attrs["href"] for tag, attrs in tags.tags if tag == "a"]
    assert links
    assert all(link.removeprefix("#") in tags.ids for link in links)


def test_two_hundred_noisy_images_stay_under_five_megabytes(tmp_path):
    path = write_report(fake(*image_rows(260, 64, 3), 200, 20), tmp_path / "page.html")
    assert path.stat().st_size < 5_000_000
    assert path.read_text(encoding="utf-8").count("<img ") == 220


def test_many_long_columns_stay_under_five_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    words = pa.array(["<&>" * 100, '"' * 300, "é" * 400] * 100)
    columns = {f"text {place} " + "<" * 80: words for place in range(300)} | {
        f"n{place}": rng.normal(size=300) for place in range(300)
    }
    table = pa.table(columns)
    notes = tuple(
        Note(name, "string", "category" if name.startswith("t") else "number", note="&" * 500) for name in table.column_names
    )
    assert write_report(fake(table, notes, 200, 60), tmp_path / "page.html").stat().st_size < 5_000_000


def test_the_same_summary_gives_the_same_bytes(tmp_path):
    first = write_report(fake(*mixed_rows()), tmp_path / "first.html").read_bytes()
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        assert write_report(fake(*mixed_rows()), tmp_path / "second.html").read_bytes() == first
        assert mpl.rcParams["font.size"] == 30


def test_pages_can_be_written_side_by_side(tmp_path):
    def write(place):
        write_report(fake(*mixed_rows(60)), tmp_path / f"{place}.html")

    threads = [threading.Thread(target=write, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1
    assert len(list(tmp_path.iterdir())) == 4


def test_nothing_in_the_page_names_another_place(tmp_path):
    page = write_report(fake(*mixed_rows()), tmp_path / "page.html").read_text(encoding="utf-8")
    assert not re.search(r"https?:|//\w+\.\w|@import|url\((?!#)", page)
    assert "default-src 'none'" in page
    assert "#0" not in "".join(re.findall(r"<svg.*?</svg>", page, re.DOTALL)).replace("#000000", "").replace('"#', "")


@pytest.mark.parametrize(("place", "said"), [("missing/page.html", "does not exist"), (".", "is a folder")])
def test_places_that_cannot_be_written_are_refused(tmp_path, place, said):
    with pytest.raises(InputError, match=said):
        write_report(fake(*mixed_rows(40)), tmp_path / place)


def test_a_page_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "page.html"
    target.write_text("old")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_report(fake(*mixed_rows(40)), target)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert target.read_text() == "old"
    monkeypatch.undo()
    assert write_report(fake(*mixed_rows(40)), target) == target
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
