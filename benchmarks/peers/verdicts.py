"""What a table shows, in sentences made from its numbers: who is on the Pareto front, and where we lose."""

import math
from collections.abc import Sequence

from benchmarks.peers.pareto import beaten_by, front
from benchmarks.peers.rows import Row, Table, error, is_ours, label, mean, measures, seconds

__all__ = ["comparison_verdict", "fronts", "level_is_odd", "sees", "selection_verdict"]


def fronts(table: Table) -> tuple[list[str], list[str]]:
    """Return the Pareto fronts in warm seconds and true MMD: of all rows, and of those with equal weights."""
    equal = [row for row in table["rows"] if row["weights"] == "equal"]
    return front(measures(table["rows"])), front(measures(equal))


def selection_verdict(table: Table) -> list[str]:
    """Say who is on the front with any weights and with equal ones, who is closest, and who beats which of ours."""
    rows = table["rows"]
    sentences = []
    for what, names, considered in zip(
        ("all rows", "the rows with equal weights"), fronts(table), (rows, _equal(rows)), strict=True
    ):
        ours = [name for name in names if name in {label(row) for row in considered if is_ours(row)}]
        others = [name for name in names if name not in ours]
        if ours:
            sentences.append(f"Of {what}, ours on the front: {_listed(ours)}; with them: {_listed(others)}.")
        else:
            sentences.append(f"**Of {what}, no method of ours is on the front**: there are {_listed(others)}.")
        closest = min(considered, key=lambda row: mean(row["mmd"]))
        sentences.append(f"The lowest true MMD of {what} has {label(closest)}{'' if is_ours(closest) else ', not ours'}.")
    return [*sentences, *_losses(rows), _when_cold(rows), _memory(rows)]


def _losses(rows: Sequence[Row]) -> list[str]:
    """Say of each method of ours which peers are both faster and closer, whatever their weights."""
    sentences = []
    by_label = {label(row): row for row in rows}
    for row in filter(is_ours, rows):
        peers = [name for name in beaten_by(measures(rows), label(row)) if not is_ours(by_label[name])]
        if peers:
            best = by_label[peers[0]]
            sentences.append(
                f"We lose: {label(row)} ({_place(row)}) is beaten by {_listed(peers)}; the closest of these at {_place(best)}"
                f"{', a difference within two standard errors' if _close(row, best) else ''}."
            )
    return sentences


def _when_cold(rows: Sequence[Row]) -> str:
    """Say who is on the front where the first call counts, with what it compiles."""
    names = front({label(row): (float(row["cold"]), mean(row["mmd"])) for row in rows})
    ours = [name for name in names if name in {label(row) for row in rows if is_ours(row)}]
    others = [name for name in names if name not in ours]
    told = f"ours on the front: {_listed(ours)}" if ours else "**no method of ours is on the front**"
    return f"Where the first call counts (cold seconds), {told}; with them: {_listed(others)}."


def _memory(rows: Sequence[Row]) -> str:
    """Say what memory the processes of ours and of the peers took at most."""
    peers = sorted((row for row in rows if not is_ours(row) and row["package"] != "none"), key=lambda row: row["peak_mb"])
    ours = [row["peak_mb"] for row in rows if is_ours(row)]
    if not ours or not peers:
        return "Memory has nothing to be compared with."
    less = [label(row) for row in peers if row["peak_mb"] < min(ours)]
    return f"Peak memory: ours {min(ours):,.0f} to {max(ours):,.0f} MB; less than all of ours take {_listed(less)}."


def comparison_verdict(table: Table) -> list[str]:
    """Say which test is fastest, how ours compare with the fastest peer, whose level is off and whose p-value was 0.

    Speed counts only among tests that see the shift: that reject it in more than half of the calls.
    """
    rows = sorted(table["rows"], key=seconds)
    seeing = [row for row in rows if sees(row)]
    ours, peers = [row for row in seeing if is_ours(row)], [row for row in seeing if not is_ours(row)]
    sentences = []
    if seeing:
        last = "" if is_ours(seeing[0]) else ", not ours"
        sentences.append(f"The fastest that sees the shift is {label(seeing[0])}, {seconds(seeing[0]):.3g} s{last}.")
    if peers:
        for row in ours:
            ratio = seconds(row) / seconds(peers[0])
            told = f"{1.0 / ratio:.3g} times as fast as" if ratio < 1.0 else f"**{ratio:.3g} times as slow as**"
            sentences.append(f"{label(row)} is {told} the fastest peer that sees the shift, {label(peers[0])}.")
    blind = [label(row) for row in rows if not sees(row)]
    if blind:
        sentences.append(f"The shift is missed in half of the calls or more by {_listed(blind)}.")
    odd = [label(row) for row in rows if level_is_odd(row)]
    off = "more than three standard errors from 5%"
    sentences.append(f"The level of {_listed(odd)} is {off}." if odd else f"No level is {off}.")
    zero = [label(row) for row in rows if row["far_pvalue"] == 0.0]
    sentences.append(f"A p-value of 0 was returned by {_listed(zero)}." if zero else "No p-value of 0 was returned.")
    return sentences


def sees(row: Row) -> bool:
    """Whether a test rejects the shift at 5% in more than half of its calls."""
    return bool(mean(row["rejects"]) > 0.5)


def level_is_odd(row: Row) -> bool:
    """Whether a test rejects, where nothing changed, more than three standard errors from 5% of the repetitions."""
    count = row["null_repetitions"]
    return bool(abs(row["null_rejections"] - 0.05 * count) > 3.0 * math.sqrt(0.05 * 0.95 * count))


def _equal(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["weights"] == "equal"]


def _place(row: Row) -> str:
    return f"MMD {mean(row['mmd']):.3g} in {seconds(row):.3g} s"


def _close(row: Row, other: Row) -> bool:
    gap = mean(row["mmd"]) - mean(other["mmd"])
    return gap <= 2.0 * math.hypot(error(row["mmd"]) or 0.0, error(other["mmd"]) or 0.0)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "nobody"
