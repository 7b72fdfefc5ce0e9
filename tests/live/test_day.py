"""A day of a service, replayed as fast as answers come; `make soak-day` replays it 100 times as fast as it happened."""

import pytest
from benchmarks.live_day import PLANTED, check, replayed


@pytest.mark.once
def test_alarms_are_where_changes_were_planted_and_a_kill_makes_no_difference(tmp_path):
    whole, killed = replayed(tmp_path, pace=0.0)
    check(whole, killed)
    assert len(whole["said"]["shop"]["alarms"]) == len(PLANTED)


def said(**more):
    times = ["2026-03-02T14:00:00Z", "2026-03-02T19:00:00Z"]
    streams = {name: {"status": {"rows": 5}, "alarms": [{"change": each} for each in given]} for name, given in
               (("shop", times), ("still", []))}  # fmt: skip
    return {"said": streams, "sent": {"shop": 5, "still": 5}, "repeated": {"shop": 5, "still": 5}} | more


def test_the_check_sees_what_differs_what_is_missing_and_what_is_too_much():
    check(said(), said())
    other = said()
    other["said"]["shop"]["status"] = {"rows": 4}
    with pytest.raises(SystemExit, match="shop: status is another after a kill"):
        check(said(), other)
    for stream, alarms in (("shop", [{"change": "2026-03-02T14:00:00Z"}]), ("still", [{"change": "2026-03-02T03:00:00Z"}])):
        wrong = said()
        wrong["said"][stream]["alarms"] = alarms
        with pytest.raises(SystemExit, match=f"{stream}: alarms say changes at"):
            check(wrong, wrong)
    with pytest.raises(SystemExit, match="6 rows were sent, 5 are counted"):
        check(said(sent={"shop": 6, "still": 5}), said())
    with pytest.raises(SystemExit, match="no batch was repeated"):
        check(said(), said(repeated={"shop": 0, "still": 0}))
