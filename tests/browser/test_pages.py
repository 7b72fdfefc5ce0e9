"""The pages in a real browser: quiet, self-contained, drawn, and usable by keyboard, on a phone, in the dark and on paper."""

import base64
import json
import re

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

pytestmark = pytest.mark.once  # a browser shows the same page whatever Python wrote it

NAMES = ("digits", "messy", "wide", "comparison", "history")
SECTIONS = {
    "summary": ("headline", "notes", "prototypes", "criticisms", "columns", "map", "trace", "reading", "small-print"),
    "comparison": ("headline", "columns", "left", "right", "map", "small-print"),
    "history": ("headline", "along", "alarms", "ranges", "columns", "small-print"),
}
CONTROLS = """
return Array.from(document.querySelectorAll("a[href], button, summary, input, select, [tabindex]"))
    .filter(each => each.tabIndex >= 0 && each.checkVisibility());
"""
COLOURS = """
const seen = selector => { const each = document.querySelector(selector); return each && getComputedStyle(each); };
const mark = seen("svg text, svg use");
return [seen("html").backgroundColor, seen("h1").color, seen("section p").color, mark ? mark.fill : seen(".plot .low").color];
"""


def overflow(driver):
    return driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth")


def press(driver, *keys):
    ActionChains(driver).send_keys(*keys).perform()


@pytest.mark.parametrize("name", NAMES)
def test_the_console_stays_empty_and_no_request_leaves_the_page(at, pages, name):
    driver = at(pages[name])
    driver.find_element(By.ID, "theme").click()
    assert driver.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert pages[name].as_uri() in asked
    assert [url for url in asked if not url.startswith("data:") and url != pages[name].as_uri()] == []


def test_the_console_would_have_told(at, tmp_path):
    """Guard the guard: a page that breaks its own policy is heard of."""
    page = tmp_path / "bad.html"
    page.write_text(
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\"><img src='other.png'><script>x()</script>"
    )
    assert at(page).get_log("browser")


@pytest.mark.parametrize("name", NAMES)
def test_every_section_is_there_and_named(at, pages, name):
    driver = at(pages[name])
    wanted = SECTIONS.get(name, SECTIONS["summary"])
    has_notes = driver.find_elements(By.ID, "notes") != []
    assert has_notes == (name in ("messy", "digits"))
    for section in (each for each in wanted if has_notes or each != "notes"):
        element = driver.find_element(By.ID, section)
        assert element.text.strip()
        assert element.get_attribute("aria-label") or element.find_element(By.TAG_NAME, "h2").text
    assert len(driver.find_elements(By.TAG_NAME, "h1")) == 1


@pytest.mark.parametrize("name", NAMES)
def test_pictures_and_charts_are_drawn(at, pages, name):
    driver = at(pages[name])
    driver.execute_script("document.querySelectorAll('button.more').forEach(each => each.click())")
    sizes = driver.execute_script("return Array.from(document.images).map(each => [each.naturalWidth, each.alt])")
    odd = driver.find_elements(By.CSS_SELECTOR, "#criticisms .card")
    # 60 prototypes; each criticism stands beside its nearest prototype.
    assert len(sizes) == (60 + 2 * len(odd) if name == "digits" else 0)
    assert all(width == 8 and alt for width, alt in sizes)
    charts = driver.find_elements(By.CSS_SELECTOR, "svg.chart")
    values = driver.find_elements(By.CSS_SELECTOR, "table.top")  # columns with a few values are tables with bars
    assert len(charts) + len(values) >= 2
    assert all(len(table.find_elements(By.CSS_SELECTOR, ".bar")) > 1 for table in values)
    for chart in charts:
        assert chart.get_attribute("role") == "img"
        assert len(chart.get_attribute("aria-label")) > 10
        drawn = "return Array.from(arguments[0].querySelectorAll('path, use')).filter(e => e.getBBox().width > 0).length"
        # The small chart of a column is an axis and one path for all rows; prototypes have one if they were chosen by it. A
        # chart along time may be one path.
        kinds = chart.get_attribute("class").split()
        assert driver.execute_script(drawn, chart) >= (1 if "along" in kinds else 2 if "shape" in kinds else 3)


