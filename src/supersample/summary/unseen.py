"""Values that the first rows of a stream did not have: a stream that is sorted by a category."""

from collections.abc import Iterator

from supersample._text import plural
from supersample.records.encoding.first_values import unseen
from supersample.selection.stream.plan import WARM_UP
from supersample.summary.depending import drained
from supersample.summary.state import Running

__all__ = ["unseen_told"]

#: The share of rows with new values from which it is said. In rows without an order it is 5% at most: the first rows have at
#: most 256 values, so that no more of them have one that occurs once (Good 1953).
_UNSEEN = 0.2


def unseen_told(state: Running) -> Iterator[tuple[str, str, str]]:
    """Say of which columns the first rows of a stream did not show the values, as kind, column and text of a note."""
    if state.shared is not None or state.n_seen <= WARM_UP or not state.encoding.first:
        return
    sample = drained(state).background
    rows, shares = state.kept.at(sample.rows.positions), sample.shares()
    for name, known in state.encoding.first:
        share = float(shares[unseen(known, rows.column(name))].sum())
        if share >= _UNSEEN:
            whose = "of the rows" if state.counts_alike else "of the weight of the rows"
            yield (
                "unlike the rows learned from", name,
                f"about {share:.0%} {whose} have values that the first {WARM_UP:,} rows did not have (these had "
                f"{plural(len(known), 'value')}): bandwidth and features were chosen without them. Summarise a file or a "
                f"table, not a stream, or shuffle the rows",
            )  # fmt: skip
