"""`PYTHONPATH=tests python -m fuzz --loader 1_000_000 --readers 100_000`: counts outcomes, fails at the first finding."""

import argparse
import sys
import tempfile
import time

from fuzz.runs import run
from fuzz.targets import TARGETS


def main():
    """Run from the command line; 1 after a finding."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    for name in TARGETS:
        parser.add_argument(f"--{name}", type=int, default=0, help=f"executions of the {name}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", choices=tuple(TARGETS), help="with --at: the target of one execution, in this process")
    parser.add_argument("--at", type=int)
    asked = parser.parse_args()
    if asked.at is not None and asked.only is not None:
        with tempfile.TemporaryDirectory() as folder:
            print(TARGETS[asked.only](folder).execute(asked.seed, asked.at))
        return 0
    failed = False
    for name in TARGETS:
        total, start = getattr(asked, name), time.monotonic()
        if total:
            counts = run(name, total, asked.seed, min(asked.workers, total))
            failed |= counts is None
            told = "a finding" if counts is None else ", ".join(f"{count:,} {what}" for what, count in counts.most_common())
            print(f"{name}: {total:,} executions in {time.monotonic() - start:,.0f} s, seed {asked.seed}: {told}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
