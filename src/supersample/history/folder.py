"""A history in a folder: one file a block and an alarm, and one that names them all, which is replaced last.

A file is named by its contents, and never changed. So a folder holds the history of the last whole save, whenever the process
was stopped; files that no longer belong to it are removed after the next one. Whoever writes holds the lock of the folder.
"""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from supersample._checks import MOST, require
from supersample._files import read_file, write_atomically
from supersample._typing import Floats
from supersample.embedding.moments import Moments
from supersample.errors import InputError
from supersample.history import timeline
from supersample.history.alarm_file import alarm_bytes, alarm_of
from supersample.history.block import Block
from supersample.history.lookout import Lookout
from supersample.history.rules import Rules
from supersample.history.timeline import Open, Ticks, Timeline
from supersample.history.waves import Waves
from supersample.profile import Profile
from supersample.records.encoding import ColumnOptions, Encoding
from supersample.selection.stream.background import Background
from supersample.selection.stream.dependence import Dependence
from supersample.selection.stream.plan import Plan, Settings
from supersample.storage.codec import pack, unpack
from supersample.storage.container import DAMAGE, Contents, from_bytes, to_bytes
from supersample.summary.row_store import RowStore
from supersample.summary.state import Maps, Request, check_encoding

__all__ = ["MAIN", "Files", "Saved", "block_bytes", "block_of", "maps_bytes", "maps_of", "read_folder", "write_folder"]

#: The file that names all others.
MAIN = "history.ss"
_BLOCKS, _ALARMS = "blocks", "alarms"
#: So often a folder is read again if another save replaced it in the meantime.
_TRIES = 20
_PARTS = {
    "moments": Moments, "held_out": Moments, "in_time": Moments, "sample": Background, "dependence": Dependence,
    "profile": Profile, "redacted": Profile,
}  # fmt: skip


@dataclass(frozen=True)
class Saved:
    """What a folder holds beside the history itself: the name of its source, and how far it was read.

    rows: those that wait for encoding and features; then there is no timeline.
    """

    rules: Rules
    request: Request
    source: str
    state: Timeline | None
    rows: pa.Table | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Files:
    """What a history knows of a folder as of the last time that it read or wrote it.

    names: the files of blocks and alarms, by the identity of the object. main: the digest of the main file.
    """

    names: dict[int, tuple[Any, str]] = field(default_factory=dict)
    main: str = ""

    def are_current(self, folder: Path) -> bool:
        """Return whether nobody else has saved to the folder since."""
        return not (folder / MAIN).exists() or _digest(read_file(folder / MAIN, "path")) == self.main


def write_folder(folder: Path, saved: Saved, files: Files) -> None:
    """Write a history; blocks whose files are there are not written again. files: is brought up to date."""
    for each in (folder, folder / _BLOCKS, folder / _ALARMS):
        try:
            each.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(
                f"path must name a folder that can be made, got {str(folder)!r}: {error.strerror}; choose another place"
            ) from error
    names: dict[int, tuple[Any, str]] = {}

    def put(value: Any, kind: str, data: Callable[[Any], bytes]) -> str:
        held = files.names.get(id(value))
        name = held[1] if held is not None and held[0] is value else ""
        body = None if name else data(value)
        if body is not None:
            name = f"{kind}/{_digest(body)[:24]}.ss"
        if not (folder / name).exists():  # another history that was saved here may have removed a file that is known
            write_atomically(folder / name, data(value) if body is None else body, "path")
        names[id(value)] = (value, name)
        return name

    main = _main(saved, put)
    write_atomically(folder / MAIN, main, "path")
    files.names, files.main = names, _digest(main)
    wanted = {name for _, name in names.values()}
    for kind in (_BLOCKS, _ALARMS):
        for path in (folder / kind).glob("*.ss"):
            if f"{kind}/{path.name}" not in wanted:
                with suppress(OSError):  # it does no harm
                    path.unlink()


def read_folder(folder: Path) -> tuple[Saved, Files]:
    """Return what `write_folder` was given, of one whole save, though others may come; raise InputError for anything else."""
    data = read_file(folder / MAIN, "path")
    for _ in range(_TRIES):
        try:
            return _read(folder, data)
        except InputError:
            before, data = data, read_file(folder / MAIN, "path")
            if data == before:
                raise
    raise InputError(f"path {str(folder)!r} is saved by another run more often than it can be read; try again later")


