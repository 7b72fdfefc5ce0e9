"""The database of one stream: SQLite in a file beside the history, in which what is committed survives a power cut."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from supersample.errors import InputError

__all__ = ["Database"]

#: The layout of the tables. A later version of the package reads every earlier one, by changing the tables here.
_VERSION = 1
_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE batches (
    seq INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, source TEXT NOT NULL, position TEXT, rows INTEGER NOT NULL,
    taken REAL NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('logged', 'saved', 'aside')), body BLOB);
CREATE INDEX batches_of_a_source ON batches (source, seq);
CREATE INDEX batches_that_wait ON batches (seq) WHERE body IS NOT NULL;
CREATE INDEX batches_with_a_position ON batches (source, seq) WHERE position IS NOT NULL;
CREATE TABLE aside (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, id TEXT NOT NULL, source TEXT NOT NULL,
    reason TEXT NOT NULL, size INTEGER NOT NULL, content BLOB, received REAL NOT NULL, times INTEGER NOT NULL DEFAULT 1);
CREATE TABLE ticks (
    number INTEGER PRIMARY KEY, start REAL NOT NULL, rows REAL NOT NULL, evidence REAL NOT NULL, volume REAL NOT NULL,
    late INTEGER NOT NULL, closed REAL NOT NULL);
CREATE TABLE alarms (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, change REAL NOT NULL, raised REAL NOT NULL, noticed REAL NOT NULL,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'acknowledged', 'normal', 'snoozed')),
    until REAL, by TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '', updated REAL);
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT, alarm INTEGER NOT NULL, target TEXT NOT NULL, body BLOB NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL, delivered REAL, reason TEXT NOT NULL DEFAULT '',
    UNIQUE (alarm, target));
"""


class Database:
    """A connection that writes and two that read, each for one thread at a time; one of these for what may take long.

    Readers see what was committed last, and do not wait while the disk is flushed.
    """

    def __init__(self, path: Path) -> None:
        self._lock, self._reading, self._reading_long = threading.Lock(), threading.Lock(), threading.Lock()
        self._path = path
        try:
            with ExitStack() as opened:
                connections = [opened.enter_context(closing(self._connected())) for _ in range(3)]
                self._connection, self._reader, self._long_reader = connections
                self._prepare()
                self._opened = opened.pop_all()
        except sqlite3.Error as error:
            raise InputError(
                f"folder must hold the database of a stream that can be opened, got {str(path)!r}: {error}; restore it from a "
                f"backup, or choose a new folder"
            ) from error

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=10.0)

    def _prepare(self) -> None:
        run = self._connection.execute
        run("PRAGMA trusted_schema = OFF")
        version = run("PRAGMA user_version").fetchone()[0]
        empty = version == 0 and not run("SELECT COUNT(*) FROM sqlite_schema").fetchone()[0]
        if version != _VERSION and not empty:
            writer = (
                "a later version of"
                if version > _VERSION
                else "an earlier version of"
                if version > 0
                else "something else than"
            )
            raise InputError(
                f"{str(self._path)!r} was written by {writer} supersample: its tables have layout {version}, and this version "
                f"reads layout {_VERSION}; use the program that wrote it, or a new folder"
            )
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        if empty:
            with self.transaction():
                for statement in _TABLES.split(";"):
                    run(statement)
                run(f"PRAGMA user_version = {_VERSION}")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Commit what the block does when it ends, all of it or nothing."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has rolled back by itself
                    self._connection.execute("ROLLBACK")
                raise

    def fact(self, name: str) -> str | None:
        """Return a fact about the stream, if it is known."""
        found = self.rows("SELECT value FROM facts WHERE name = ?", (name,))
        return str(found[0][0]) if found else None

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self._reading:
            return self._reader.execute(query, values).fetchall()

    def many_rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query that may take long, for which `rows` does not wait."""
        with self._reading_long:
            return self._long_reader.execute(query, values).fetchall()

    def close(self) -> None:
        """Close the file; what was committed is in it."""
        with self._lock, self._reading, self._reading_long, suppress(sqlite3.Error):
            self._opened.close()
