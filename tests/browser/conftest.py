"""A browser without a window, and the pages it looks at."""

import os
import shutil

import numpy as np
import pyarrow as pa
import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from sklearn.datasets import load_digits

from report_fakes import Note, changes, fake, mixed_rows
from supersample.report import write_comparison, write_report

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


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    options = Options()
    options.binary_location = found("chromium", "chromium-browser", "google-chrome")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(found("chromedriver")))
    driver.set_page_load_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture
def at(browser):
    """Open a page at a width, in light or dark, on screen or on paper."""

    def open_page(path, width=1_100, dark=False, paper=False):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        media = {"media": "print" if paper else "screen", "features": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        for kind in ("browser", "performance"):
            browser.get_log(kind)
        browser.get(path.as_uri())
        return browser

    return open_page


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    pixels, labels = load_digits(return_X_y=True)
    images = pa.FixedSizeListArray.from_arrays(pa.array(pixels.ravel()), 64)
    digits = pa.table({"image": images, "label": labels})
    notes = Note("image", str(images.type), "vector", 64), Note("label", "int64", "number")
    rng = np.random.default_rng(0)
    wide = pa.table({f"a_rather_long_name_of_column_{place}": rng.normal(size=200) for place in range(40)})
    left, right = fake(*mixed_rows()), fake(*mixed_rows(seed=1), source="later.parquet")
    left.comparison = changes(left, right)
    return {
        "digits": write_report(fake(digits, notes, 60, 20), folder / "digits.html"),
        "mixed": write_report(left, folder / "mixed.html"),
        "wide": write_report(
            fake(wide, tuple(Note(name, "double", "number") for name in wide.column_names), source="/".join(["long"] * 40)),
            folder / "wide.html",
        ),
        "comparison": write_comparison(left, right, folder / "comparison.html"),
    }
