"""Files with a checksum that fits and numbers that no stream gives: each is refused when it is loaded, by name."""

import hashlib
import json
import struct
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import supersample as ss
from supersample.engines import partition_tasks as parts
from supersample.errors import InputError
from supersample.records.sources import open_source
from supersample.summary import Summary
from supersample.summary import state as states
from supersample.summary.snapshot import Snapshot
from supersample.summary.state_file import restore, store

_PREFIX = struct.Struct("<8sIQ")


def _table(n):
    rng = np.random.default_rng(0)
    return pa.table({"x": rng.normal(size=n), "c": rng.choice(["a", "b"], n), "w": rng.random(n) + 0.5})


@pytest.fixture(scope="module")
def data():
    """A stream past its warm-up, so that it has moments, a background sample, criticisms and a tree."""
    rows = _table(9_500)
    started = ss.summarize(rows.slice(0, 10), prototypes=16, criticisms=2, n_features=12, weight="w", random_state=0)
    request = started._snapshot.state.request
    state = states.init(replace(request, settings=replace(request.settings, search="tree")), rows.schema)
    for batch in rows.to_batches():
        state = states.update(state, batch)
    made = Summary(Snapshot(state), "rows").to_bytes()
    assert restore(made, "a file").state.stream.reservoir.tree is not None
    return made


def _inside(holder):
    """Return the fields of a record or the parts of a map, which a header names with what they are of."""
    return holder.get("fields") or holder.get("parts") or holder


class _Forgery:
    """The parts of a file, open to changes."""

    def __init__(self, data):
        self.magic, self.version, length = _PREFIX.unpack_from(data)
        self.header = json.loads(data[_PREFIX.size : _PREFIX.size + length])
        self.rest = bytearray(data[_PREFIX.size + length : -32])

    def place(self, trail):
        """Return (holder, key) of a branch of the header."""
        holder = self.header["contents"]
        for key in trail[:-1]:
            holder = _inside(holder)[key]
        return _inside(holder), trail[-1]

    def array(self, trail):
        """Return an array of the file as a view that can be changed."""
        holder, key = self.place(trail)
        at, described = holder[key]["array"], self.header["arrays"]
        sizes = [np.dtype(each["dtype"]).itemsize * int(np.prod(each["shape"])) for each in described]
        whole = np.frombuffer(self.rest, described[at]["dtype"], int(np.prod(described[at]["shape"])), sum(sizes[:at]))
        return whole.reshape(described[at]["shape"])

    def whole(self):
        """Return the bytes with a checksum that fits."""
        text = json.dumps(self.header, sort_keys=True, separators=(",", ":")).encode()
        body = _PREFIX.pack(self.magic, self.version, len(text)) + text + bytes(self.rest)
        return body + hashlib.sha256(body).digest()


def assert_refused(forgery, tmp_path, why):
    path = tmp_path / "forged.ss"
    path.write_bytes(forgery.whole())
    with pytest.raises(InputError, match=rf"forged\.ss does not hold a summary, .*\(.*{why}.*\); create it again"):
        ss.load(path)


def test_nothing_changed_loads(data, tmp_path):
    (tmp_path / "same.ss").write_bytes(_Forgery(data).whole())
    assert ss.load(tmp_path / "same.ss").to_bytes() == data


