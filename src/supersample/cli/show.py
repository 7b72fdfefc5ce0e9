"""supersample show: what a saved summary says, as text or JSON."""

import click

from supersample.cli.describing import columns_text, notes_text
from supersample.cli.options import as_json
from supersample.cli.output import as_rows, tell, tell_json, text_table
from supersample.cli.runner import load

__all__ = ["show"]


@click.command(short_help="Print what a saved summary says.")
@click.argument("file", type=click.Path())
@click.option("-n", "--rows", type=click.IntRange(min=0), default=10, show_default=True, help="Rows to show of each table.")
@as_json
def show(file: str, rows: int, as_json: bool) -> None:
    """Print what a saved summary says: how good it is, its notes, its columns over all rows, prototypes and criticisms.

    With --json, the whole profile and all its prototypes and criticisms, whatever --rows says.

    \b
    Examples:
      supersample show taxi.ss
      supersample show taxi.ss --rows 100
      supersample show taxi.ss --json | jq '.prototypes[]._row'
    """
    summary = load(file, "FILE")
    if as_json:
        tables = {"prototypes": as_rows(summary.prototypes), "criticisms": as_rows(summary.criticisms)}
        tell_json(summary.to_dict() | tables)
        return
    tell(str(summary))
    if notes := notes_text(summary, most=None):
        tell(f"\n{notes}")
    tell(f"\nColumns:\n{columns_text(summary)}")
    for title, table in (("Prototypes", summary.prototypes), ("Criticisms", summary.criticisms)):
        if rows and table.num_rows:
            tell(f"\n{title}:\n{text_table(table, rows)}")
