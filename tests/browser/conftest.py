"""One browser for the tests of a file, and the pages that it looks at."""

import functools

import pytest

import chromium


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = chromium.start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture
def at(browser):
    return functools.partial(chromium.open_page, browser)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return chromium.write_pages(tmp_path_factory.mktemp("pages"))
