"""Some hundreds of hostile requests; `make soak-live` sends 100,000."""

from live_attack import attack
from live_known import KNOWN


def test_no_request_is_a_fault_of_the_service_and_known_answers_are_right(tmp_path):
    statuses, known, _ = attack(tmp_path, 300, rounds=1)
    assert {400, 401, 403, 404, 405, 413, 415, 422} <= set(statuses)
    assert set(known) == {each.name for each in KNOWN}
