"""A profile from a file that no table has is refused."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from supersample import profile
from supersample.errors import MismatchError
from supersample.profile import ColumnPlan, Profile
from supersample.profile.lengths import Lengths
from supersample.profile.moments import ExactSum, Moments
from supersample.storage.codec import pack, unpack


def genuine():
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "real": pa.array(np.concatenate([rng.normal(size=995), [np.inf, -np.inf, 0.0, np.nan, 2.0]])),
            "few": pa.array(rng.integers(-3, 9, 1_000)),
            "unsigned": pa.array(rng.integers(0, 9, 1_000, dtype=np.uint64)),
            "word": rng.choice(["a", "bb", "ccc"], 1_000),
            "place": pa.array(list(rng.normal(size=(1_000, 3)))),
            "price": pa.array([k % 7 for k in range(1_000)], pa.decimal128(9, 0)),
            "raw": pa.array([b"x"] * 1_000),
            "shop": [f"shop {k}" for k in rng.integers(0, 400, 1_000)],
            "note": [f"parcel {k % 97} came" for k in range(1_000)],
        }
    )
    roles = {"shop": "category", "note": "text"}
    empty = profile.init([ColumnPlan(each.name, each.type, roles.get(each.name, "any"), None, 0.25) for each in table.schema])
    return profile.update(empty, table.combine_chunks().to_batches()[0])


GENUINE = genuine()


def with_column(name, **changes):
    return Profile(tuple(replace(each, **changes) if each.name == name else each for each in GENUINE.columns))


def with_part(name, part, **changes):
    return with_column(name, **{part: replace(getattr(GENUINE[name], part), **changes)})


def changed(array, at, value):
    other = array.copy()
    other[at] = value
    return other


def numbers(name="real"):
    return GENUINE[name].numbers


def with_moments(**changes):
    return with_part("real", "numbers", moments=replace(numbers().moments, **changes))


def with_buckets(**changes):
    return with_part("real", "numbers", histogram=replace(numbers().histogram, **changes))


def groups(name):
    return GENUINE[name].groups


def held(name):
    return GENUINE[name].frequent


FORGED = {
    "a negative count": lambda: with_column("raw", count=-1, missing=1_001),
    "too high a count": lambda: Profile((replace(GENUINE["raw"], count=1 << 63),)),
    "other rows than the rest": lambda: with_column("raw", count=999),
    "one column twice": lambda: Profile((*GENUINE.columns, GENUINE.columns[0])),
    "unreadable, not read": lambda: with_column("raw", count=999, unreadable=1),
    "another type, not read": lambda: with_column("few", type="string"),
    "statistics of nothing": lambda: with_column("raw", lengths=Lengths()),
    "no statistics": lambda: with_column("few", numbers=None),
    "more missing than numbers allow": lambda: with_column("few", count=999, missing=1),
    "a rank beyond the last": lambda: with_column("real", registers=changed(GENUINE["real"].registers, 0, 54)),
    "too few registers": lambda: with_column("real", registers=GENUINE["real"].registers[1:]),
    "registers of no values": lambda: with_column("real", registers=np.zeros(4096, dtype=np.uint8)),
    "registers of more values": lambda: with_column("few", registers=np.ones(4096, dtype=np.uint8)),
    "registers of other values": lambda: with_column("few", registers=np.roll(GENUINE["few"].registers, 1)),
    "counts out of order": lambda: with_part("word", "frequent", counts=held("word").counts[::-1].copy()),
    "a count of zero": lambda: with_part("word", "frequent", counts=changed(held("word").counts, 2, 0)),
    "counts that do not add up": lambda: with_part("word", "frequent", counts=held("word").counts + 1),
    "one value twice": lambda: with_part("word", "frequent", hashes=np.repeat(held("word").hashes[:1], 3)),
    "hashes without counts": lambda: with_part("word", "frequent", counts=held("word").counts[:2]),
    "more held than counters": lambda: with_part("real", "frequent", hashes=np.arange(300), counts=np.ones(300, np.int64)),
    "values without hashes": lambda: with_part("word", "frequent", values=("a", "bb", "ccc", "d")),
    "values that are too long": lambda: with_part("word", "frequent", values=("a" * 202, "bb", "ccc")),
    "numbers in place of texts": lambda: with_part("word", "frequent", values=(1, 2, 3)),
    "texts in place of numbers": lambda: with_part("few", "frequent", values=tuple(map(str, held("few").values))),
    "values of other hashes": lambda: with_part("few", "frequent", values=held("few").values[::-1]),
    "values beyond 64 bits": lambda: with_part("few", "frequent", values=(1 << 63, *held("few").values[1:])),
    "decimals that are none": lambda: with_part("price", "frequent", values=("x", *held("price").values[1:])),
    "decimals that are NaN": lambda: with_part("price", "frequent", values=("nan", *held("price").values[1:])),
    "more lowered than seen": lambda: with_part("real", "frequent", lowered=10),
    "negative zeros": lambda: with_part("real", "numbers", zeros=-1),
    "more zeros than numbers": lambda: with_part("real", "numbers", zeros=996),
    "more infinite ones": lambda: with_part("real", "numbers", highest=2),
    "infinite whole numbers": lambda: with_part(
        "few", "numbers", highest=1, moments=replace(numbers("few").moments, count=999)
    ),
    "fewer negatives than infinite ones": lambda: with_part("real", "numbers", negatives=0),
    "no minimum": lambda: with_part("real", "numbers", minimum=None),
    "a minimum of another type": lambda: with_part("few", "numbers", minimum=-3.0),
    "an infinite minimum": lambda: with_part("real", "numbers", minimum=-math.inf),
    "a minimum beyond 64 bits": lambda: with_part("few", "numbers", minimum=-(1 << 63) - 1),
    "an unsigned minimum below zero": lambda: with_part("unsigned", "numbers", minimum=-1),
    "a decimal of too many digits": lambda: with_part("price", "numbers", maximum=10**4000),
    "a minimum above the maximum": lambda: with_part("few", "numbers", minimum=9),
    "a minimum outside the buckets": lambda: with_part("few", "numbers", minimum=-4),
    "no negatives below zero": lambda: with_part("few", "numbers", negatives=0),
    "zeros in place of positives": lambda: with_part("few", "numbers", zeros=1_000 - numbers("few").negatives),
    "moments of another number": lambda: with_moments(count=996),
    "a sum in another form": lambda: with_moments(total=ExactSum(2, 0)),
    "a sum finer than float64": lambda: with_moments(total=ExactSum(1, -1075)),
    "a sum of too many digits": lambda: with_moments(total=ExactSum(1 | 1 << 4_000, 0)),
    "squares that are negative": lambda: with_moments(squares=ExactSum(-1, 0)),
    "squares less than the mean's": lambda: with_moments(squares=ExactSum(1, -60)),
    "a mean outside the extremes": lambda: with_moments(total=ExactSum(1, 14), squares=ExactSum(1, 40)),
    "a histogram around nothing": lambda: with_buckets(centre=math.nan),
    "a histogram of no level": lambda: with_buckets(level=54),
    "buckets out of order": lambda: with_buckets(keys=numbers().histogram.keys[::-1].copy()),
    "buckets without counts": lambda: with_buckets(counts=numbers().histogram.counts[1:]),
    "a bucket of none": lambda: with_buckets(counts=changed(numbers().histogram.counts, 0, 0)),
    "buckets that do not add up": lambda: with_buckets(counts=numbers().histogram.counts + 1),
    "a bucket beyond infinity": lambda: with_buckets(keys=changed(numbers().histogram.keys, -1, 0x7FF << 52 | 1)),
    "too many buckets": lambda: with_buckets(keys=np.arange(4_000), counts=np.ones(4_000, dtype=np.int64)),
    "lengths out of order": lambda: with_part("word", "lengths", shortest=4),
    "lengths that do not add up": lambda: with_part("word", "lengths", total=10_000),
    "lengths of no values": lambda: with_part("word", "lengths", shortest=None),
    "groups of a column that has none": lambda: with_column("word", groups=groups("shop")),
    "groups of exact counts": lambda: with_column("shop", frequent=held("word"), registers=GENUINE["word"].registers),
    "groups of another number": lambda: with_column("shop", groups=groups("shop") + 1),
    "too few groups": lambda: with_column("shop", groups=groups("shop")[1:]),
    "a negative group": lambda: with_column("shop", groups=groups("shop") - np.eye(1024, dtype=np.int64)[0] * 1_001),
    "groups of less than their values": lambda: with_column("shop", groups=np.roll(groups("shop"), 1)),
    "more texts with a word than texts": lambda: with_column("note", groups=groups("note") * 2),
    "fewer texts with a word than texts": lambda: with_column("note", groups=groups("note") * 0),
    "more norms than vectors": lambda: with_part("place", "norms", count=1_001),
}


def test_the_genuine_one_passes():
    GENUINE.check()  # raises if it is refused
    assert GENUINE.rows > 0


@pytest.mark.parametrize("name", FORGED)
def test_what_no_table_has_is_refused(name):
    with pytest.raises((ValueError, ArithmeticError)):
        FORGED[name]().check()


def test_moments_of_no_values_and_of_one():
    with pytest.raises(ValueError, match="moments of no values"):
        Moments(0, ExactSum(1, 0), ExactSum(1, 0)).check()
    with pytest.raises(ValueError, match="one value has a deviation"):
        Moments(1, ExactSum(1, 0), ExactSum(3, 0)).check()
    with pytest.raises(ValueError, match="impossible number"):
        Moments(-1).check()


def test_signs_without_finite_numbers():
    empty = profile.init([ColumnPlan("x", pa.float64(), "number")])["x"]
    with pytest.raises(ValueError, match="signs"):
        replace(empty, numbers=replace(empty.numbers, zeros=1)).check()


def test_fields_of_another_kind_are_refused():
    arrays = []
    tree = pack(GENUINE, arrays)
    tree["fields"]["columns"]["tuple"][0]["fields"]["registers"] = {"array": 1}
    with pytest.raises(TypeError, match=r"ColumnProfile\.registers must be an array of uint8 or nothing"):
        unpack(tree, arrays)


def test_a_reading_must_read():
    arrays = []
    tree = pack(GENUINE, arrays)
    tree["fields"]["columns"]["tuple"][0]["fields"]["reading"] = "by eye"
    with pytest.raises(TypeError, match=r"ColumnProfile\.reading must be a way to read text or nothing"):
        unpack(tree, arrays)


def test_a_reading_that_reads_something_else_is_refused():
    class Reading:
        kind = pa.float64()

        def read(self, column):
            return pa.nulls(len(column), self.kind), 0

    reading = Reading()
    state = profile.init([ColumnPlan("x", pa.string(), "number", reading)])
    reading.kind = pa.bool_()
    with pytest.raises(MismatchError, match="must hold values of type double, as in the rows profiled before, got bool; give"):
        profile.update(state, pa.record_batch({"x": ["1"]}))
