"""The command line: summarize, compare, merge, show, report, demo."""

__all__ = ["main"]


def main() -> None:
    """Run the command `supersample`; Ctrl-C stops it from here on."""
    try:
        from supersample.cli import interrupts

        interrupts.install()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    from supersample.cli.group import group

    group(prog_name="supersample")