@pytest.mark.parametrize("name", NAMES)
def test_long_lists_begin_short_and_can_be_opened_and_closed(at, pages, name):
    driver = at(pages[name])
    shown = "return Array.from(arguments[0].children).filter(each => each.checkVisibility()).length"
    lists = driver.find_elements(By.CSS_SELECTOR, "[data-first]")
    sizes = [(int(each.get_attribute("data-first")), int(each.get_property("childElementCount"))) for each in lists]
    assert any(size > first for first, size in sizes)
    assert [driver.execute_script(shown, each) for each in lists] == [min(pair) for pair in sizes]
    buttons = driver.find_elements(By.CSS_SELECTOR, "button.more")
    assert len(buttons) == sum(size > first for first, size in sizes)
    for button in buttons:
        button.send_keys(Keys.ENTER)
    assert [driver.execute_script(shown, each) for each in lists] == [size for _, size in sizes]
    for button in buttons:
        button.send_keys(Keys.ENTER)
    assert [driver.execute_script(shown, each) for each in lists] == [min(pair) for pair in sizes]


@pytest.mark.parametrize("name", NAMES)
def test_tab_reaches_every_control_and_shows_where_it_is(at, pages, name):
    driver = at(pages[name])
    controls = driver.execute_script(CONTROLS)
    reached = []
    for _ in range(len(controls) + 3):
        press(driver, Keys.TAB)
        element = driver.switch_to.active_element
        if element.tag_name == "body":
            break
        assert driver.execute_script("return getComputedStyle(arguments[0]).outlineStyle", element) != "none"
        reached.append(element)
    assert len(controls) >= 8
    assert {element.id for element in controls} == {element.id for element in reached}
    assert reached[0].get_attribute("textContent") == "Skip to the content"


@pytest.mark.parametrize("name", NAMES)
def test_what_scrolls_in_itself_can_be_reached_and_has_a_name(at, pages, name):
    regions = at(pages[name]).find_elements(By.CSS_SELECTOR, ".scroll")
    for region in regions:
        assert region.get_attribute("tabindex") == "0"
        assert region.get_attribute("role") == "region"
        assert region.get_attribute("aria-label")


def test_controls_work_by_keyboard(at, pages):
    driver = at(pages["wide"])
    press(driver, Keys.TAB, Keys.ENTER)
    assert driver.switch_to.active_element.get_attribute("id") == "main"
    hidden = "return Array.from(document.querySelectorAll('#prototypes tbody tr')).filter(e => !e.checkVisibility()).length"
    before = driver.execute_script(hidden)
    button = driver.find_element(By.CSS_SELECTOR, "#prototypes button.more")
    button.send_keys(Keys.ENTER)
    assert driver.execute_script(hidden) < before
    assert button.get_attribute("aria-expanded") == "true"
    summary = driver.find_element(By.CSS_SELECTOR, "#prototypes summary")
    summary.send_keys(Keys.ENTER)
    assert driver.execute_script("return arguments[0].parentElement.open", summary)


def shown_cards(driver):
    return driver.execute_script(
        "return Array.from(document.querySelectorAll('#cards > li')).filter(e => e.checkVisibility()).map(e => e.dataset.name)"
    )


def test_columns_can_be_searched(at, pages):
    driver = at(pages["messy"])
    every = shown_cards(driver)
    assert len(every) == 24
    field = driver.find_element(By.ID, "find")
    field.send_keys("COUNT")
    assert sorted(shown_cards(driver)) == ["count_of_items", "country", "discount"]
    assert driver.find_element(By.ID, "found").text == "3 of 30 columns"
    field.clear()
    field.send_keys("heavy tail")
    assert sorted(shown_cards(driver)) == ["amount", "price"]
    field.send_keys(" no such column")
    assert shown_cards(driver) == []
    field.clear()
    field.send_keys(Keys.SPACE, Keys.BACKSPACE)
    assert shown_cards(driver) == every
    assert driver.find_element(By.ID, "found").text == ""


