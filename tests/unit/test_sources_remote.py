"""Files named by a URI: the same rows as from a local file, whichever machine has them."""

import gzip
import http.server
import io
import threading
from functools import partial

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import supersample as ss
from supersample.errors import InputError, MismatchError
from supersample.records.sources import open_source, remote, without

TABLE = pa.table({"n": range(500), "x": np.linspace(0, 1, 500)})


def as_csv(table=TABLE):
    out = io.BytesIO()
    pyarrow.csv.write_csv(table, out)
    return out.getvalue()


def as_parquet(table=TABLE):
    out = io.BytesIO()
    pq.write_table(table, out, row_group_size=90)
    return out.getvalue()


def as_arrow(opener):
    out = io.BytesIO()
    with opener(out, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=100)
    return out.getvalue()


def as_npy():
    out = io.BytesIO()
    np.save(out, np.rec.fromarrays([TABLE["n"].to_numpy(), TABLE["x"].to_numpy()], names=["n", "x"]))
    return out.getvalue()


def as_ndjson():
    return "".join(f'{{"n": {row["n"]}, "x": {row["x"]!r}}}\n' for row in TABLE.to_pylist()).encode()


FILES = {
    "a.parquet": as_parquet(),
    "a.csv": as_csv(),
    "a.csv.gz": gzip.compress(as_csv()),
    "a.arrow": as_arrow(pa.ipc.new_file),
    "a.arrows": as_arrow(pa.ipc.new_stream),
    "a.ndjson": as_ndjson(),
    "a.npy": as_npy(),
}
BY_POSITION = ("a.parquet", "a.arrow", "a.npy")


def rows_of(opened, skip=0):
    return pa.Table.from_batches(list(opened.batches(skip)), opened.schema)


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