@pytest.mark.parametrize(
    ("trail", "at", "value", "why"),
    [
        # Where a matrix routine or a random choice stumbled when the summary was merged, compared or updated.
        (("stream", "rare", "density"), 0, np.nan, "an impossible density"),
        (("stream", "rare", "density"), 1, np.inf, "an impossible density"),
        (("stream", "reservoir", "features"), (0, 0), np.nan, "the reservoir has impossible features"),
        (("stream", "reservoir", "features"), (0, 0), 1e30, "the reservoir has impossible features"),
        (("stream", "reservoir", "rows", "mantissas"), 0, -0.5, "not positive numbers"),
        (("stream", "background", "kept", "rows", "mantissas"), 0, np.nan, "not positive numbers"),
        (("stream", "background", "kept", "rows", "exponents"), 0, 2**49, "not positive numbers"),
        (("stream", "background", "kept", "rows", "exponents"), 0, -(2**63), "not positive numbers"),
        (("stream", "background", "kept", "mantissas"), 0, np.nan, "the background sample is impossible"),
        (("stream", "background", "kept", "exponents"), 0, -1_000, "do not belong to their weights"),
        (("stream", "background", "kept", "exponents"), 0, 2, "that were left out"),
        (("stream", "moments", "totals"), 0, np.nan, "the moments are not finite"),
        (("stream", "moments", "totals"), 0, 1e300, "the moments are too large"),
        (("stream", "moments", "totals"), -3, -1.0, "the moments have no weight"),
        (("stream", "moments", "totals"), -2, 1e9, "the moments are too large"),
        (("stream", "held_out", "errors"), 0, np.inf, "the moments are not finite"),
        (("stream", "moments", "counts"), 0, 2**40, "another number of rows"),
        (("stream", "moments", "counts"), 1, 700, "another number of rows"),
        (("stream", "dependence", "squares"), (0, 0), np.nan, "the block sums are impossible"),
        (("stream", "dependence", "products"), (0, 0), 1e300, "the block sums are too large"),
        (("stream", "dependence", "counts"), 1, 9_000, "another number of rows"),
        (("stream", "dependence", "held"), -1, 9, "wait for impossible blocks"),
        (("stream", "dependence", "held"), slice(None), 1, "wait for impossible blocks"),
        (("stream", "dependence", "exponent"), None, 2**49, "impossible scale"),
        (("stream", "dependence", "n_features"), None, 3, "of other rows"),
        # 2^exponent as a float64 is too large for it.
        (("stream", "moments", "counts"), 2, 2**62, "impossible scale"),
        (("stream", "plan", "feature_map", "spanned", "whitening"), (0, 0), np.nan, "the landmarks are impossible"),
        (("stream", "plan", "feature_map", "spanned", "landmarks"), (0, 0), np.inf, "the landmarks are not finite"),
        (("stream", "plan", "feature_map", "overlap"), (0, 0), np.nan, "the landmarks are impossible"),
        # Compiled loops follow these without a look.
        (("stream", "reservoir", "tree", "leaves"), 0, 99, "the tree is impossible"),
        (("stream", "reservoir", "tree", "first"), 0, 1_000, "do not hold each point once"),
        (("stream", "reservoir", "tree", "splits"), 0, np.nan, "the tree is impossible"),
        (("stream", "reservoir", "basis_at"), None, -1, "the reservoir is impossible"),
        (("stream", "n_used"), None, 1, "another number of rows"),
        (("stream", "reservoir", "histogram"), 3, -1, "the histogram is impossible"),
        (("outcome", "shares"), 0, 0.9, "shares do not sum to one"),
        (("outcome", "background_shares"), 0, -0.1, "shares do not sum to one"),
        (("outcome", "weights"), 0, 1e300, "shares do not sum to one"),
        (("outcome", "witness"), 0, 1e300, "the witness is larger than its kernel"),
        (("outcome", "error"), None, {"float": "inf"}, "an MMD is impossible"),
        (("stream", "settings", "seed", "entropy"), None, -1, "the seed is impossible"),
        (("settings", "n_features"), None, 2**31, "the number of features is impossible"),
        (("source",), None, "\ud800", "half of a character"),
        (("source",), None, float("nan"), "no number"),
    ],
    ids=str,
)
def test_numbers_that_no_stream_gives_are_refused(data, trail, at, value, why, tmp_path):
    forgery = _Forgery(data)
    if at is None:
        holder, key = forgery.place(trail)
        holder[key] = value
    else:
        forgery.array(trail)[at] = value
    assert_refused(forgery, tmp_path, why)


def test_a_tree_without_end_is_refused(data, tmp_path):
    forgery = _Forgery(data)
    following, leaves = (forgery.array(("stream", "reservoir", "tree", name)) for name in ("following", "leaves"))
    first = forgery.array(("stream", "reservoir", "tree", "first"))
    leaf = int(np.bincount(leaves).argmax())
    before, head = np.flatnonzero(leaves == leaf)[:2], first[leaf]
    assert before.size == 2
    members = [int(slot) for slot in np.flatnonzero(leaves == leaf) if slot != head]
    first[leaf], following[head] = head, -1  # the head alone; the others follow each other in a ring
    for slot, after in zip(members, members[1:] + members[:1], strict=True):
        following[slot] = after
    assert_refused(forgery, tmp_path, "have no end")


