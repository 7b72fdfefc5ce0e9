"""Files of an S3 server, that of moto on this machine. `make test-s3` installs it; elsewhere these tests are skipped."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.fs
import pyarrow.parquet as pq
import pytest

import supersample as ss
from supersample.cli.group import group

server = pytest.importorskip("moto.server")

OPTIONS = {"prototypes": 10, "criticisms": 2, "random_state": 0}


def rows(seed):
    rng = np.random.default_rng(seed)
    return pa.table({"x": rng.normal(size=7_000), "kind": rng.choice(["a", "b", "c"], 7_000)})


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The settings at the end of a URI that lead to a server with one bucket."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        running.start()
        try:
            host, port = running.get_host_and_port()
            where = {"endpoint_override": f"{host}:{port}", "scheme": "http", "region": "us-east-1"}
            system = pa.fs.S3FileSystem(**where, allow_bucket_creation=True)
            system.create_dir("shop")
            for day in (1, 2):
                with system.open_output_stream(f"shop/orders/day={day}/rows.parquet") as file:
                    pq.write_table(rows(day), file)
            with system.open_output_stream("shop/rows.csv") as file:
                pa.csv.write_csv(rows(3), file)
            yield "?" + "&".join(f"{name}={value}" for name, value in where.items())
        finally:
            running.stop()


def test_a_file_is_summarised_as_one_on_disk(address, tmp_path):
    pq.write_table(rows(1), tmp_path / "rows.parquet")
    there = ss.summarize(f"s3://shop/orders/day=1/rows.parquet{address}", **OPTIONS)
    here = ss.summarize(tmp_path / "rows.parquet", **OPTIONS)
    assert there.prototypes.select(["x", "kind"]) == here.prototypes.select(["x", "kind"])
    assert there.profile == here.profile
    assert there.source == here.source == "rows.parquet"
    assert address.encode() not in there.to_bytes()  # the settings may hold secrets


def test_text_is_read_once_and_in_order_and_says_so(address):
    summary = ss.summarize(f"s3://shop/rows.csv{address}", **OPTIONS)
    assert summary.n_seen == 7_000
    assert "learned from the first rows" in {note.kind for note in summary.notes}
    assert summary.prototypes == ss.summarize(iter([rows(3)]), **OPTIONS).prototypes


@pytest.mark.parametrize("name", ["orders", "orders/", "orders/*/*.parquet", "orders/**"])
def test_folders_and_patterns_bring_the_columns_of_their_names(address, name):
    summary = ss.summarize(f"s3://shop/{name}{address}", **OPTIONS)
    assert summary.n_seen == 14_000
    assert [column.name for column in summary.columns] == ["x", "kind", "day"]


def test_the_command_line_takes_them(address, tmp_path):
    from click.testing import CliRunner

    done = CliRunner().invoke(group, ["summarize", f"s3://shop/rows.csv{address}", "-o", str(tmp_path / "rows.ss")])
    assert done.exit_code == 0, done.output
    assert ss.load(tmp_path / "rows.ss").n_seen == 7_000


@pytest.mark.parametrize("name", ["shop/none.parquet", "nowhere/rows.csv"])
def test_what_is_not_there_is_told(address, name):
    with pytest.raises(ss.errors.InputError, match=name.replace(".", r"\.")):
        ss.summarize(f"s3://{name}{address}", **OPTIONS)
