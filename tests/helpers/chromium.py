"""A browser without a window, and the pages it looks at."""

import functools
import os
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from sklearn.datasets import load_digits

import supersample as ss
import web_log
from report_fakes import messy_rows, mixed_rows
from supersample.report import write_comparison, write_history, write_report

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip


def found(*names):
    """Return the first of these programs that is installed; without any, fail where tests must run and skip elsewhere."""
    for name in names:
        if path := shutil.which(name):
            return path
    message = f"{names[0]} is not installed: the pages cannot be looked at (Debian: apt-get install chromium chromium-driver)"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    return pytest.skip(message)


def start(profile):
    """Start the browser with a profile of its own, an empty folder."""
    options = Options()
    options.binary_location = found("chromium", "chromium-browser", "google-chrome")
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(found("chromedriver")))
    driver.set_page_load_timeout(60)
    return driver


def open_page(driver, path, width=1_100, dark=False, paper=False):
    """Open a page at a width, in light or dark, on screen or on paper, with nothing left in the logs."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print" if paper else "screen", "features": scheme})
    for kind in ("browser", "performance"):
        driver.get_log(kind)
    driver.get(path.as_uri())
    return driver


def write_pages(folder):
    """Write the pages to look at: images, a messy table, a wide one, a comparison, and a history."""
    pixels, labels = load_digits(return_X_y=True)
    images = pa.FixedSizeListArray.from_arrays(pa.array(pixels.ravel()), 64)
    digits = ss.summarize(pa.table({"image": images, "label": labels}), 60, 20, random_state=0)
    mixed = mixed_rows(2_000)[0]
    left = ss.summarize(mixed, 30, 20, random_state=0)
    right = ss.summarize(mixed.filter(pc.greater(mixed["age"], 40)), 30, 20, like=left, random_state=0)
    messy = ss.summarize(messy_rows(3_000), 40, 10, random_state=0)
    return {
        "messy": write_report(messy, folder / "messy.html"),
        "digits": write_report(digits, folder / "digits.html"),
        "wide": write_wide(40, folder),
        "comparison": write_comparison(left, right, folder / "comparison.html"),
        "history": write_history(broken_days()[1], folder / "history.html", title="four days"),
    }


def write_wide(n_columns, folder):
    """Write the page of a table of so many columns."""
    rng = np.random.default_rng(0)
    columns = {f"a_rather_long_name_of_column_{place}": rng.normal(size=300) for place in range(n_columns)}
    wide = ss.summarize(pa.table(columns), 50, 5, random_state=0)
    wide.source = "/".join(["long"] * 40)
    return write_report(wide, folder / "wide.html")


@functools.cache
def broken_days():
    """Return a log of four days with a checkout that breaks at noon of the third, and its history by hours."""
    table, rng = web_log.days(1, rows=3_000, broken_at="2024-05-03T12:00"), np.random.default_rng(0)
    for place in range(6):
        values = rng.normal(size=len(table))
        table = table.append_column(f"a_rather_long_name_{place}", pa.array(values, mask=rng.random(len(table)) < 0.01 * place))
    return table, ss.History(time="timestamp", every="1h", season="1d", random_state=0).update(table)