@pytest.fixture
def server(tmp_path):
    """A web server of a folder; paths under /cut/ end too early, and /shy/ answers no HEAD."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_HEAD(self):
            if self.path.startswith("/shy/"):
                self.send_error(403)
            else:
                super().do_HEAD()

        def do_GET(self):
            if not self.path.startswith("/cut/"):
                super().do_GET()
                return
            data = (tmp_path / self.path.removeprefix("/")).read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2])

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(tmp_path))) as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield tmp_path, f"http://127.0.0.1:{found.server_port}"
        found.shutdown()
        thread.join()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("skip", [0, 7])
def test_a_file_system_of_fsspec(memory, name, skip):
    memory.pipe(f"/bucket/{name}", FILES[name])
    opened = open_source(f"memory://bucket/{name}")
    assert opened.label == name
    assert rows_of(opened, skip).equals(TABLE.slice(skip))
    assert rows_of(without(opened, ["n"]), skip).equals(TABLE.select(["x"]).slice(skip))
    assert (opened.sample is not None) == (name in BY_POSITION)
    if opened.sample is not None:
        assert opened.sample(20).equals(open_source(TABLE).sample(20))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("skip", [0, 7])
@pytest.mark.parametrize("folder", ["plain", "shy"])
def test_a_web_server(server, name, skip, folder):
    root, address = server
    (root / folder).mkdir()
    (root / folder / name).write_bytes(FILES[name])
    opened = open_source(f"{address}/{folder}/{name}?key=a*b")
    assert opened.label == name
    assert opened.identity["files"][0][:2] == [f"{address}/{folder}/{name}", len(FILES[name])]
    assert rows_of(opened, skip).equals(TABLE.slice(skip))
    if opened.sample is not None:
        assert opened.sample(20).equals(open_source(TABLE).sample(20))


def test_a_web_server_downloads_once_and_tidies_up(server, monkeypatch, tmp_path_factory):
    root, address = server
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    (root / "a.parquet").write_bytes(FILES["a.parquet"])
    asked = []
    monkeypatch.setattr(remote, "_ask", lambda uri, method, ask=remote._ask: asked.append(method) or ask(uri, method))
    opened = open_source(f"{address}/a.parquet")
    rows_of(opened)
    opened.sample(3)
    assert asked == ["HEAD", "GET"]
    del opened
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("name", ["a.csv", "a.ndjson", "a.parquet", "a.csv.gz"])
def test_a_connection_that_ends_early(server, name):
    root, address = server
    (root / "cut").mkdir()
    (root / "cut" / name).write_bytes(FILES[name])
    with pytest.raises(InputError, match=r"the connection ended .* bytes before the end of the file"):
        rows_of(open_source(f"{address}/cut/{name}"))


def test_what_a_web_server_does_not_have(server):
    _, address = server
    with pytest.raises(InputError, match=r"can be reached, got 'http://.*/none.csv': HTTP Error 404.*check its name"):
        open_source(f"{address}/none.csv")
    with pytest.raises(InputError, match=r"format that its extension tells, got"):
        open_source(f"{address}/")


@pytest.fixture
def days(memory):
    for day, start in ((5, 0), (6, 200)):
        memory.pipe(f"/logs/date=2024-06-0{day}/part.parquet", as_parquet(TABLE.slice(start, 200)))
    memory.pipe("/logs/date=2024-06-07/part.csv", as_csv(TABLE.slice(400)))
    memory.pipe("/logs/_tmp/part.parquet", b"not data")
    memory.pipe("/logs/date=2024-06-05/.hidden.csv", b"not data")
    memory.pipe("/logs/README.md", b"not data")
    return memory


@pytest.mark.parametrize(
    "given",
    ["memory://logs", "memory://logs/", "memory://logs/date=*", "memory://logs/date=*/*.[pc]*", "memory://logs/**/part.*",
     "memory://logs/d*"],
)  # fmt: skip
def test_folders_and_patterns(days, given, request):
    if given.endswith("**/part.*"):
        days.rm("/logs/_tmp", recursive=True)
    opened = open_source(given)
    found = rows_of(opened)
    assert found.drop_columns(["date"]).equals(TABLE)
    assert [str(day) for day in found["date"].unique().to_pylist()] == ["2024-06-05", "2024-06-06", "2024-06-07"]
    assert [name for name, *_ in opened.identity["files"]] == [
        f"memory://logs/date=2024-06-0{day}/part.{ending}" for day, ending in ((5, "parquet"), (6, "parquet"), (7, "csv"))
    ]


def test_a_list_of_places(days, tmp_path):
    (tmp_path / "a.csv").write_bytes(as_csv())
    found = rows_of(open_source([str(tmp_path / "a.csv"), "memory://logs/date=2024-06-06/part.parquet"]))
    assert found["n"].to_pylist() == [*range(500), *range(200, 400)]


def test_folders_that_disagree(days):
    days.pipe("/logs/date=1/hour=2/part.parquet", as_parquet())
    with pytest.raises(MismatchError, match=r"'memory://logs/date=.*' and .* for 'memory://logs/date"):
        open_source("memory://logs")


def test_what_is_not_there(memory):
    memory.pipe("/bucket/README.md", b"x")
    for given, found in (
        ("bucket/none.csv", "no file there"),
        ("bucket", "1 files of other formats"),
        ("bucket/*.csv", "no file"),
    ):
        with pytest.raises(
            InputError, match=rf"must name data files, got 'memory://{found and given.replace('*', '.')}' .*{found}"
        ):
            open_source(f"memory://{given}")
    memory.pipe("/bucket/empty.csv", b"")
    with pytest.raises(InputError, match=r"memory://bucket/empty.csv must hold data, got a file of zero bytes"):
        open_source("memory://bucket/empty.csv")


def test_schemes_without_their_package(monkeypatch):
    with pytest.raises(InputError, match=r"URI of a known scheme, got 'nowhere://a/b.csv'.*try s3://, gs://"):
        open_source("nowhere://a/b.csv")
    with pytest.raises(InputError, match=r"hf:// must be read through fsspec.*one of them is missing: .*huggingface_hub.*pip"):
        open_source("hf://datasets/a/b.csv")

    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name="fsspec")

    monkeypatch.setattr(remote.importlib, "import_module", missing)
    with pytest.raises(
        InputError, match=r"memory:// must be read through fsspec .* missing; install them, as with `pip install"
    ):
        open_source("memory://a/b.csv")


def test_file_uris(tmp_path):
    folder = tmp_path / "with space" / "day=3"
    folder.mkdir(parents=True)
    (folder / "a.csv").write_bytes(as_csv())
    for uri in (folder.as_uri(), folder.as_uri() + "/*.csv", (folder / "a.csv").as_uri()):
        assert rows_of(open_source(uri)).equals(TABLE)
    assert rows_of(open_source(folder.parent.as_uri())).column_names == ["n", "x", "day"]
    with pytest.raises(InputError, match=r"existing file, folder or pattern, got '.*none.csv' and found nothing"):
        open_source((tmp_path / "none.csv").as_uri())


def test_a_summary_of_remote_files_is_that_of_local_ones(days, tmp_path):
    (tmp_path / "a.csv").write_bytes(as_csv(TABLE.slice(0, 200)))
    days.pipe("/one/a.csv", as_csv(TABLE.slice(0, 200)))
    found = [ss.summarize(source, 5, 1, random_state=0) for source in (tmp_path / "a.csv", "memory://one/a.csv")]
    assert found[0].to_bytes() == found[1].to_bytes()
