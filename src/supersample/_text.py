"""Text of messages: counts with their nouns, and errors of other libraries in one line."""

__all__ = ["one_line", "plural"]

#: Longest message of another library's error, in characters: some quote the bytes that they could not read.
_LONGEST = 300


def one_line(error: BaseException) -> str:
    """Return an error's message as one line, cut if it is long, or its type if it has no message."""
    text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def plural(count: int, noun: str) -> str:
    """Write a count with its noun.

    >>> plural(1, "row"), plural(65536, "row")
    ('1 row', '65,536 rows')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"