def _read(folder: Path, data: bytes) -> tuple[Saved, Files]:
    name = f"{folder.name}/{MAIN}"
    contents, files = from_bytes(data, name), Files(main=_digest(data))
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            return _restored(contents, folder, files.names), files
    except InputError:
        raise
    except DAMAGE as error:
        raise InputError(f"{name} does not hold a history, though its checksum fits ({error}); create it again") from error


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def maps_bytes(state: Timeline) -> bytes:
    """Return what it takes to turn rows into blocks of a history, without its blocks."""
    bare = replace(state, blocks=(), open={}, alarms=(), ticks=Ticks())

    def nothing(*_: Any) -> str:
        raise AssertionError

    return _main(Saved(state.rules, state.request, "", bare), nothing)


def maps_of(data: bytes) -> Timeline:
    """Return a history without blocks, from what `maps_bytes` returned."""
    saved = _restored(from_bytes(data, "the maps of a history"), Path(), {})
    assert saved.state is not None
    return saved.state


def _main(saved: Saved, put: Callable[[Any, str, Callable[[Any], bytes]], str]) -> bytes:
    arrays: list[np.ndarray[Any, Any]] = []
    state, request = saved.state, saved.request
    header: dict[str, Any] = {
        "kind": "history",
        "source": saved.source,
        "more": dict(saved.more),
        "rules": pack(saved.rules, arrays),
        "settings": pack(request.settings, arrays),
        "options": request.options.to_plain(),
    }
    if state is None:
        assert saved.rows is not None
        return to_bytes(Contents(header, arrays, saved.rows.combine_chunks()))
    waiting = [(number, each) for number, each in sorted(state.open.items())]
    rows = [pa.Table.from_batches(each.waiting, state.schema) for _, each in waiting if each.n_waiting]
    parts = {"ticks": asdict(state.ticks), "clock": {"places": state.places, "counts": state.counts}}
    header |= {
        "encoding": state.maps.encoding.to_plain(),
        "plan": pack(state.maps.plan, arrays),
        "waves": pack(state.waves, arrays),
        "lookout": pack(state.lookout, arrays),
        "n_seen": state.n_seen,
        "n_late": state.n_late,
        "blocks": [put(each, _BLOCKS, block_bytes) for each in state.blocks],
        "open": [[number, each.n_waiting, put(each.block, _BLOCKS, block_bytes)] for number, each in waiting],
        "alarms": [put(each, _ALARMS, alarm_bytes) for each in state.alarms],
        **{kind: {name: pack(each, arrays) for name, each in own.items()} for kind, own in parts.items()},
    }
    table = pa.concat_tables([state.schema.empty_table(), *rows]).combine_chunks()
    return to_bytes(Contents(header, arrays, table.take(pa.array(np.arange(table.num_rows)))))


def block_bytes(block: Block) -> bytes:
    """Return the bytes of a file that holds a block."""
    arrays: list[np.ndarray[Any, Any]] = []
    kept = block.kept.compact()
    header = {
        "kind": "block", "start": block.start, "end": block.end, "n_seen": block.n_seen, "n_used": block.n_used,
        "n_late": block.n_late, "positions": pack(kept.positions, arrays),
        **{name: pack(getattr(block, name), arrays) for name in _PARTS},
    }  # fmt: skip
    return to_bytes(Contents(header, arrays, kept.table))


def _restored(contents: Contents, folder: Path, known: dict[int, tuple[Any, str]]) -> Saved:
    header, arrays = contents.header, list(contents.arrays)
    require(header["kind"] == "history", "it is of another kind")
    rules, settings = unpack(header["rules"], arrays), unpack(header["settings"], arrays)
    require(isinstance(rules, Rules) and isinstance(settings, Settings), "it has no rules")
    rules.check()
    request = Request(settings, ColumnOptions.of(header["options"]))
    table, more = contents.table, header["more"]
    require(isinstance(header["source"], str) and isinstance(more, Mapping), "the header is incomplete")
    request.check(table.schema)
    if "plan" not in header:
        return Saved(rules, request, header["source"], None, table, more)
    maps = Maps(Encoding.of(header["encoding"]), unpack(header["plan"], arrays))
    check_encoding(maps.encoding, request, table.schema)
    require(isinstance(maps.plan, Plan), "it has no features")
    maps.plan.check(maps.encoding.reach())
    waves = unpack(header["waves"], arrays)
    require(isinstance(waves, Waves), "it has no features to see changes by")
    waves.check(maps.encoding.width)
    state = replace(timeline.init(rules, request, table.schema, maps), waves=waves)
    state = replace(state, **_values(header, arrays, state))

    def block(name: str) -> Block:
        found = block_of(_file(folder, name, _BLOCKS), name, state)
        known[id(found)] = (found, name)
        return found

    opened, start = {}, 0
    for number, n_waiting, name in header["open"]:
        require(
            isinstance(number, int) and isinstance(n_waiting, int) and 0 <= n_waiting <= table.num_rows - start,
            "rows are missing",
        )
        rows = table.slice(start, n_waiting).combine_chunks().to_batches()
        opened[number] = Open(block(name), tuple(rows), n_waiting)
        start += n_waiting
    require(start == table.num_rows, "rows wait for no block")
    alarms = []
    for name in header["alarms"]:
        alarms.append(alarm_of(_file(folder, name, _ALARMS), name))
        known[id(alarms[-1])] = (alarms[-1], name)
    state = replace(state, blocks=tuple(map(block, header["blocks"])), open=opened, alarms=tuple(alarms))
    return Saved(rules, request, header["source"], state, None, more)


