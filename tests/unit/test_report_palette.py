"""Colours can be told from what they stand on, in light and in dark."""

import pytest

from supersample.report.palette import COLOURS, STAND_INS


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [0, 1])
@pytest.mark.parametrize(
    ("part", "least"),
    [("ink", 7.0), ("muted", 4.5), ("prototypes", 4.5), ("criticisms", 4.5), ("focus", 3.0), ("data", 2.7)],
)
@pytest.mark.parametrize("ground", ["paper", "panel"])
def test_contrast(part, least, ground, dark):
    assert contrast(COLOURS[part][dark], COLOURS[ground][dark]) >= least


def test_stand_ins_are_colours_that_differ():
    assert len(set(STAND_INS.values())) == len(COLOURS)
    assert all(len(colour) == 7 for colour in STAND_INS.values())