def test_columns_can_be_sorted(at, pages):
    driver = at(pages["messy"])
    first = shown_cards(driver)
    choose = Select(driver.find_element(By.ID, "sort"))
    choose.select_by_value("name")
    assert shown_cards(driver)[:3] == ["amount", "count_of_items", "country"]
    choose.select_by_value("missing")
    assert shown_cards(driver)[0] == "rating"
    choose.select_by_value("distinct")
    sizes = driver.execute_script("return Array.from(document.querySelectorAll('#cards > li')).map(e => +e.dataset.distinct)")
    assert sizes == sorted(sizes, reverse=True)
    choose.select_by_value("rank")
    assert shown_cards(driver) == first
    driver.find_element(By.CSS_SELECTOR, "#columns button.more").send_keys(Keys.ENTER)
    assert len(shown_cards(driver)) == 30


def test_without_scripts_every_card_is_there(at, pages, tmp_path):
    page = tmp_path / "plain.html"
    page.write_text(re.sub(r"<script>.*?</script>", "", pages["messy"].read_text(encoding="utf-8"), flags=re.DOTALL))
    driver = at(page)
    assert len(shown_cards(driver)) == 30
    assert not driver.find_element(By.CSS_SELECTOR, ".tools").is_displayed()


@pytest.mark.parametrize("width", [320, 768, 1_400])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_scrolls_sideways_but_tables_in_themselves(at, pages, name, width):
    driver = at(pages[name], width=width)
    driver.execute_script(
        "document.querySelectorAll('details').forEach(e => e.open = true);"
        "document.querySelectorAll('button.more').forEach(e => e.click());"
    )
    assert overflow(driver) <= 0
    outside = driver.execute_script(
        "return Array.from(document.querySelectorAll('main *')).filter(e => !e.closest('.scroll') && !e.closest('svg') "
        "&& e.getBoundingClientRect().right > window.innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"
    )
    assert outside == []


@pytest.mark.parametrize("name", NAMES)
def test_labels_of_charts_are_not_clipped(at, pages, name):
    driver = at(pages[name], width=360)
    clipped = driver.execute_script(
        "return Array.from(document.querySelectorAll('svg text')).filter(e => e.closest('li, figure').checkVisibility())"
        ".filter(e => { const r = e.getBoundingClientRect(); return r.width && (r.left < 0 || r.right > window.innerWidth); })"
        ".map(e => e.textContent)"
    )
    assert clipped == []


@pytest.mark.parametrize("name", NAMES)
def test_dark_follows_the_system_and_the_button(at, pages, name):
    light = at(pages[name]).execute_script(COLOURS)
    driver = at(pages[name], dark=True)
    dark = driver.execute_script(COLOURS)
    assert all(one != other for one, other in zip(light, dark, strict=True))
    button = driver.find_element(By.ID, "theme")
    assert button.text == "Light colours"
    button.send_keys(Keys.SPACE)
    assert driver.execute_script(COLOURS) == light
    assert button.text == "Dark colours"
    button.send_keys(Keys.SPACE)
    assert driver.execute_script(COLOURS) == dark


@pytest.mark.parametrize("name", NAMES)
def test_paper_is_light_whole_and_without_controls(at, pages, name):
    light = at(pages[name]).execute_script(COLOURS)
    driver = at(pages[name], width=720, dark=True, paper=True)
    assert driver.execute_script(COLOURS)[1:] == light[1:]
    assert not driver.find_element(By.TAG_NAME, "nav").is_displayed()
    assert not any(button.is_displayed() for button in driver.find_elements(By.TAG_NAME, "button"))
    later = driver.find_elements(By.CSS_SELECTOR, "section > .later, section > :not(details) .later")
    assert all(element.is_displayed() for element in later)
    driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert driver.find_elements(By.CSS_SELECTOR, "details:not([open]):not(.on-screen)") == []
    assert overflow(driver) <= 0
    pdf = driver.execute_cdp_cmd("Page.printToPDF", {})["data"]
    assert base64.b64decode(pdf).startswith(b"%PDF")
