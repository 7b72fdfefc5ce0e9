"""Templates: one environment for the pages and for what notebooks show."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from supersample.report import words

__all__ = ["environment"]


def environment() -> Environment:
    """Return where templates are found, with the filters that they use.

    All values of a user's file are autoescaped; the templates mark as safe only what this package makes.
    """
    made = Environment(
        loader=PackageLoader("supersample.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        percent=words.percent, count=words.count, amount=words.amount, certified=words.certified, correlation=words.correlation
    )
    return made
