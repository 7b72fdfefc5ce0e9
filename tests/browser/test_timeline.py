"""The page of a history in a real browser: two ranges are chosen by keyboard, mouse and touch, and compared on the page."""

import numpy as np
import pyarrow.compute as pc
import pytest
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.pointer_input import PointerInput
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import chromium
from supersample.history.history import state_of
from supersample.report.timeline.spans import spans_of

pytestmark = pytest.mark.once  # a browser shows the same page whatever Python wrote it

SETTLED = "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"

STRIPS = """
return Array.from(document.querySelectorAll("svg.along"), svg => {
  const strip = svg.querySelector("rect.content"), [x, width] = ["x", "width"].map(name => Number(strip.getAttribute(name)));
  return [x, x + width, Number(svg.querySelector("path.content").getAttribute("d").match(/M([0-9.]+)/)[1])];
});
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return chromium.broken_days()[1].report(tmp_path_factory.mktemp("page") / "history.html")


def text(driver, name):
    driver.execute_async_script(SETTLED)
    return driver.find_element(By.ID, name).text


def chosen(driver):
    driver.execute_async_script(SETTLED)
    return [each.text for each in driver.find_elements(By.CSS_SELECTOR, ".range output")]


def differences(driver):
    """Return the line of each column in the table of differences."""
    driver.execute_async_script(SETTLED)
    rows = driver.find_elements(By.CSS_SELECTOR, "#differences tr")
    return {row.find_element(By.TAG_NAME, "th").text: row for row in rows}


def preset(driver, words):
    buttons = {each.text: each for each in driver.find_elements(By.CSS_SELECTOR, "#presets button")}
    buttons[words].send_keys(Keys.ENTER)


def share(table, first, last, value):
    when = table["timestamp"].to_numpy()
    part = (when >= np.datetime64(first)) & (when < np.datetime64(last))
    return float((table["status"].to_numpy()[part] == value).mean())


def test_the_verdict_comes_first_and_every_alarm_has_a_card(at, page):
    history = chromium.broken_days()[1]
    driver = at(page)
    assert driver.find_element(By.CSS_SELECTOR, ".headline").text.startswith("1 change found, at 2024-05-03 12:00: status 500")
    cards = driver.find_elements(By.CSS_SELECTOR, ".alarm")
    assert len(cards) == len(history.alarms) == 1
    assert "path '/checkout' and status" in cards[0].text
    before, after = cards[0].find_elements(By.CSS_SELECTOR, ".side")
    assert len(before.find_elements(By.CSS_SELECTOR, "tbody tr")) == len(after.find_elements(By.CSS_SELECTOR, "tbody tr")) == 6
    assert "status 500, path '/checkout'" in after.text
    flag = driver.find_element(By.CSS_SELECTOR, ".flag")
    flag.send_keys(Keys.ENTER)
    assert driver.current_url.endswith("#alarm-1")
    # The strip of the interval holds the moment of the change, in every chart along time.
    strips = driver.execute_script(STRIPS)
    assert len(strips) > 10
    assert all(low <= moment <= high for low, high, moment in strips)


def test_before_and_after_the_change_are_compared_at_first(at, page):
    table, driver = chromium.broken_days()[0], at(page)
    assert chosen(driver) == ["2024-05-01 00:00", "2024-05-03 12:00", "2024-05-03 12:00", "2024-05-05 00:00"]
    assert text(driver, "verdict").startswith("The two differ: MMD 0.")
    first, *_ = found = differences(driver)
    assert first == "status"
    assert len(found) == 13
    assert [name for name, row in found.items() if row.get_attribute("class") == "clear"] == ["status", "bytes"]
    left, right = share(table, "2024-05-01", "2024-05-03T12:00", 500), share(table, "2024-05-03T12:00", "2024-05-05", 500)
    assert f"500 {left:.1%} → {right:.1%}" in found["status"].text
    assert text(driver, "line") == (
        "history.compare(('2024-05-01 00:00', '2024-05-03 12:00'), ('2024-05-03 12:00', '2024-05-05 00:00'))"
    )


def test_the_page_measures_what_the_history_holds(at, page):
    """The MMD on the page is that of the mean features of the blocks, up to their 16 bits."""
    history, driver = chromium.broken_days()[1], at(page)
    spans = spans_of(state_of(history))
    sides = [[each for each in spans if (each.start >= moment) == later] for moment, later in _sides(history)]
    means = [np.sum([each.sums for each in side], axis=0) / sum(each.n_in_time for each in side) for side in sides]
    wanted = float(np.linalg.norm(means[0] - means[1]))
    shown = float(text(driver, "verdict").split("MMD ")[1].split(",")[0])
    assert abs(shown - wanted) <= 0.001 * wanted + 0.0005


def _sides(history):
    change = state_of(history).alarms[0].change
    return (change, False), (change, True)


def test_ranges_are_chosen_by_keyboard(at, page):
    driver = at(page)
    preset(driver, "First and second half")
    assert chosen(driver) == ["2024-05-01 00:00", "2024-05-03 00:00", "2024-05-03 00:00", "2024-05-05 00:00"]
    end = driver.find_element(By.ID, "to-0")
    end.send_keys(*[Keys.ARROW_LEFT] * 3)
    start = driver.find_element(By.ID, "from-1")
    start.send_keys(Keys.ARROW_RIGHT)
    assert chosen(driver) == ["2024-05-01 00:00", "2024-05-02 21:00", "2024-05-03 01:00", "2024-05-05 00:00"]
    assert end.get_attribute("aria-valuetext") == "2024-05-02 21:00"
    # The ends of a range push each other along: it never is empty.
    driver.find_element(By.ID, "from-0").send_keys(Keys.END)
    assert chosen(driver)[:2] == ["2024-05-04 23:00", "2024-05-05 00:00"]
    assert "overlap" in text(driver, "meaning")
    driver.find_element(By.ID, "to-0").send_keys(Keys.HOME)
    assert chosen(driver)[:2] == ["2024-05-01 00:00", "2024-05-01 01:00"]


def test_ranges_of_other_phases_are_not_compared(at, page):
    driver = at(page)
    # The first hour of the first day, and the second hour of the third: no phase of the day in common.
    driver.find_element(By.ID, "to-0").send_keys(Keys.HOME)
    driver.find_element(By.ID, "to-1").send_keys(Keys.HOME)
    driver.find_element(By.ID, "to-1").send_keys(Keys.ARROW_RIGHT)
    driver.find_element(By.ID, "from-1").send_keys(Keys.ARROW_RIGHT)
    assert chosen(driver)[2:] == ["2024-05-01 01:00", "2024-05-01 02:00"]
    assert "no phase of the season in common" in text(driver, "verdict")
    assert differences(driver) == {}
    # Two days and the first hour of the third: only blocks of this hour are compared.
    preset(driver, "First and second half")
    driver.find_element(By.ID, "to-1").send_keys(Keys.HOME)
    driver.find_element(By.ID, "from-1").send_keys(Keys.HOME)
    assert "Only blocks of phases that both have are compared" in text(driver, "meaning")


def track_of(driver):
    """Return left, top and width of the chart that ranges are chosen in, in the middle of the window."""
    track = driver.find_element(By.ID, "track")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", track)
    return driver.execute_script(
        "const each = arguments[0].getBoundingClientRect(); return [each.x, each.y, each.width]", track
    )


def drag(driver, start, end, kind="mouse"):
    """Drag from one place of the chart to another, from 0 to 1, and return what is chosen then."""
    left, top, width = track_of(driver)
    pointer = ActionBuilder(driver, mouse=PointerInput(kind, kind))
    pointer.pointer_action.move_to_location(round(left + start * width), round(top + 20)).pointer_down()
    pointer.pointer_action.move_to_location(round(left + end * width), round(top + 22)).pointer_up()
    pointer.perform()
    return chosen(driver)


def box_of(driver, side):
    style = f"document.getElementById('box-{side}').style"
    low, width = driver.execute_script(f"return [parseFloat({style}.left), parseFloat({style}.width)]")
    return low / 100, (low + width) / 100


def test_ranges_are_chosen_by_mouse(at, page):
    driver = at(page)
    preset(driver, "First and second half")
    new = drag(driver, 0.2, 0.3)
    assert new[2:] == ["2024-05-03 00:00", "2024-05-05 00:00"]
    low, high = box_of(driver, 0)
    assert low <= 0.2 <= 0.3 <= high
    assert high - low < 0.14
    # A drag from an end moves this end; the next drag makes the other range.
    moved = drag(driver, high, 0.45)
    assert moved[0] == new[0]
    assert moved[1] > new[1]
    other = drag(driver, 0.95, 0.9)
    assert other[:2] == moved[:2]
    assert other[2] > "2024-05-04"
    assert driver.get_log("browser") == []


def test_ranges_are_chosen_by_touch_on_a_phone_in_the_dark(at, page):
    driver = at(page, width=360, dark=True)
    before = chosen(driver)
    after = drag(driver, 0.2, 0.4, kind="touch")
    assert after[:2] != before[:2]
    assert after[2:] == before[2:]
    assert driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert driver.get_log("browser") == []


def test_without_scripts_the_page_says_what_is_missing(at, page, tmp_path):
    plain = tmp_path / "plain.html"
    start, _, rest = page.read_text(encoding="utf-8").rpartition("<script>")
    plain.write_text(start + rest.partition("</script>")[2], encoding="utf-8")
    driver = at(plain)
    assert not driver.find_element(By.ID, "choose").is_displayed()
    assert driver.find_element(By.ID, "no-script").is_displayed()
    assert len(driver.find_elements(By.CSS_SELECTOR, "#cards > li")) == 13


def test_missing_values_are_drawn(at, page):
    table, driver = chromium.broken_days()[0], at(page)
    assert pc.sum(pc.is_null(table["a_rather_long_name_5"])).as_py() > 100
    lanes = [each.text for each in driver.find_elements(By.CSS_SELECTOR, ".lane figcaption")]
    assert lanes == [
        "Evidence of a change, over the alarm threshold", "Rows in 1 hour", "Missing values, of all columns shown below",
    ]  # fmt: skip