def _values(header: Mapping[str, Any], arrays: list[np.ndarray[Any, Any]], state: Timeline) -> dict[str, Any]:
    """Return counts, clock, ticks and lookout; refuse those that no history has."""
    lookout = unpack(header["lookout"], arrays)
    require(isinstance(lookout, Lookout), "it has no lookout")
    lookout = lookout.by_segments()
    lookout.check(state.rules, state.waves.n_features, state.maps.encoding.width)
    ticks = Ticks(**{name: unpack(each, arrays) for name, each in header["ticks"].items()})
    columns = (ticks.starts, ticks.sizes, ticks.evidence, ticks.volume)
    require(len({each.shape for each in columns}) == 1 and ticks.starts.ndim == 1, "the ticks are incomplete")
    require(all(each.dtype == np.float64 and not np.isnan(each).any() for each in columns), "the ticks are impossible")
    places, counts = (unpack(header["clock"][name], arrays) for name in ("places", "counts"))
    if places.shape == (3,):  # as of the first histories, which did not know how far rows are apart
        places = np.append(places, np.zeros(2))
    if places.shape == counts.shape == (5,):  # as of those that were not put back after a jump
        places, counts = np.append(places, np.zeros(3)), np.append(counts, np.zeros(3, dtype=np.int64))
    require(places.shape == (8,) and bool(np.isfinite(places[3:]).all()), "the clock is impossible")
    require(counts.shape == (8,) and counts.dtype == np.int64, "the clock is impossible")
    require(bool(np.isfinite(places[0])) and bool((np.abs(counts) < MOST).all()), "the clock is impossible")
    n_seen, n_late = header["n_seen"], header["n_late"]
    require(all(type(each) is int and 0 <= each < MOST for each in (n_seen, n_late)), "the numbers of rows are impossible")
    return {"lookout": lookout, "ticks": ticks, "places": places, "counts": counts, "n_seen": n_seen, "n_late": n_late}


def _file(folder: Path, name: Any, kind: str) -> Contents:
    """Return a file that the main one names; no name leads out of the folder."""
    parts = name.split("/") if isinstance(name, str) else []
    fits = len(parts) == 2 and parts[0] == kind and parts[1].removesuffix(".ss").isalnum()
    require(fits, "it names a file that it did not write")
    return from_bytes(read_file(folder / kind / parts[1], "path"), name)


def block_of(contents: Contents, name: str, state: Timeline) -> Block:
    """Return the block of a file; refuse one that no rows of the history lead to."""
    header, arrays = contents.header, list(contents.arrays)
    require(header["kind"] == "block" and contents.table.schema == state.schema, f"{name} is no block of it")
    kept = RowStore(unpack(header["positions"], arrays), contents.table)
    kept.check()
    encoding = state.maps.encoding
    batches = kept.table.combine_chunks().to_batches()
    points = np.concatenate([encoding.points(each) for each in batches]) if batches else np.empty((0, encoding.width))

    def points_at(positions: Any) -> Floats:
        places = np.searchsorted(kept.positions, positions)
        require(bool((kept.positions[np.minimum(places, len(points) - 1)] == positions).all()), "a held row is missing")
        return np.asarray(points[places])

    parts = {each: unpack(header[each], arrays, points_at) for each in _PARTS}
    require(all(isinstance(parts[each], cls) for each, cls in _PARTS.items()), f"{name} is incomplete")
    counts = {each: header[each] for each in ("n_seen", "n_used", "n_late")}
    require(all(type(each) is int and 0 <= each < MOST for each in counts.values()), f"{name} has impossible counts")
    span = header["start"], header["end"]
    require(all(isinstance(each, float) for each in span) and span[0] < span[1], f"{name} has no span")
    block = Block(start=span[0], end=span[1], **counts, **parts, kept=kept)
    block.check(state.maps, state.waves)
    return block
