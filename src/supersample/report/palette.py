"""The colours of the page by the part they play, in light and in dark."""

__all__ = ["COLOURS", "STAND_INS", "css_variables"]

#: Part: light, dark. Text keeps a contrast of at least 4.5 to the paper it stands on, marks of at least 3.
COLOURS = {
    "paper": ("#fcfbf8", "#15181c"),
    "panel": ("#f4f2ec", "#1d2126"),
    "ink": ("#1c2024", "#e8eaed"),
    "muted": ("#59616b", "#a2abb5"),
    "line": ("#dcd8ce", "#343a42"),
    "data": ("#8b939c", "#79838e"),
    "prototypes": ("#0a6a94", "#58bbe6"),
    "criticisms": ("#bb430d", "#ff9463"),
    "focus": ("#7a3fb0", "#d0a5f5"),
}

#: A colour that a chart is drawn in until the page knows better: charts of a library take colours, not variables.
STAND_INS = {part: f"#0{place:02x}bed" for place, part in enumerate(COLOURS, start=1)}


def css_variables(dark: bool) -> str:
    """Return the colours as declarations of CSS variables."""
    return " ".join(f"--{part}: {pair[dark]};" for part, pair in COLOURS.items())
