"""The page of a table of 300 columns in a real browser: small, quiet, drawn, searched and sorted, also on a phone.

A page of 40 columns takes part in all other tests of pages; 300 take several times as long to be drawn, so they are looked at
once.
"""

import json

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select

import chromium

pytestmark = pytest.mark.once
N_COLUMNS = 300
NAMES = "return Array.from(document.querySelectorAll('#cards > li')).filter(e => e.checkVisibility()).map(e => e.dataset.name)"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return chromium.write_wide(N_COLUMNS, tmp_path_factory.mktemp("wide"))


def test_the_page_is_small_quiet_and_drawn(at, page):
    assert page.stat().st_size < 3_000_000
    driver = at(page)
    driver.execute_script("document.querySelectorAll('button.more').forEach(each => each.click())")
    assert driver.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert {url for url in asked if not url.startswith("data:")} == {page.as_uri()}
    assert len(driver.execute_script(NAMES)) == N_COLUMNS
    assert len(driver.find_elements(By.CSS_SELECTOR, "#cards svg")) >= N_COLUMNS


@pytest.mark.parametrize("width", [375, 1_100])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_scrolls_sideways(at, page, width, dark):
    driver = at(page, width=width, dark=dark)
    assert driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth") <= 0


def test_columns_are_found_and_sorted(at, page):
    driver = at(page)
    driver.find_element(By.ID, "find").send_keys("COLUMN_29")
    wanted = {f"a_rather_long_name_of_column_{place}" for place in (29, *range(290, 300))}
    assert set(driver.execute_script(NAMES)) == wanted
    driver.find_element(By.ID, "find").clear()
    Select(driver.find_element(By.ID, "sort")).select_by_value("name")
    places = [int(name.rsplit("_", 1)[1]) for name in driver.execute_script(NAMES)]
    assert len(places) > 1
    assert places == sorted(places)  # numbers in names count as numbers
