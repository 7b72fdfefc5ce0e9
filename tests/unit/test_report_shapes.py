"""Distributions over all rows: as a plain histogram of the values would have them."""

import numpy as np
import pyarrow as pa
import pytest

from supersample import profile as profiles
from supersample.profile import ColumnPlan
from supersample.report import shapes
from supersample.report.shapes import CLASSES, axis_of, compact

N = 20_000


def profile_of(values, kind=None, centre=0.0):
    column = values if isinstance(values, pa.Array) else pa.array(values, kind)
    found = profiles.init([ColumnPlan("x", column.type, "number", centre=centre)])
    return profiles.update(found, pa.record_batch([column], names=["x"])).columns[0]


def shape_of(column, values):
    """Return the shape with rows that all weigh alike."""
    return shapes.shape_of(column, values, np.full(len(values), 1.0 / max(1, len(values))))


def test_rows_count_by_their_weights():
    column, values = profile_of(np.arange(20.0)), np.array([0.0, 0.0, 19.0, np.nan])
    shape = shapes.shape_of(column, values, np.array([0.1, 0.2, 0.3, 0.4]))
    assert (shape.second[0], shape.second[-1]) == pytest.approx((0.3, 0.3))
    assert sum(shape.second) == pytest.approx(0.6)


def counted(axis, n_classes, values):
    """Count values by class, one at a time: the obvious way."""
    shares = np.zeros(n_classes)
    for place in axis.place(values[np.isfinite(values)]):
        shares[min(int(place * n_classes), n_classes - 1)] += 1.0 / values.size
    return shares


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("draw", "kind"),
    [
        (lambda rng: rng.normal(50.0, 12.0, N), "even"),
        (lambda rng: rng.lognormal(3.0, 2.0, N), "log"),
        (lambda rng: np.where(rng.random(N) < 0.4, 0.0, rng.lognormal(3.0, 2.0, N)), "symlog"),
        (lambda rng: rng.standard_cauchy(N), "symlog"),
        (lambda rng: rng.normal(size=N) * 1e-200, "even"),
    ],
)
def test_the_classes_hold_what_the_values_say(draw, kind, seed):
    values = draw(np.random.default_rng(seed))
    column = profile_of(values, centre=float(np.median(values)))
    axis, n_classes = axis_of(column)
    assert axis.kind == kind
    assert (axis.low, axis.high) == (values.min(), values.max())
    shape = shape_of(column, values[:100])
    exact = counted(axis, n_classes, values)
    # A bucket is at most a quarter of a class wide on an even axis, and a 128th of a power of two on the others.
    np.testing.assert_allclose(np.cumsum(shape.first), np.cumsum(exact), atol=0.02)
    assert sum(shape.first) == pytest.approx(1.0)
    np.testing.assert_allclose(shape.second, counted(axis, n_classes, values[:100]))


def test_few_different_values_are_counted_exactly():
    values = np.random.default_rng(0).integers(0, 120, N)
    shape = shape_of(profile_of(values), values[:50].astype(float))
    width = 4  # 120 whole numbers in 30 classes
    assert len(shape.first) == 30
    np.testing.assert_allclose(shape.first, np.bincount(values // width, minlength=30) / N)


def test_missing_and_infinite_values_are_in_no_class_but_in_the_whole():
    values = np.concatenate([np.arange(600.0), [np.inf, -np.inf] * 100, np.full(200, np.nan)])
    shape = shape_of(profile_of(values), values)
    assert sum(shape.first) == pytest.approx(0.6)
    assert sum(shape.second) == pytest.approx(0.6)
    assert shape_of(profile_of([None, None], pa.float64()), np.empty(0)) is None
    assert shape_of(profile_of([float("inf")] * 3), np.empty(0)) is None


def test_the_tail_is_on_the_axis():
    values = np.append(np.random.default_rng(0).normal(100.0, 1.0, N), 1e9)
    shape = shape_of(profile_of(values, centre=100.0), values[:10])
    assert shape.first[-1] == pytest.approx(1 / values.size)
    assert shape.scale == "Logarithmic scale."
    assert sum(share > 0.01 for share in shape.first) == 1  # even so, far values press the others together


@pytest.mark.parametrize(
    "values",
    [
        np.linspace(-1.7, 1.7, 500) * 1e308,
        np.linspace(-1.0, 1.0, 500) * 1e-310,
        np.full(500, 3.25),
        np.append(np.linspace(0.0, 1.0, 500), 1e308),
        np.append(np.linspace(-1.0, 1.0, 500) * 1e-300, [1e300, -1e300]),
    ],
)
def test_extreme_numbers_are_drawn(values):
    shape = shape_of(profile_of(values), values[:20])
    assert sum(shape.first) == pytest.approx(1.0)
    assert sum(shape.second) == pytest.approx(1.0)
    assert np.isfinite([place for place, _ in shape.ticks]).all()
    assert shape.ticks


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (np.arange(1_990, 2_025), ["1,990", "2,000", "2,010", "2,020"]),
        (np.linspace(0.0, 1.0, 400), ["0", "0.25", "0.5", "0.75", "1"]),
        (np.geomspace(1.0, 1e6, 400), ["1", "10", "100", "1,000", "10k", "100k", "1m"]),
    ],
)
def test_axes_have_round_labels_at_their_places(values, labels):
    column = profile_of(values)
    axis, _ = axis_of(column)
    shape = shape_of(column, np.empty(0))
    assert [label for _, label in shape.ticks] == labels
    first = float(shape.ticks[0][1].replace(",", ""))
    assert shape.ticks[0][0] == pytest.approx(float(axis.place(np.array(first))))


def test_times_are_labelled_as_times():
    days = pa.array(np.datetime64("2024-01-01") + np.arange(300))
    shape = shape_of(profile_of(days), np.empty(0))
    assert [label for _, label in shape.ticks] == ["2024-01-01", "2024-05-29", "2024-10-26"]
    assert len(shape.first) == CLASSES


def test_numbers_on_an_axis_are_short():
    assert [compact(each) for each in (0.0, 2_024.0, 10_000.0, -2.5e6, 1e15)] == ["0", "2,024", "10k", "-2.5m", "1.000e15"]