@pytest.mark.parametrize(
    ("block", "field", "value", "why"),
    [
        (0, "scale", 0.0, "positive scale"),
        (0, "scale", {"float": "nan"}, "must be"),
        (0, "furthest", 1e308, "positive scale"),
        (0, "weight", -1.0, "positive weight"),
        (0, "name", "c", "each once"),
        (1, "name", "w", "cannot be a category"),
        (1, "label", "number", "argument"),
    ],
)
def test_an_encoding_that_the_columns_cannot_give_is_refused(data, block, field, value, why, tmp_path):
    forgery = _Forgery(data)
    forgery.header["contents"]["encoding"]["blocks"][block][field] = value
    assert_refused(forgery, tmp_path, why)


@pytest.mark.parametrize(("field", "value"), [("kind", "time"), ("kind", "left out"), ("width", 9), ("name", "other")])
def test_notes_that_do_not_belong_to_the_encoding_are_refused(data, field, value, tmp_path):
    forgery = _Forgery(data)
    forgery.header["contents"]["encoding"]["notes"][0][field] = value
    assert_refused(forgery, tmp_path, "notes")


@pytest.mark.parametrize("factor", [0.0, -1.0, 1e308])
def test_a_sum_of_kernels_that_is_none_is_refused(factor, tmp_path):
    kernel = ss.kernels.Gaussian(1.0) + 0.5 * ss.kernels.Cauchy(2.0)
    forgery = _Forgery(ss.summarize(_table(60), prototypes=4, kernel=kernel, random_state=0).to_bytes())
    text = json.dumps(forgery.header)
    assert '{"tuple": [0.5, ' in text
    forgery.header = json.loads(text.replace('{"tuple": [0.5, ', f'{{"tuple": [{factor}, '))
    assert_refused(forgery, tmp_path, "between 1e-30 and")


@pytest.mark.parametrize("more", [{}, {"asked": 3, "beginning": ""}, {"asked": {}, "beginning": None}])
def test_a_checkpoint_that_does_not_tell_its_run_is_refused(more, tmp_path):
    path = tmp_path / "run.checkpoint"
    state = states.init(ss.summarize(_table(60), 4, 2, random_state=0)._snapshot.state.request, _table(1).schema)
    path.write_bytes(store(states.update(state, _table(20).to_batches()[0]), kind="checkpoint", source="rows", **more))
    with pytest.raises(InputError, match=r"run\.checkpoint does not hold a summary"):
        ss.summarize(_table(60), 4, 2, checkpoint=path, random_state=0)


def test_partitions_take_only_the_bytes_of_partitions():
    summary = ss.summarize(_table(60), 4, 2, random_state=0)
    empty = parts.warm_up({0: _table(60)}, summary._snapshot.state.request, "a partition")
    part = parts.summarize_part(empty, 0, _table(60))
    for call in (
        lambda: parts.finish(summary.to_bytes(), "a partition"),
        lambda: parts.merge_parts(part, summary.to_bytes()),
        lambda: parts.merge_parts(empty, part),
        lambda: parts.summarize_part(part, 0, _table(60)),
        lambda: parts.finish(b"other bytes", "a partition"),
    ):
        with pytest.raises(InputError, match=r"the state (of a partition|that partitions start from)"):
            call()
    with pytest.raises(InputError, match="the first rows of a partition came back damaged"):
        parts.rows_of(parts.head(0, 60, None, _table(60))[:100])


def test_batches_that_arrow_did_not_look_at_are_looked_at():
    offsets = pa.py_buffer(np.array([0, 1, 2], dtype=np.int32))
    broken = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"a\xff")])
    given = iter([pa.table({"x": ["a", "b"]}), pa.table({"x": broken})])
    with pytest.raises(InputError, match="could not be read beyond its first 2 rows"):
        list(open_source(given).batches(0))


@pytest.mark.parametrize("wrap", [lambda values: values, lambda values: {"x": values}, lambda values: iter([values])])
def test_whole_numbers_beyond_64_bits_are_refused(wrap):
    with pytest.raises((ss.errors.InputTypeError, InputError), match="source"):
        list(open_source(wrap(np.array([1, 2**70], dtype=object))).batches(0))
