"""What is fuzzed. An execution ends in a result or in one of our errors; anything else is a finding."""

import hashlib
import io
import json
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

import supersample as ss
from fuzz.mutations import generator, grafted, spoiled
from supersample.errors import SupersampleError
from supersample.records.sources import open_source

_PREFIX = struct.Struct("<8sIQ")
_DIGEST = 32


class Loader:
    """`ss.load`: most executions change header, arrays or table and mend the checksum, so that damage reaches the parts."""

    def __init__(self, folder):
        self.path = Path(folder) / "spoiled.ss"
        table = _table(60)
        kinds = (
            {"features": "auto"},
            {"features": "fourier"},
            {"features": "nystroem", "weight": "w"},
            {"kernel": "laplacian"},
        )
        made = [ss.summarize(table, prototypes=4, criticisms=2, n_features=12, random_state=0, **each) for each in kinds]
        longer = ss.summarize(_table(700), prototypes=4, criticisms=0, columns=["x", "c"], n_features=12, random_state=1)
        self.files = [each.to_bytes() for each in (*made, longer.merge(longer))]

    def execute(self, seed, index):
        """Spoil one file and load it; read what loads."""
        self.path.write_bytes(self.spoil(generator(seed, index)))
        try:
            found = ss.load(self.path)
        except SupersampleError as error:
            if self.path.name not in str(error):
                raise AssertionError("the error does not name the file") from error
            return "refused"
        try:
            str(found), found.to_dict(), found.prototypes, found.criticisms, found.to_bytes()
        except SupersampleError:
            return "refused when read"
        return "loaded"

    def spoil(self, rng):
        """Return the bytes of a file that is damaged, or forged."""
        data = self.files[int(rng.integers(0, len(self.files)))]
        if rng.random() < 0.1:
            return spoiled(data, rng, self.files)
        magic, version, length = _PREFIX.unpack_from(data)
        start = _PREFIX.size
        header, rest = data[start : start + length], data[start + length : -_DIGEST]
        if rng.random() < 0.6:
            header = json.dumps(grafted(json.loads(header), rng)).encode()
        elif rng.random() < 0.2:
            header = spoiled(header, rng)
        else:
            rest = spoiled(rest, rng)
        body = _PREFIX.pack(magic, version, len(header)) + header + rest
        return body + hashlib.sha256(body).digest()


class Readers:
    """Every reader of files: Parquet, CSV, NDJSON, Arrow files and streams, Feather."""

    def __init__(self, folder):
        table = _table(40)
        rows = table.to_pylist()
        text = io.BytesIO()
        pa.csv.write_csv(table.drop_columns(["v"]), text)
        lines = "\n".join(json.dumps(row, default=str) for row in rows).encode()
        self.files = {
            ".parquet": _written(lambda sink: pa.parquet.write_table(table, sink, row_group_size=16)),
            ".csv": text.getvalue(),
            ".tsv": text.getvalue().replace(b",", b"\t"),
            ".ndjson": lines,
            ".jsonl": lines,
            ".arrow": _written(lambda sink: _streamed(pa.ipc.new_file(sink, table.schema), table)),
            ".arrows": _written(lambda sink: _streamed(pa.ipc.new_stream(sink, table.schema), table)),
            ".feather": _written(lambda sink: pa.feather.write_feather(table, sink, compression="uncompressed")),
        }
        self.folder = Path(folder)

    def execute(self, seed, index):
        """Spoil one file and read it to its end."""
        rng = generator(seed, index)
        endings = sorted(self.files)
        ending = endings[int(rng.integers(0, len(endings)))]
        path = self.folder / f"spoiled{ending}"
        path.write_bytes(spoiled(self.files[ending], rng, list(self.files.values())))
        try:
            given = open_source(path)
            for batch in given.batches(0):
                assert batch.schema.equals(given.schema), "a batch has another schema than its source"
        except SupersampleError:
            return "refused"
        return "read"


TARGETS = {"loader": Loader, "readers": Readers}


def _table(n):
    rng = np.random.default_rng(n)
    return pa.table(
        {
            "x": rng.normal(size=n),
            "c": rng.choice(["a", "b", "ü"], n),
            "flag": rng.random(n) < 0.5,
            "day": pa.array(rng.integers(0, 9_000, n).astype(np.int32), pa.date32()),
            "v": pa.FixedSizeListArray.from_arrays(rng.normal(size=3 * n), 3),
            "w": rng.random(n) + 0.5,
        }
    )


def _written(write):
    sink = io.BytesIO()
    write(sink)
    return sink.getvalue()


def _streamed(writer, table):
    with writer:
        writer.write_table(table, max_chunksize=16)
