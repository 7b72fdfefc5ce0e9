"""The colours of the page by their role, in light and in dark."""

__all__ = ["COLOURS", "STAND_INS", "css_variables"]

#: Role: light, dark. Text has a contrast of at least 4.5 to the paper behind it, marks of at least 3.
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

#: Placeholders that `svg` replaces by CSS variables: matplotlib takes colours, not variables.
STAND_INS = {part: f"#0{place:02x}bed" for place, part in enumerate(COLOURS, start=1)}


def css_variables(dark: bool) -> str:
    """Return the colours as declarations of CSS variables."""
    return " ".join(f"--{part}: {pair[dark]};" for part, pair in COLOURS.items())
