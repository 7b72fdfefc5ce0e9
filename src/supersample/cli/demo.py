"""supersample demo: handwritten digits as a stream, their summary, what changes without the ones, and two pages."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from supersample.cli.interrupts import starting
from supersample.cli.output import say, tell

if TYPE_CHECKING:
    import pyarrow as pa

    from supersample.summary import Summary

__all__ = ["demo"]

_BATCH = 200
_SHADES = " .:-=+*#%@"


@click.command(short_help="See it work on handwritten digits, or with --live on a stream.")
@click.option("-o", "--output", "folder", type=click.Path(file_okay=False, path_type=Path), default="supersample-demo",
              show_default=True, help="The folder to write the summary and the pages to.")  # fmt: skip
@click.option("--live", is_flag=True, help="Play a stream into a running service instead; nothing of it is kept.")
@click.option("--pace", type=click.FloatRange(0, 60), default=0.25, show_default=True, metavar="SECONDS",
              help="With --live: how long an hour of the stream takes.")  # fmt: skip
@click.option("--stay", type=click.FloatRange(0), default=600.0, show_default=True, metavar="SECONDS",
              help="With --live: how long the page stays after the last row.")  # fmt: skip
def demo(folder: Path, live: bool, pace: float, stay: float) -> None:
    """See it work on handwritten digits: a summary, a comparison, and a page of each.

    With --live, nine days of a web shop are played into a service on this computer, and a page shows what it finds.

    \b
    Examples:
      supersample demo
      supersample demo -o digits
      supersample demo --live
    """
    if live:
        with starting():
            from supersample.cli.demo_live import play
        play(pace, stay)
        return
    with starting():
        import pyarrow as pa

        from supersample.report import write_comparison, write_report
        from supersample.summary import summarize
    folder.mkdir(parents=True, exist_ok=True)
    digits = _digits()
    started = time.perf_counter()
    summary = summarize(_stream(digits), 10, 5, columns=["image"], random_state=0)
    summary.source = "handwritten digits"
    described = _described(summary)
    say(f"{summary.n_seen:,} handwritten digits, read once in batches of {_BATCH} ({time.perf_counter() - started:.1f} s)\n")
    tell(described)

    half = digits.num_rows // 2
    first = summarize(_stream(digits.slice(0, half)), 10, 5, columns=["image"], random_state=1)
    rest = digits.slice(half)
    second = summarize(_stream(rest), like=first, random_state=2)
    without = summarize(_stream(rest.filter(pa.array(rest["digit"].to_numpy() != 1))), like=first, random_state=3)
    first.source, without.source = "one half", "the other half without its ones"
    for title, other in (("the other half", second), ("the other half without its ones", without)):
        found = first.compare(other)
        verdict = "differ" if found.rejects() else "show no difference"
        tell(f"One half and {title} {verdict} (p-value {found.pvalue:.2g}).")

    summary.save(folder / "digits.ss")
    say("\nWritten; open the pages in a browser:")
    tell(str(folder / "digits.ss"))
    tell(str(write_report(summary, folder / "digits.html", title="Handwritten digits")))
    tell(str(write_comparison(first, without, folder / "without-ones.html", title="Digits with and without ones")))
    say("\nA stream, watched as it comes: supersample demo --live  (it needs: pip install 'supersample[live]')")


def _digits() -> "pa.Table":
    with starting():
        import numpy as np
        import pyarrow as pa
        from sklearn.datasets import load_digits
    pixels, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(pixels))
    flat = pa.array(pixels[order].astype(np.uint8).reshape(-1))
    return pa.table({"image": pa.FixedSizeListArray.from_arrays(flat, pixels.shape[1]), "digit": labels[order]})


def _stream(table: "pa.Table") -> Iterator["pa.Table"]:
    return (table.slice(start, _BATCH) for start in range(0, table.num_rows, _BATCH))


def _described(summary: "Summary") -> str:
    from supersample.summary.outcome import said_as_good_as, said_error

    chosen, odd = summary.prototypes, summary.criticisms
    good = said_as_good_as(summary.as_good_as, chosen.num_rows, summary.n_seen).replace("row", "digit")
    return "\n".join(
        [
            f"{chosen.num_rows} that stand for all of them: {' '.join(map(str, chosen['digit'].to_pylist()))}",
            _drawn(chosen),
            f"They are {good} (MMD {summary.mmd:.4g}{said_error(summary.mmd, summary.mmd_error)}).\n",
            f"{odd.num_rows} that they do not show: {' '.join(map(str, odd['digit'].to_pylist()))}",
            _drawn(odd),
        ]
    )


def _drawn(table: "pa.Table") -> str:
    """Draw 8 x 8 images side by side, two rows of pixels a line."""
    import numpy as np

    pixels = np.array(table["image"].to_pylist(), dtype=np.float64).reshape(-1, 8, 8)
    bright = (pixels[:, ::2] + pixels[:, 1::2]) / 32.0
    levels = np.minimum(bright * len(_SHADES), len(_SHADES) - 1).astype(int)
    lines = ["   ".join("".join(_SHADES[level] for level in image[line]) for image in levels).rstrip() for line in range(4)]
    return "\n".join(lines) + "\n"
