"""Every Arrow type can be reported on."""

import decimal

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from supersample.report.comparison_view import view_of_comparison
from supersample.report.page import render_comparison, render_summary
from supersample.report.view import view_of

N = 60
WORDS = list("abc") * (N // 3)
COLUMNS = {
    "half": pa.array(np.linspace(-1, 1, N).astype(np.float16)),
    "decimal": pa.array([decimal.Decimal(place) / 8 for place in range(N)], pa.decimal128(20, 5)),
    "large": pa.array([2**64 - 1 - place for place in range(N)], pa.uint64()),
    "boolean": pa.array([None if place % 7 == 0 else place % 2 == 0 for place in range(N)]),
    "nulls": pa.nulls(N),
    "date": pa.array(range(N), pa.date32()),
    "date64": pa.array([place * 86_400_000 for place in range(N)], pa.date64()),
    "moment": pa.array([10**9 * place for place in range(N)], pa.timestamp("ns", "UTC")),
    "far moment": pa.array([2**62 if place == 3 else place for place in range(N)], pa.timestamp("s")),
    "time": pa.array(range(N), pa.time64("ns")),
    "span": pa.array(range(N), pa.duration("us")),
    "interval": pa.array([(1, 2, place) for place in range(N)], pa.month_day_nano_interval()),
    "large string": pa.array(WORDS, pa.large_string()),
    "string view": pa.array(WORDS, pa.string_view()),
    "dictionary": pa.array(WORDS).dictionary_encode(),
    "dictionary of numbers": pa.array([1, 2, None] * (N // 3)).dictionary_encode(),
    "binary": pa.array([b"\xff\x00"] * N),
    "ragged list": pa.array([[1.0] * (place % 4) for place in range(N)]),
    "three numbers": pa.array([None if place == 5 else [1.0, 2.0, place] for place in range(N)], pa.list_(pa.float32(), 3)),
    "image": pa.array([[float(place % 5)] * 63 + [float(place)] for place in range(N)], pa.list_(pa.float32(), 64)),
    "nested": pa.array([[[1, 2], [3]]] * N),
    "struct": pa.array([{"a": place, "b": "x"} for place in range(N)]),
    "map": pa.array([[("k", 1)]] * N, pa.map_(pa.string(), pa.int64())),
    "not finite": pa.array([float("inf"), -float("inf"), float("nan"), 1.0, 2.0, None] * (N // 6)),
    "constant": pa.array([1] * N),
    "huge": pa.array([1e308, -1e308, 0.0] * (N // 3)),
    "huge and many": pa.array(np.linspace(-1.7, 1.7, N) * 1e308),
    "tiny": pa.array(np.linspace(-1, 1, N) * 1e-300),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_page_of_any_type(name):
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=N), name: COLUMNS[name]})
    left = ss.summarize(table, 10, 4, random_state=0)
    right = ss.summarize(table.slice(7, 40), like=left, random_state=0)
    assert render_summary(view_of(left)).endswith("</html>")
    assert render_comparison(view_of_comparison(left, right)).endswith("</html>")
