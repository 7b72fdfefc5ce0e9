"""What only Spark has: names with dots, large types, frames that are none."""

import pytest

import supersample as ss
from engine_parts import OPTIONS, SIZES, mixed, reader, spark_frame
from supersample.engines import local

pytestmark = [
    pytest.mark.once,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(scope="module")
def table():
    return mixed(600, 0).select(["b", "kind", "count"]).rename_columns(["a.b", "kind", "`c`"])


def frame_of(session, table, n=1):
    def rows(batches):
        for _ in batches:  # a worker whose input is left unread is thrown away, and the next one imports everything again
            yield from table.to_batches()

    return session.range(0, n, 1, n).mapInArrow(rows, "`a.b` double, kind string, ```c``` long")


def test_any_name_of_a_column_will_do(session, table):
    found = ss.summarize(frame_of(session, table), **OPTIONS)
    assert found.to_bytes() == local.summarize([table], **OPTIONS).to_bytes()


def test_one_task_at_a_time_ends_in_the_same_bytes(session, folder, tables):
    found = ss.summarize(spark_frame(session, reader(folder), len(SIZES)), **OPTIONS)
    assert found.to_bytes() == local.summarize(tables, **OPTIONS).to_bytes()


def test_large_types_make_no_difference(session, table):
    session.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
    try:
        found = ss.summarize(frame_of(session, table, 2), **OPTIONS)
        chosen = ss.herd(frame_of(session, table, 2).select("`a.b`"), 5, random_state=0)
    finally:
        session.conf.unset("spark.sql.execution.arrow.useLargeVarTypes")
    assert found.prototypes.equals(local.summarize([table, table], **OPTIONS).prototypes)
    assert len(chosen) == 5


def test_what_is_no_frame_of_rows_is_refused(session):
    from pyspark.sql import functions

    with pytest.raises(ss.errors.SupersampleError, match="'x'"):
        ss.summarize(session.range(50).selectExpr("sin(id) x", "cos(id) x"), **OPTIONS)
    with pytest.raises(ss.errors.InputTypeError, match=r"^source must be a Spark DataFrame, got .*Column"):
        ss.summarize(functions.col("a"))
    with pytest.raises(ss.errors.InputError, match=r"^source must have columns"):
        ss.summarize(session.range(50).select())
