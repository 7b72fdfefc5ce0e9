"""The ledger of a stream: which batches were acknowledged, and the rows of those that the saved history does not hold yet.

The saved history says up to which number it holds batches. So there is no moment at which the two can disagree: what has a
higher number is replayed from the ledger, in the same order, when the stream is opened again.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from supersample.errors import InputError
from supersample.live.batch import Batch, Unread
from supersample.live.database import Database

__all__ = ["Entry", "Ledger", "key_of"]

#: Bytes of a set-aside batch that are kept to be looked at, and how many batches.
_KEPT_BYTES, _KEPT_BATCHES = 1 << 16, 1_000
#: Batches, the earliest ones, among which those to be forgotten are looked for at a time, so that no commit takes long.
_FORGOTTEN = 10_000


class Entry(NamedTuple):
    """A batch that is to be acknowledged: its number, and its rows as they were taken in."""

    seq: int
    batch: Batch
    table: pa.Table


def key_of(source: str, batch_id: str) -> bytes:
    """Return what a batch is known by."""
    return hashlib.blake2b(f"{source}\0{batch_id}".encode(errors="surrogatepass"), digest_size=16).digest()


class Ledger:
    """Batches of one stream, by number; the caller opens the transactions in which it is written.

    logged: whether rows are kept until the history is saved. Where values must not be on the disk in full, they are not: then
    a batch is acknowledged only once the history that holds it is saved.
    """

    def __init__(self, database: Database, *, logged: bool) -> None:
        self._database = database
        self.transaction = database.transaction
        self.logged = logged

    def opened(self, through: int) -> int:
        """Return the last number in use, given that of the saved history; batches that it lost were never acknowledged."""
        if int(self._database.fact("through") or 0) > through:
            raise InputError(
                "folder holds a history that is older than its database, so that acknowledged rows are in neither; restore "
                "both from the same backup"
            )
        with self._database.transaction() as run:
            # A position after a batch that was lost would leave its rows out: the source must go back before it.
            run.execute(
                "DELETE FROM batches WHERE kind = 'aside' AND EXISTS (SELECT 1 FROM batches AS lost WHERE lost.kind = 'saved' "
                "AND lost.seq > ? AND lost.seq < batches.seq AND lost.source = batches.source)",
                (through,),
            )
            run.execute("DELETE FROM batches WHERE kind = 'saved' AND seq > ?", (through,))
        last = self._database.rows("SELECT MAX(seq) FROM batches")[0][0]
        return max(last or 0, through)

    def replay(self, through: int) -> Iterator[tuple[int, pa.Table]]:
        """Yield what the saved history does not hold, in the order in which it was taken."""
        while True:
            found = self._database.rows(
                "SELECT seq, body FROM batches WHERE body IS NOT NULL AND seq > ? ORDER BY seq LIMIT 1", (through,)
            )
            if not found:
                return
            through, body = found[0]
            yield through, pa.ipc.open_stream(body).read_all()

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those keys whose batches were acknowledged."""
        found: set[bytes] = set()
        for start in range(0, len(keys), 500):
            some = list(keys[start : start + 500])
            marks = ",".join("?" * len(some))
            found.update(each for (each,) in self._database.rows(f"SELECT key FROM batches WHERE key IN ({marks})", some))  # noqa: S608
        return found

    def add(self, run: Any, entries: Sequence[Entry]) -> None:
        """Write batches that are to be acknowledged."""
        kind = "logged" if self.logged else "saved"
        run.executemany(
            "INSERT INTO batches (seq, key, source, position, rows, taken, kind, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    seq, key_of(batch.source, batch.id), batch.source, _json(batch.position), batch.table.num_rows,
                    batch.received, kind, _body(table) if self.logged else None,
                )
                for seq, batch, table in entries
            ],
        )  # fmt: skip

    def add_aside(self, run: Any, seq: int, unread: Unread, *, kept: bool) -> None:
        """Write a batch that cannot be read; a source with a position goes on after it. kept: whether to keep bytes."""
        key = key_of(unread.source, unread.id)
        content = unread.content[:_KEPT_BYTES] if kept else None
        # Counted apart from the table, which holds the latest ones only.
        run.execute("INSERT OR IGNORE INTO facts SELECT 'aside', COALESCE(SUM(times), 0) FROM aside")
        run.execute("UPDATE facts SET value = CAST(value AS INTEGER) + 1 WHERE name = 'aside'")
        run.execute(
            "INSERT INTO aside (key, id, source, reason, size, content, received) VALUES (?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (key) DO UPDATE SET reason = excluded.reason, size = excluded.size, content = excluded.content, "
            "received = excluded.received, times = times + 1",
            (
                key, _storable(unread.id), unread.source, _storable(unread.reason), len(unread.content), content,
                unread.received,
            ),
        )  # fmt: skip
        run.execute("DELETE FROM aside WHERE number <= (SELECT MAX(number) FROM aside) - ?", (_KEPT_BATCHES,))
        if unread.position is not None:
            run.execute(
                "INSERT OR IGNORE INTO batches (seq, key, source, position, rows, taken, kind) "
                "VALUES (?, ?, ?, ?, 0, ?, 'aside')",
                (seq, key, unread.source, _json(unread.position), unread.received),
            )

    def saved(self, through: int, remember: float) -> None:
        """Drop rows that the saved history holds, and the ids of batches that are too old to come again."""
        before = time.time() - remember
        with self._database.transaction() as run:
            run.execute("INSERT OR REPLACE INTO facts VALUES ('through', ?)", (str(through),))
            run.execute("UPDATE batches SET body = NULL WHERE body IS NOT NULL AND seq <= ?", (through,))
            # Only the last position that is saved can be gone back to; each may be as long as a list of all files.
            run.execute(
                "UPDATE batches SET position = NULL WHERE position IS NOT NULL AND seq < (SELECT MAX(seq) FROM batches "
                "AS later WHERE later.source = batches.source AND later.position IS NOT NULL AND later.seq <= ?)",
                (through,),
            )
            # Ids are kept for a week, so there may be millions: only the earliest are looked at. The last one stays, since it
            # says when rows came.
            run.execute(
                "DELETE FROM batches WHERE seq IN (SELECT seq FROM batches ORDER BY seq LIMIT ?) AND taken < ? AND seq <= ? "
                "AND position IS NULL AND seq < (SELECT MAX(seq) FROM batches)",
                (_FORGOTTEN, before, through),
            )

    def positions(self) -> dict[str, Any]:
        """Return where each source goes on."""
        found = self._database.rows(
            "SELECT source, position FROM batches WHERE position IS NOT NULL AND seq IN "
            "(SELECT MAX(seq) FROM batches WHERE position IS NOT NULL GROUP BY source)"
        )
        return {source: json.loads(position) for source, position in found}

    def aside(self, number: int | None = None) -> list[dict[str, Any]]:
        """Return what was set aside, the latest first; one of them by its number, with its content."""
        more = ", content" if number is not None else ""
        only, values = ("", ()) if number is None else ("WHERE number = ?", (number,))
        query = f"SELECT number, id, source, reason, size, received, times{more} FROM aside {only} ORDER BY number DESC"  # noqa: S608
        found = self._database.many_rows(query, values)
        names = ("number", "id", "source", "reason", "size", "received", "times", "content")
        return [dict(zip(names, each, strict=False)) for each in found]

    def last_taken(self) -> float | None:
        """Return when the latest batch that is remembered came, in seconds since 1970."""
        found: float | None = self._database.rows("SELECT MAX(taken) FROM batches")[0][0]
        return found

    def counts(self) -> dict[str, int]:
        """Return how many batches wait for a save, and how often one was set aside, those included that are not kept."""
        waiting = self._database.rows("SELECT COUNT(*) FROM batches WHERE body IS NOT NULL")[0][0]
        aside = self._database.fact("aside")
        if aside is None:  # nothing was set aside since this is counted
            aside = self._database.rows("SELECT COALESCE(SUM(times), 0) FROM aside")[0][0]
        return {"logged_batches": waiting, "aside": int(aside)}


def _json(position: Any) -> str | None:
    return None if position is None else json.dumps(position)


def _storable(text: str) -> str:
    """Return a text that SQLite takes: names of files may hold bytes that are no UTF-8, which Python reads as surrogates."""
    return text.encode(errors="backslashreplace").decode()


def _body(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
