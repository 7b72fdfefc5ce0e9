"""The log of the last soak run meets what is asked of it, and docs/reliability.md tells its numbers."""

import json
from pathlib import Path

from benchmarks.soak import verdicts

ROOT = Path(__file__).resolve().parents[2]


def test_the_log_meets_the_bounds_and_the_page_tells_it():
    looks = [json.loads(line) for line in (ROOT / "benchmarks" / "soak.jsonl").read_text(encoding="utf-8").splitlines()]
    assert looks[-1]["rows"] >= 1e9
    assert looks[-1]["seconds"] >= 3_600
    found = {what.split(",")[0]: value for what, value, most in verdicts(looks) if value <= most}
    assert list(found) == [
        "MB held or peak MB", "largest error of the mean features", "held-out MMD", "exact MMD^2"
    ]  # fmt: skip
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    growth, error, rise, share = found.values()
    for told in (f"{looks[-1]['rows']:,} in", f"{growth:.2f} MB", f"{error:.1e}", f"{rise:.4f} of", f"{share:.2g} of"):
        assert told in page, told
