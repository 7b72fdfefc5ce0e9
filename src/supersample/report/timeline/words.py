"""The sentences of the page of a history."""

from collections.abc import Sequence
from dataclasses import dataclass

from supersample.history.alarm import Alarm
from supersample.history.rules import Rules
from supersample.report.cells import clean
from supersample.report.timeline.moments import length_words, long_words, moment, stretch
from supersample.report.words import amount, count, percent

__all__ = ["Standing", "about_alarms", "about_evidence", "about_line", "headline", "promise", "since"]

#: Characters of what changed, in the headline.
_LONGEST = 160


@dataclass(frozen=True)
class Standing:
    """How a history stands: its rules, where its blocks begin and end, its alarms, and the evidence since the last one.

    evidence, volume: after the last closed block with rows, over the alarm threshold. looking: whether there is a threshold
    yet. n_closed: blocks that were closed.
    """

    rules: Rules
    start: float
    end: float
    alarms: Sequence[Alarm]
    evidence: float
    volume: float
    looking: bool
    n_closed: int


def headline(of: Standing) -> str:
    """Say how many changes were found, and the last of them."""
    if not of.alarms:
        return f"No change found, {stretch(of.start, of.end, of.rules)}."
    last = max(of.alarms, key=lambda each: (each.change, each.kind == "content"))
    which = "at" if len(of.alarms) == 1 else "the last at"
    said = clean(last.in_words(), _LONGEST)
    return f"{count(len(of.alarms), 'change')} found, {which} {moment(last.change, of.rules)}: {said}."


def since(of: Standing) -> str:
    """Say how much evidence of another change there is."""
    if of.rules.season is not None and of.n_closed * of.rules.every < of.rules.season:
        return f"Nothing is looked for in the first season of {length_words(of.rules.season, of.rules)}, which is not over yet."
    if not of.looking:
        return "Nothing was looked for yet: there are too few rows to say how much they vary by chance."
    if of.evidence >= 1.0:
        return "It was noticed with the last block that was closed."
    volume = f", that of a change in the number of rows at {percent(of.volume)} of its own threshold" if of.rules.volume else ""
    if not of.alarms:
        return f"The evidence of a change is at {percent(of.evidence)} of the alarm threshold{volume}."
    return f"No change since: the evidence of another change is at {percent(of.evidence)} of the alarm threshold{volume}."


def promise(rules: Rules) -> str:
    """Say how blocks are compared, and how often an alarm is false."""
    same = "" if rules.season is None else f" of the same phases of a season of {length_words(rules.season, rules)}"
    least = f" Changes below an MMD of {amount(rules.at_least)} are not reported." if rules.at_least else ""
    often = f"one in {count(round(rules.run_length), 'block')} ({long_words(rules.run_length * rules.every, rules)})"
    return (
        f"The latest blocks are compared with those before them since the last change{same}, for every boundary between two "
        f"blocks. While nothing changes, false alarms come no more often than {often}, on average.{least}"
    )


def about_alarms(n_shown: int, n_alarms: int) -> str:
    """Say what the cards of alarms are."""
    fewer = f" The latest {n_shown:,} of {n_alarms:,} are shown." if n_shown < n_alarms else ""
    return (
        "The latest first. A moment is the likeliest one, to the block, and the interval is where it lies 19 times in 20. What "
        "changed is found by comparing the blocks before the moment with those after it. This describes the change and is no "
        f"second test: the same rows raised the alarm.{fewer}"
    )


def about_evidence(rules: Rules) -> str:
    """Say why there is no evidence at first."""
    if rules.season is None:
        return ""
    return "There is no evidence until enough blocks of the same phases were seen, after the start and after every change."


def about_line(rules: Rules) -> str:
    """Say how the ranges of the line of Python are compared."""
    return "" if rules.season is None else "As here, blocks of phases that both ranges have are compared with each other."
