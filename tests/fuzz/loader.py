"""Saved summaries, damaged and forged: loaded, and what loads is used."""

from dataclasses import replace
from pathlib import Path

import supersample as ss
from fuzz.data import table_of
from fuzz.mutations import forged, generator
from supersample.errors import SupersampleError
from supersample.summary import Summary
from supersample.summary import state as states
from supersample.summary.snapshot import Snapshot

#: The large file is taken once in so many executions.
_SELDOM = 64
#: Of the files that load, one in so many is used as well as read.
_TURN = 8


class Loader:
    """`ss.load`: most executions change header, arrays or table and fix the checksum, so that damage reaches the parts.

    What loads is read, encodes rows and gives expectations; one in eight also takes in rows, is merged with itself or with a
    sound sibling, is compared, or has a report written: those are as slow as tens of loads, the last two as a thousand.
    """

    def __init__(self, folder):
        self.path = Path(folder) / "spoiled.ss"
        self.page = Path(folder) / "page.html"
        table = table_of(60)
        kinds = (
            {"features": "auto"},
            {"features": "fourier"},
            {"features": "nystroem", "weight": "w"},
            {"kernel": "laplacian"},
        )
        made = [ss.summarize(table, prototypes=4, criticisms=2, n_features=12, random_state=0, **each) for each in kinds]
        longer = ss.summarize(table_of(700), prototypes=4, criticisms=0, columns=["x", "c"], n_features=12, random_state=1)
        made += [longer.merge(longer), _streamed()]
        names = [each._snapshot.state.schema.names for each in made]
        pairs = zip(names, made, strict=True)
        self.siblings = [ss.summarize(table_of(30).select(each), like=one, random_state=2) for each, one in pairs]
        self.rows = [table_of(60).select(each) for each in names]
        self.files = [each.to_bytes() for each in made]
        self.turns = (self.update, self.merge, self.merge_sibling) * 5 + (self.compare,)
        self.turns = (*self.turns, *self.turns[:-1], self.report)

    def execute(self, seed, index):
        """Spoil one file and load it; use what loads."""
        rng = generator(seed, index)
        place = self.place(rng)
        self.path.write_bytes(self.spoil(rng, place))
        try:
            found = ss.load(self.path)
        except SupersampleError as error:
            if self.path.name not in str(error):
                raise AssertionError("the error does not name the file") from error
            return "refused"
        turn = int(rng.integers(0, _TURN * len(self.turns)))
        try:
            self.read(found, place)
            if turn < len(self.turns):
                self.turns[turn](found, place)
        except SupersampleError:
            return "refused when used"
        return "loaded"

    def place(self, rng):
        """Draw the file to spoil."""
        last = len(self.files) - 1
        return last if rng.integers(0, _SELDOM) == 0 else int(rng.integers(0, last))

    def spoil(self, rng, place=None):
        """Return the bytes of a file that is damaged, or forged."""
        return forged(self.files[self.place(rng) if place is None else place], rng, self.files)

    def read(self, found, place):
        """Ask for all that is at hand."""
        str(found), repr(found), found.to_dict(), found.columns, found.mmd_path, found.bound()
        tables = found.prototypes, found.criticisms, found.background
        for kind in ("simplex", "uniform"):
            found.weights(kind), found.expect("x", weighting=kind)
        for rows in (*tables, self.rows[place]):
            found.encode(rows)
        found.to_bytes()

    def update(self, found, place):
        """Take in more rows, and read what comes of it."""
        str(found.update(self.rows[place])), found.to_bytes()

    def merge(self, found, _):
        """Merge with itself."""
        str(found.merge(found))

    def merge_sibling(self, found, place):
        """Merge with what was made like the sound file, both ways."""
        found.merge(self.siblings[place])
        str(self.siblings[place].merge(found))

    def compare(self, found, place):
        """Compare with what was made like the sound file."""
        str(found.compare(self.siblings[place]))

    def report(self, found, _):
        """Write the page."""
        found.report(self.page)


def _streamed():
    """Return a summary whose stream is past its warm-up and searched by a tree, which else only large ones have."""
    rows = table_of(9_500).select(["x", "c"])
    started = ss.summarize(rows.slice(0, 10), prototypes=16, criticisms=2, n_features=12, random_state=3)
    request = started._snapshot.state.request
    state = states.init(replace(request, settings=replace(request.settings, search="tree")), rows.schema)
    for batch in rows.to_batches():
        state = states.update(state, batch)
    assert state.stream.reservoir.tree is not None
    return Summary(Snapshot(state), "a stream")
