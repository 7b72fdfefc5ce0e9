"""The files of the page: all of them are served, and nothing else; none makes markup from text."""

import re
from pathlib import Path

import supersample.live

FOLDER = Path(supersample.live.__file__).parent / "page"


def test_every_script_that_is_there_or_imported_is_served(client):
    scripts = {each.name for each in FOLDER.glob("*.js")}
    imported = {name for each in scripts for name in re.findall(r'from "\./(\S+)"', (FOLDER / each).read_text())}
    assert imported | {"main.js"} == scripts
    for name in scripts:
        answer = client.get(f"/page/{name}")
        assert answer.content == (FOLDER / name).read_bytes()
        assert answer.headers["Content-Type"].startswith("text/javascript")
        assert client.get(f"/page/{name}", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304


def test_the_shell_loads_only_what_is_served(client):
    shell = client.get("/").text
    loaded = re.findall(r'(?:src|href)="(/page/[^"]+)"', shell)
    assert len(loaded) == 3
    for each in loaded:
        assert client.get(each).status_code == 200
    assert not re.search(r'<style|style=|\son\w+="|https?://', shell)


def test_the_style_has_the_colours_and_the_look_of_the_written_pages(client):
    style = client.get("/page/style.css").text
    for part in ("--criticisms: #bb430d", "--criticisms: #ff9463", ".headline", ".lanes", ".connection"):
        assert part in style
    assert "url(" not in style
    assert "@import" not in style


def test_no_name_leads_to_another_file(client):
    for name in ("page.html", "live.css", "..%2fsettings.py", "%2e%2e%2fviews.py", "nothing.js", "main.js%00"):
        assert client.get(f"/page/{name}").status_code == 404


def test_scripts_make_no_markup():
    for each in FOLDER.glob("*.js"):
        found = re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function", each.read_text()
        )
        assert found is None, each.name
