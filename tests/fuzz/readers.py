"""Whatever rows are read from: files, packed ones too, streams of bytes, batches in memory, checkpoints and partitions."""

import bz2
import gzip
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

import supersample as ss
from fuzz.data import streamed, table_of, written
from fuzz.mutations import forged, generator, spoiled
from supersample.engines import partition_tasks as parts
from supersample.errors import SupersampleError
from supersample.records.sources import open_source
from supersample.summary.state_file import restore

_OPTIONS = {"prototypes": 4, "criticisms": 2, "n_features": 12, "random_state": 0}
_PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": lambda data: bytes(pa.compress(data, "zstd", asbytes=True))}


class Readers:
    """Every way in which rows come in; each execution spoils one thing and reads it to its end."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.table = table_of(40)
        self.files = _files(self.table)
        self.ways = (
            (self.file,) * 5 + (self.packed,) * 2 + (self.stream,) * 3 + (self.batches,) * 3 + (self.checkpoint, self.part)
        )
        self.saved = _checkpoint(self.folder / "sound.checkpoint", self.table)
        request = restore(self.saved, "a checkpoint").state.request
        self.heads = [parts.head(index, 5_000, None, self.table) for index in range(2)]
        self.empty = parts.warm_up(dict(enumerate(map(parts.rows_of, self.heads))), request, "two partitions")
        self.parts = [parts.summarize_part(self.empty, index, self.table) for index in range(2)]
        self.request = request

    def execute(self, seed, index):
        """Spoil one thing and read it to its end."""
        rng = generator(seed, index)
        try:
            self.ways[int(rng.integers(0, len(self.ways)))](rng)
        except SupersampleError:
            return "refused"
        return "read"

    def file(self, rng):
        """Read a file whose bytes are spoiled."""
        ending, data = self.drawn(rng, sorted(self.files))
        self.read_file(ending, spoiled(data, rng, list(self.files.values())))

    def packed(self, rng):
        """Read a packed file of text: what it packs is spoiled, or its bytes are, or both."""
        ending, data = self.drawn(rng, (".csv", ".tsv", ".ndjson", ".jsonl"))
        packing = sorted(_PACKERS)[int(rng.integers(0, len(_PACKERS)))]
        which = rng.integers(0, 3)
        packed = _PACKERS[packing](data if which == 0 else spoiled(data, rng))
        self.read_file(ending + packing, packed if which == 1 else spoiled(packed, rng))

    def stream(self, rng):
        """Read the bytes of any file, packed or not, as if they came from a pipe, some at a time."""
        _, data = self.drawn(rng, sorted(self.files))
        found = spoiled(data, rng, list(self.files.values()))
        if rng.random() < 0.3:
            found = _PACKERS[sorted(_PACKERS)[int(rng.integers(0, len(_PACKERS)))]](found)
            found = spoiled(found, rng) if rng.random() < 0.5 else found
        _read(_Pipe(found, int(2 ** rng.integers(0, 14))))

    def batches(self, rng):
        """Read an array, a frame, a list or an iterator of batches, some of which do not fit or are damaged."""
        items = [self.batch(rng) for _ in range(int(rng.integers(1, 4)))]
        match int(rng.integers(0, 3)):
            case 0:
                _read(items[0])
            case 1:
                _read(items)
            case 2:
                _read(iter(items))

    def batch(self, rng):
        """Return something that is meant as rows, mostly rightly so."""
        match int(rng.integers(0, 9)):
            case 0 | 1:
                return _odd_array(rng)
            case 2:
                return self.table.slice(int(rng.integers(0, 50)), 7)
            case 3:
                return self.table.select([str(name) for name in rng.permutation(self.table.column_names)[: rng.integers(0, 7)]])
            case 4:
                return {str(name): _odd_array(rng) for name in range(int(rng.integers(0, 3)))}
            case 5:
                odd = (_odd_array(rng).ravel()[:5] for _ in range(2))
                return pd.DataFrame(
                    {name: pd.Series(list(values), dtype=object) for name, values in zip(("x", 1), odd, strict=True)}
                )
            case 6 | 7:
                return _damaged_batch(self.files[".arrows"], rng)
            case 8:
                return (None, 3, "x", b"x", [1], object())[int(rng.integers(0, 6))]

    def checkpoint(self, rng):
        """Go on from a spoiled checkpoint."""
        path = self.folder / "spoiled.checkpoint"
        path.write_bytes(forged(self.saved, rng))
        str(ss.summarize(iter([self.table]), checkpoint=path, **_OPTIONS))

    def part(self, rng):
        """Do what workers do with spoiled bytes of others."""
        left, right = self.parts
        match int(rng.integers(0, 5)):
            case 0:
                parts.warm_up({0: parts.rows_of(spoiled(self.heads[0], rng))}, self.request, "two partitions")
            case 1:
                parts.summarize_part(forged(self.empty, rng, self.parts), 0, self.table)
            case 2:
                parts.merge_parts(forged(left, rng, [self.empty]), right)
            case 3:
                parts.merge_parts(left, forged(right, rng, [self.saved]))
            case 4:
                str(parts.finish(forged(left, rng, [self.saved, self.empty]), "two partitions"))

    def drawn(self, rng, endings):
        """Draw a sound file."""
        ending = endings[int(rng.integers(0, len(endings)))]
        return ending, self.files[ending]

    def read_file(self, ending, data):
        """Read bytes from a file whose name tells its format."""
        path = self.folder / f"spoiled{ending}"
        path.write_bytes(data)
        _read(path)


def _read(source):
    given = open_source(source)
    for batch in given.batches(0):
        assert batch.schema.equals(given.schema), "a batch has another schema than its source"


def _files(table):
    text = written(lambda sink: pa.csv.write_csv(table.drop_columns(["v"]), sink))
    lines = "\n".join(json.dumps(row, default=str) for row in table.to_pylist()).encode()
    made = {
        ".parquet": written(lambda sink: pa.parquet.write_table(table, sink, row_group_size=16)),
        ".csv": text,
        ".tsv": text.replace(b",", b"\t"),
        ".ndjson": lines,
        ".jsonl": lines,
        ".arrow": written(lambda sink: streamed(pa.ipc.new_file(sink, table.schema), table)),
        ".arrows": written(lambda sink: streamed(pa.ipc.new_stream(sink, table.schema), table)),
        ".feather": written(lambda sink: pa.feather.write_feather(table, sink, compression="uncompressed")),
    }
    for codec in ("lz4", "zstd"):
        options = pa.ipc.IpcWriteOptions(compression=codec)
        made |= {
            f"-{codec}.feather": written(lambda sink, codec=codec: pa.feather.write_feather(table, sink, compression=codec)),
            f"-{codec}.arrows": written(
                lambda sink, options=options: streamed(pa.ipc.new_stream(sink, table.schema, options=options), table)
            ),
        }
    return made


def _checkpoint(path, table):
    """Return the checkpoint of a run that was stopped after half of the table."""

    def rows():
        yield table.slice(0, 20)
        raise KeyboardInterrupt

    try:
        ss.summarize(rows(), checkpoint=path, **_OPTIONS)
    except KeyboardInterrupt:
        return path.read_bytes()
    raise AssertionError("the run was not stopped")


def _odd_array(rng):
    """Return an array of some shape and type, often one that no table can have."""
    n, width = int(rng.integers(0, 6)), int(rng.integers(0, 4))
    shape = ((n,), (n, width), (n, width), (n, 6), (), (n, 2, 2))[int(rng.integers(0, 6))]
    values = rng.normal(size=shape) * 10.0 ** rng.integers(-300, 300)
    types = (
        "f8", ">f8", "f4", "f2", "i8", ">i2", "u1", "?", "c16", "M8[s]", "m8[ns]", "U5", "S5", "V4", "O", "g", "mixed",
        "fields", "masked",
    )  # fmt: skip
    kind = types[int(rng.integers(0, len(types)))]
    with np.errstate(all="ignore"):
        if kind == "mixed":
            mixed = np.empty(shape, dtype=object)
            mixed[...] = rng.choice(np.array([None, 1, "x", 2.5, b"\xff", [], "\ud800", 2**70], dtype=object), shape)
            return mixed
        if kind == "fields":
            return np.zeros(shape, dtype=[("x", "f8"), ("c", "U3"), ("v", "f4", (2,))])
        if kind == "masked":
            return np.ma.masked_array(values, rng.random(shape) < 0.5)
        return np.zeros(shape, dtype="V4") if kind == "V4" else np.asarray(values).astype(kind)


def _damaged_batch(data, rng):
    """Return a batch that Arrow reads from a spoiled stream without a look at its values; a sound one where it cannot."""
    for each in (spoiled(data, rng), data):
        try:
            return next(iter(pa.ipc.open_stream(each)))
        except (pa.ArrowException, OSError, StopIteration, ValueError):
            continue
    raise AssertionError("the sound stream cannot be read")


class _Pipe(io.RawIOBase):
    """Bytes that come a few at a time, and cannot be gone back in."""

    def __init__(self, data, most):
        self._data, self._most = io.BytesIO(data), most

    def readable(self):
        return True

    def read(self, size=-1, /):
        return self._data.read(self._most if size < 0 else min(size, self._most))
