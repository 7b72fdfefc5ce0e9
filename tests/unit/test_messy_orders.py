"""The messy table of orders is what it says, and each of its text columns is read as a person would read it."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import messy
from supersample.records.reading import recognise


@pytest.fixture(scope="module")
def table():
    return messy.orders()


def test_the_table_depends_on_its_seed_alone(table):
    assert table.num_rows == 30_000
    assert table.equals(messy.orders(seed=0))
    assert not table.equals(messy.orders(seed=1))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("order_date", "dates stored as text (month/day/year)"),
        ("shipped_at", "times stored as text (year-month-day hour:minute)"),
        ("price", "numbers stored as text ($1,234.56)"),
        ("discount", "numbers stored as text (1234.56%)"),
        ("is_gift", "truth values stored as text (yes/no)"),
        ("score", "numbers stored as text (1234.56)"),
        ("customer_id", None),
        ("region", None),
        ("country", None),
        ("channel", None),
        ("note", None),
        ("address.zip", None),
        ("address.city", None),
    ],
)
def test_text_columns_are_read_as_a_person_would(table, name, words):
    column = table.flatten().column(name).combine_chunks()
    reading = recognise(column.slice(0, 5000))
    assert (reading and reading.words) == words
    if reading is not None:
        values, unreadable = reading.read(column)
        assert unreadable == values.null_count == (1 if name == "score" else 0)


def test_the_same_table_is_in_every_file(table, tmp_path):
    few = table.slice(0, 300)
    messy.write_csv(few, tmp_path / "orders.csv")
    messy.write_ndjson(few, tmp_path / "orders.ndjson")
    messy.write_parquet(few, tmp_path / "orders.parquet")
    assert pa.parquet.read_table(tmp_path / "orders.parquet").equals(few)
    lines = (tmp_path / "orders.ndjson").read_text().splitlines()
    assert [dict.fromkeys(few.column_names) | json.loads(line) for line in lines] == few.to_pylist()
    kinds = {field.name: field.type for field in few.flatten().schema}
    options = pa.csv.ConvertOptions(column_types=kinds)
    assert pa.csv.read_csv(tmp_path / "orders.csv", convert_options=options).equals(few.flatten())


@pytest.mark.parametrize("key", ["region", "price", "time"])
def test_rows_are_sorted_as_asked(table, key):
    found = messy.orders(sort_by=key)
    name = {"region": "region", "price": "price", "time": "order_id"}[key]
    values = found.column(name).combine_chunks()
    if key == "price":
        values = recognise(values).read(values)[0]
    keys = [messy.REGIONS.index(value) for value in values.to_pylist()] if key == "region" else values.to_numpy()
    assert bool((np.diff(keys) >= 0).all())
    assert sorted(found.column("order_id").to_pylist()) == sorted(table.column("order_id").to_pylist())


def test_the_mix_of_topics_can_be_set():
    found = messy.orders(200, topic_mix=(1.0, 0.0, 0.0, 0.0)).column("note").to_pylist()
    assert any("courier" in note for note in found)
    assert not any("password" in note for note in found)
