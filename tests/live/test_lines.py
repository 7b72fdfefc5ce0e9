"""Lines of text become batches: bad ones are found by halves, and cost no other line."""

import pyarrow as pa
import pyarrow.json
import pytest

from live_rows import rows
from supersample.live.batch import Batch, RefusedError, UnavailableError, Unread
from supersample.live.decoding import DecodingError
from supersample.live.settings import Limits
from supersample.live.sources import Context
from supersample.live.sources.lines import Lines


class Parsers:
    """Decoders of lines that hold whole numbers, which count what they are asked."""

    asked = 0

    def decode(self, body, *_):
        self.asked += 1
        try:
            return [int(each) for each in body.splitlines()]
        except ValueError as error:
            raise DecodingError("no number") from error


def cut(content):
    """Return what lines become, the position after each, and how often they were decoded."""
    parsers = Parsers()
    found = Lines("ndjson", Context("files", parsers, Limits(), lambda: None))
    found.add(content)
    steps = list(found.batches("at {}".format, lambda done: done))
    assert not found.has_rows
    return [each.table if isinstance(each, Batch) else each.content for each in steps], steps, parsers.asked


def test_a_bad_line_costs_no_other_line():
    found, steps, _ = cut(b"1\n2\nbad\n4\n5\n6\n")
    assert [each for each in found if isinstance(each, bytes)] == [b"bad\n"]
    assert [number for each in found if isinstance(each, list) for number in each] == [1, 2, 4, 5, 6]
    assert [each.id for each in steps] == [f"at {each.position}" for each in [Unread("", "", position=0), *steps[:-1]]]
    assert steps[-1].position == 14


@pytest.mark.parametrize("period", [2, 100])
def test_many_bad_lines_cost_no_other_line_however_they_come(period):
    content = [b"bad\n" if number % period == 1 else b"%d\n" % number for number in range(20 * period)]
    found, _, asked = cut(b"".join(content * 5))
    assert [each for each in found if isinstance(each, bytes)] == [b"bad\n"] * 100
    assert sum(len(each) for each in found if isinstance(each, list)) == 100 * (period - 1)
    assert asked < 2_000


def test_attempts_to_find_bad_lines_have_an_end():
    found, _, asked = cut(b"bad\n1\n" * 50_000)
    assert sum(each.count(b"bad\n") for each in found if isinstance(each, bytes)) == 50_000
    assert sum(len(each) for each in found if isinstance(each, list)) > 900
    assert asked < 4_100


class Here:
    """Decoders that read NDJSON in this process."""

    def decode(self, body, *_):
        return pyarrow.json.read_json(pa.BufferReader(body))


def test_a_line_that_can_be_read_and_not_used_costs_no_other_line(opened):
    stream = opened()
    stream.start()
    content = [b'{"when": "2026-03-02T00:00:%02d", "x": 1.5}\n' % (number // 2) for number in range(100)]
    found = Lines("ndjson", Context("files", Here(), Limits(), stream.schema))
    for bad in ((), (7, 50)):
        for number in bad:
            content[number] = content[number].replace(b"}", b', "new": 1}')
        found.add(b"".join(content))
        (batch,) = found.batches("at {}".format, lambda done: done)
        done = stream.take(batch)
        if not bad:
            assert done.result(60).rows == 100
            continue
        with pytest.raises(RefusedError, match="new"):
            done.result(60)
    assert stream.history.n_seen == 100 + 98
    places = [found.done - sum(map(len, content[number:])) for number in (7, 50)]
    assert [each["id"] for each in stream.ledger.aside()[::-1]] == [f"at {place}" for place in places]
    assert stream.ledger.positions() == {"files": found.done}


def test_rows_of_which_none_can_be_used_are_not_tried_one_by_one(opened):
    stream = opened()
    stream.start()
    stream.take(Batch("good", rows(0))).result(60)
    tried = []

    def parts(start, end):
        tried.append(end - start)
        middle = (start + end) // 2
        return [batch(start, middle), batch(middle, end)]

    def batch(start, end):
        table = pa.table({"other": [1.0] * (end - start)})
        return Batch(f"{start}-{end}", table, "files", end, parts=(lambda: parts(start, end)) if end - start > 1 else None)

    with pytest.raises(RefusedError):
        stream.take(batch(0, 10_000)).result(60)
    assert len(tried) < 64
    assert stream.ledger.positions() == {"files": 10_000}


def test_what_is_not_of_the_format_at_all_is_not_tried_line_by_line():
    found, _, asked = cut(b"bad\n" * 10_000)
    assert b"".join(found) == b"bad\n" * 10_000
    assert asked < 100


def test_lines_that_cannot_be_decoded_at_the_moment_stay():
    class Decoders:
        """The first attempt finds no process that decodes."""

        attempts = 0

        def decode(self, body, *_):
            self.attempts += 1
            if self.attempts == 1:
                raise UnavailableError("no process")
            return body

    found = Lines("csv", Context("stdin", Decoders(), Limits(), lambda: None))
    found.add(b"x\n1\n2\n3")
    with pytest.raises(UnavailableError):
        next(found.batches(str))
    assert found.done == len(b"x\n")
    (batch,) = found.batches(str)
    assert batch.table == b"x\n1\n2\n"
    assert not found.has_rows
