"""What a sink of Spark refuses before Spark is asked."""

import pytest

import supersample as ss


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"time": None}, "time must name a column"),
        ({"collect_rows": -1}, "collect_rows must be a whole number"),
        ({"on_alarm": "mail"}, "on_alarm must be a function"),
        ({"every": "soon"}, "every must be"),
        ({"prototype": 3}, "prototypes"),
    ],
)
def test_arguments_that_cannot_be_meant_are_refused(options, told, tmp_path):
    with pytest.raises(ss.errors.SupersampleError, match=told):
        ss.spark_sink(tmp_path / "history", **{"time": "when", "every": "1h", **options})


def test_it_goes_on_only_with_its_own_folder(tmp_path):
    sink = ss.spark_sink(tmp_path / "history", time="when", every="1h")
    with pytest.raises(ss.errors.SupersampleError):
        _ = sink.history
