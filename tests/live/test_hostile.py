"""Some hundreds of hostile requests; `make soak-live` sends 100,000."""

from live_hostile import attack


def test_no_request_is_a_fault_of_the_service(tmp_path):
    found = attack(tmp_path, 300)
    assert {400, 401, 403, 404, 405, 413, 415, 422} <= set(found)
