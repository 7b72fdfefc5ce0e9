"""Every compiled loop does what its own source says: the same results as the Python function that it was compiled from.

Coverage cannot see into compiled code. The Python twins run the same lines, so that these cases, which between them take every
branch, show `make coverage` what the tests reach.
"""

import importlib
import pkgutil

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

from supersample import _compiled
from supersample._compiled.hadamard import LANES
from supersample._compiled.sums import FOLD

SINGLE, DOUBLE, WHOLE = np.float32, np.float64, np.int64


def loops():
    """The jitted functions of the package by module and name, each under the module that defines it."""
    found = {}
    for module in pkgutil.iter_modules(_compiled.__path__):
        for name, value in vars(importlib.import_module(f"{_compiled.__name__}.{module.name}")).items():
            if isinstance(value, CPUDispatcher) and value.py_func.__module__.endswith(f".{module.name}"):
                found[f"{module.name}.{name}"] = value
    return found


LOOPS = loops()


def normal(*shape, dtype=DOUBLE, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(dtype)


def whole(*shape, seed=0):
    """Small whole numbers as float32: sums and products are exact, so that a choice cannot hang on rounding."""
    return np.random.default_rng([seed, *shape]).integers(-2, 3, size=shape).astype(SINGLE)


def norms_of(rows):
    return np.einsum("ij,ij->i", rows, rows)


def first_entry():
    # Rows: a copy of the first held point, one far off with little to say, and two that beat the held point near them.
    held, rows = np.array([0.0, 1.5, 100.0]), np.array([0.0, 50.0, 0.5, 99.0])
    gram, own = (np.exp(-0.5 * (each[:, None] - held) ** 2) for each in (rows, held))
    fade, held_fade = np.exp([-9.0, -0.25, -3.0, -4.0]), np.exp([-1.0, -2.0, -0.5])

    def offered(start, stop):
        return start, gram[:stop], np.ones(stop), fade[:stop], np.linalg.inv(own), held_fade, 1e-6

    one, half = np.ones(1), np.full(1, 0.5)
    return {
        "one enters": offered(0, 4),
        "from a later row on": offered(3, 4),
        "none enters": offered(0, 2),
        "one of equal worth": (0, np.zeros((1, 1)), one, half, np.ones((1, 1)), half, 1e-6),
    }


def weighted_median():
    def search(values, weights, bins=8):
        return np.array(values), np.array(weights), min(values), max(values), 0.5 * sum(weights), np.full(bins, 7.0)

    return {
        "one value": search([3, 3, 3], [1.0, 2.0, 3.0]),
        "the heaviest": search([-2, 5, 1], [1.0, 9.0, 1.0]),
        "the least of an interval": search([0, 4], [1.0, 1.0]),
        "more values than bins": search([900, -700, 13, 14, 15, -3], [1.0, 2.0, 1.0, 1.0, 1.0, 1.5], bins=2),
        "weights that round below half": (np.array([0, 1]), np.array([0.5, 0.5]), 0, 1, 1.5, np.full(2, 7.0)),
    }


def least_work():
    order, lengths = np.random.default_rng(0).permutation(7), np.abs(normal(7))
    labels = np.array([[1, 1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0, 1]], dtype=np.int8)
    return {"two assignments": (order, lengths, labels, 4, 3, np.full(7, 7), np.full(4, 7.0), np.full(2, 7.0))}


def row_spans():
    texts = {
        "lines": b"a,b\nc,d\n", "no line end": b"a\nb", "empty lines": b"\n\r\na\r\n\nb\n", "quoted": b'"a""\n",b\nc,"d"\r\n',
        "quote inside": b'a"b\n', "after it": b'"a"b\n', "unfinished": b'"a\n', "empty fields": b',\n"",\n', "nothing": b"",
    }  # fmt: skip
    places = np.full(9, 7)
    return {name: (np.frombuffer(text, np.uint8), ord(","), places.copy(), places.copy()) for name, text in texts.items()}


def squared_l2_row():
    # Four coordinates a sweep, then those left over one by one.
    return {f"{d} coordinates": (normal(d), normal(d, 5), np.full(5, 7.0)) for d in (0, 3, 4, 6, 8)}


def between_blocks():
    return {"all pairs": (normal(3, 5), normal(5, 4), np.full((3, 4), 7.0))}


def expand_products():
    left, right = normal(3, 6), normal(4, 6)
    # One row with a copy and a near copy among the others, one with a near copy, one with none.
    right[1], right[3], left[2] = left[0], left[0] + 1e-5, right[2] + 1e-6
    # Products a little off, so that it shows which pairs were computed again.
    products = left @ right.T + 1e-4 * normal(3, 4)
    return {"near and far": (left, right, norms_of(left), norms_of(right), 1e-2, products)}


def gaussian_sums():
    near = normal(3, 2), normal(2, 4), normal(3), normal(4), np.full(3, 7.0), normal(4, seed=1)
    # Kernel values at and beyond the smallest, each alone so that no larger one hides it.
    alone = {
        name: (np.array([[x]]), np.zeros((1, 1)), np.array([0.7]), np.array([1.3]), np.full(1, 7.0), np.zeros(1))
        for name, x in {"a copy": 0.0, "far": 37.0, "too far": 99.0}.items()
    }
    return {"near": near, **alone}


def walsh():
    # One sweep for every four, and one more where a factor of two is left.
    return {f"{n} {dtype.__name__}": (normal(n, LANES, dtype=dtype),) for n in (1, 2, 4, 8, 16) for dtype in (SINGLE, DOUBLE)}


def fastfood():
    def blocks(n, d, width, n_out, dtype):
        signs, gauss, lengths = (normal(2, width, dtype=dtype, seed=seed) for seed in range(3))
        order = np.stack([np.random.default_rng(seed).permutation(width) for seed in range(2)]).astype(WHOLE)
        first, second = np.zeros((2, width, LANES), dtype)
        points, out = normal(n, d, dtype=dtype), np.full((n, n_out), 7, dtype)
        return points, np.sign(signs), order, gauss, lengths, first, second, out

    return {
        "padded, with more rows than lanes": blocks(LANES + 2, 3, 4, 6, SINGLE),
        "full": blocks(2, 4, 4, 8, DOUBLE),
    }


def next_swap():
    # 70 candidates are two blocks. Those that are held already have base -inf.
    rows, base = np.abs(normal(3, 70, dtype=SINGLE)), np.full(70, -1.0)
    rows[:, [5, 69]], base[[0, 1, 64]] = 4.0, -np.inf
    rows[1, 69], rows[2, 68] = 5.0, 6.0
    return {
        "the first of two equal": (0, rows, base, np.zeros(3), 1e-9),
        "in the second block": (1, rows, base, np.zeros(3), 1e-9),
        "in a later slot": (0, rows, base, np.array([7.0, 9.0, 10.0]), 0.5),
        "past the last slot": (2, rows, base, np.array([6.75, 0.0, 11.0]), 0.125),
        "no more than the least": (1, rows, base, np.array([6.5, 8.5, 10.5]), 0.5),
        "every candidate held": (0, rows, np.full(70, -np.inf), np.zeros(3), 1e-9),
    }


def subtract():
    return {"a step": (normal(5), 1.7, -0.3, normal(5, seed=1), normal(5, seed=2), normal(5, seed=3))}


def residual_best():
    z, left, floor = np.array([9.0, 2.0, -3.0, 1.0, 3.0]), np.array([0.1, 1.0, 4.0, 0.2, 2.25]), np.full(5, 0.1)
    return {
        "by variance": (z, left, floor, True, 1e-9),
        "by size": (z, left, floor, False, 0.0),
        "the first of nearly equal": (z, left, floor, True, 0.5),
        "nothing left to explain": (np.zeros(5), left, floor, True, 1e-9),
        "all spanned": (z, left, left, True, 1e-9),
        # Callers pass a small positive share; only a negative one sets the bar above every candidate.
        "none at the bar": (z, left, floor, False, -0.5),
    }


def residual_close():
    z, left, floor = np.array([9.0, 2.0, -3.0, 1.0, 3.0]), np.array([0.1, 1.0, 4.0, 0.2, 2.25]), np.full(5, 0.1)
    return {
        "by variance": (z, left, floor, True, 0.1),
        "by size": (z, left, floor, False, 0.1),
        "none in question": (z, left, floor, True, 0.0),
        "all in question": (z, left, floor, True, 5.0),
        "all spanned": (z, left, left, True, 0.1),
    }


def fold():
    return {"small on large": (np.array([1e16, 1.0, -3.0, 0.1]), normal(4), np.array([1.0, 1e16, 3.0, 0.2]))}


def squared_norms():
    return {dtype.__name__: (normal(3, 7, dtype=dtype), np.full(3, 7.0)) for dtype in (SINGLE, DOUBLE)}


def accumulate():
    def rows(mantissas, exponents, counts, dtype):
        features = normal(5, 3, dtype=dtype)
        weights = np.array(mantissas, DOUBLE), np.array(exponents, WHOLE)
        sums = (np.zeros(6),) * 3 if counts[0] == 0 else normal(3, 6)
        return features, norms_of(features.astype(DOUBLE)), *weights, *sums, np.array(counts, WHOLE)

    mantissas = [0.75, 0.0, 0.5, 0.625, 0.875]
    return {
        "unweighted": rows([], [], [0, 0, 0, 0], SINGLE),
        "weighted, of any scale": rows(mantissas, [-7, 0, -5, -4000, -6], [0, 0, 0, 0], DOUBLE),
        "nothing before it counts": rows(mantissas, [3, 0, 5, 4, 4000], [0, 0, 0, 0], SINGLE),
        "on top of other sums": rows(mantissas, [-1, 0, 2, 2, 1], [9, 4, -2, 1], SINGLE),
        "with a fold": rows([], [], [900, FOLD - 2, 2, 1], SINGLE),
    }


def add_rows():
    def rows(n, d, points, levels, n_held, dtype):
        # Five features are folded into three, and two of three coordinates of the points into one.
        targets = np.array([3, 3], WHOLE) if points else np.empty(0, WHOLE)
        width = 4 if points else 3
        signs = np.sign(normal(-(-d // 3), 3, dtype=dtype))
        sums = (normal(width), np.arange(levels), *(normal(levels, each) for each in (3, width, width)))
        held = np.array([1] * n_held + [0] * (levels - n_held), WHOLE)
        return (
            normal(n, d, dtype=dtype), signs, normal(n, 3), np.array([2, 0], WHOLE)[: targets.size], targets,
            np.array([1.0, -1.0]), np.abs(normal(n)), *sums, held, normal(levels, width + 2), np.zeros(3, dtype),
            np.zeros(width + 2),
        )  # fmt: skip

    return {
        "from nothing": rows(11, 5, True, 4, 0, SINGLE),
        "features alone": rows(3, 3, False, 3, 1, DOUBLE),
        "up to the longest": rows(2, 4, False, 21, 21, SINGLE),
    }


def dot():
    return {f"of {n}": (normal(n, dtype=SINGLE), normal(n, dtype=SINGLE, seed=1)) for n in (0, 1, 37)}


def leave_over():
    # Rounding may leave less than nothing over, as in the last row.
    return {"some and none": (np.array([9.0, 5.5, 2.9], SINGLE), np.array([[1, 2, 7], [-2, 1, 7], [1, 1.5, 7]], SINGLE))}


def reach():
    def from_shadows(q, needed):
        return whole(9), whole(q, 9, seed=1), whole(q, seed=2), SINGLE(needed), np.zeros(9, SINGLE)

    return {"some": from_shadows(3, 0.5), "none": from_shadows(3, 99), "by offsets alone": from_shadows(0, 0.5)}


def take_place():
    reservoir, x, pull = whole(3, 4), normal(4, dtype=SINGLE), normal(4, dtype=SINGLE, seed=1)
    return {"the second": (1, x, x @ x, reservoir, norms_of(reservoir), reservoir @ pull, pull)}


def swaps_offer():
    def offered(seed, n_counts):
        rows, held = whole(25, 4, seed=seed), whole(5, 4, seed=seed)
        pull = held.sum(axis=0) - whole(4, seed=seed)
        # Two coordinates and the length of the rest: a contraction.
        row_shadows, shadows = (np.column_stack([f[:, :2], np.linalg.norm(f[:, 2:], axis=1)]) for f in (rows, held))
        tables = norms_of(rows), row_shadows, held, norms_of(held), held @ pull, np.ascontiguousarray(shadows.T)
        return rows, *tables, pull, 0.5, *np.full((2, 25), -1, WHOLE), np.zeros(n_counts, WHOLE)

    return {"some swaps": offered(1, 64), "counted together": offered(2, 3)}


def leaf_of():
    directions, splits = np.array([[1, 0], [0, 1], [0, -1]], SINGLE), np.array([0.5, 1.0, -2.0], SINGLE)
    points = {"left, right": [0, 3], "right, left": [2, 3], "on both splits": [0.5, 2.0], "left, left": [-1, 0]}
    one_leaf = {"one leaf": (np.ones(2, SINGLE), np.empty((0, 2), SINGLE), np.empty(0, SINGLE))}
    return one_leaf | {name: (np.array(point, SINGLE), directions, splits) for name, point in points.items()}


def lists_of(leaves, n_leaves):
    """The points of each leaf as a list with the last point first."""
    first, following = np.full(n_leaves, -1, WHOLE), np.full(len(leaves), -1, WHOLE)
    for slot, leaf in enumerate(leaves):
        following[slot], first[leaf] = first[leaf], slot
    return np.array(leaves, WHOLE), first, following


def project():
    return {"some": (normal(4, dtype=SINGLE), normal(6, 4, dtype=SINGLE), np.array([5, 0, 2]), np.full(3, 7, SINGLE))}


def tree_offer():
    def offered(seed, n_counts):
        rows, held = whole(25, 4, seed=seed), whole(8, 4, seed=seed)
        pull = held.sum(axis=0) - whole(4, seed=seed)
        # The root parts points by their first coordinate, the left node by their second, and the right one sends none right.
        directions, splits = np.eye(4, dtype=SINGLE)[[0, 1, 2]], np.array([0, 0, 9], SINGLE)
        leaves = np.where(held[:, 0] >= 0, 2, held[:, 1] >= 0)
        lists = lists_of(leaves.tolist(), 4)
        return (
            rows, norms_of(rows), held, norms_of(held), pull, 0.5, directions, splits, *lists,
            *np.full((2, 25), -1, WHOLE), np.zeros(n_counts, WHOLE),
        )  # fmt: skip

    return {"some swaps": offered(0, 64), "counted together": offered(1, 3)}


def move():
    # Leaf 0 holds 4, 3, 1 in this order; leaf 1 holds 2, 0.
    lists = lists_of([1, 0, 1, 0, 0], 2)
    new = (np.array(each, WHOLE) for each in ([-1, 0], [1, -1], [-1, -1]))
    return {
        "a new point": (0, 0, *new),
        "the head": (4, 1, *lists),
        "the second": (3, 1, *lists),
        "the last": (1, 1, *lists),
        "within its leaf": (1, 0, *lists),
    }


def hash_word():
    return {"zero": (np.uint64(0),), "all bits": (np.uint64(2**64 - 1),)}


def number_word():
    return {str(value): (value,) for value in (0.0, -0.0, 2.5, np.nan)}


def hash_words():
    return {"three words": (np.array([0, 1, 2**63], np.uint64), np.zeros(3, np.uint64))}


def hash_numbers():
    return {"four numbers": (np.array([0.0, -0.0, np.nan, 1e9]), np.zeros(4, np.uint64))}


def hash_bytes():
    # Nothing, less than a word, a word, and two words with a rest.
    data = np.arange(200, 200 + 31, dtype=np.uint8)
    return {"four texts": (np.array([0, 0, 4, 12, 31]), data, np.zeros(4, np.uint64))}


def raise_registers():
    # A rank that does not matter, one that does, and a hash whose bits after the first twelve are all zero.
    hashes = np.array([(5 << 52) | (1 << 51), (5 << 52) | (1 << 49), (6 << 52) | (1 << 40), 7 << 52], np.uint64)
    registers = np.zeros(4096, np.uint8)
    registers[5], registers[6] = 2, 3
    return {"four hashes": (hashes, registers)}


def seat():
    # Two hashes that choose the same slot, the last one, and one elsewhere.
    return {"two in one slot": (np.array([7, 15, 2, 99], np.uint64), 3, np.zeros(8, WHOLE))}


def count_frequent():
    counters = (np.zeros(3, np.uint64), np.zeros(3, WHOLE), np.full(3, -1, WHOLE))
    held = (np.array([8, 16, 0], np.uint64), np.array([5, 1, 0], WHOLE), np.full(3, -1, WHOLE))
    return {
        "room for all": (np.array([1, 9, 1, 17], np.uint64), *counters, 0, np.zeros(8, WHOLE)),
        "all lowered twice": (np.array([1, 1, 2, 3, 4, 5, 6, 7], np.uint64), *counters, 0, np.zeros(8, WHOLE)),
        "held before": (np.array([8, 24, 32, 8], np.uint64), *held, 2, np.zeros(8, WHOLE)),
    }


def count_owners():
    # The first owner has the third group twice, and the last one two groups, one of them between the other's words.
    owners, groups = np.array([0, 0, 1, 2, 2, 2], WHOLE), np.array([3, 3, 3, 3, 1, 3], WHOLE)
    return {"three": (owners, groups, np.array([2, 1, 5], WHOLE), np.full(4, -1, WHOLE), np.zeros(4, WHOLE))}


def slot_of():
    # Keys 0 and 5 begin at the same slot.
    keys, counts = np.zeros(8, WHOLE), np.zeros(8, WHOLE)
    keys[0], counts[0] = 0, 4
    return {"there": (0, keys, counts), "after another": (5, keys, counts), "free": (1, keys, counts)}


def bucket_key():
    values = {"above": 3.25, "below": 1.75, "at the centre": 2.0, "far below": -1e308}
    return {name: (value, 2.0, 45) for name, value in values.items()}


ONCE, OFTEN = np.zeros(0, WHOLE), np.array([3, 1, 70_000, 2, 1, 5, 4], WHOLE)


def fill_buckets():
    values = np.array([1.0, 1.5, 1.75, 1.0, -3.0, 40.0, 0.0])
    return {
        "few": (values, ONCE, 0.0, 0, 7, np.zeros(16, WHOLE), np.zeros(16, WHOLE)),
        "joined": (values, ONCE, 0.0, 40, 3, np.zeros(16, WHOLE), np.zeros(16, WHOLE)),
        "several times": (values, OFTEN, 0.0, 0, 7, np.zeros(16, WHOLE), np.zeros(16, WHOLE)),
    }


def add_exactly():
    values = np.array([0.0, 1.0, -2.5e-308, 5e-324, 1.7e308, -3.0, 1e-30])
    sums = (np.zeros(66, WHOLE), np.zeros(132, WHOLE))
    return {"all scales": (values, ONCE, *sums), "several times": (values, OFTEN, *sums)}


def norms():
    return {"lists": (np.array([0, 2, 2, 5], WHOLE), normal(5), np.zeros(3))}


def decayed():
    ordered = np.array([1e9, 1e9 + 3.0, np.nan, 1e9 + 1.0, 1e9 + 9.0])
    late_start = np.concatenate([[4e9], 1e9 + np.arange(10.0)])
    jump = np.concatenate([np.arange(3.0), [5e9], [3.0], 900.0 + np.arange(10.0)])

    def rows(times, n):
        places, counts = np.zeros(3), np.zeros(5, dtype=WHOLE)
        return times, 4.0, places, counts, np.full(n, 0.5), np.ones(n, dtype=WHOLE)

    nothing = rows(np.array([np.nan, 2.0]), 2)
    nothing[4][1] = 0.0
    cases = {"ordered": ordered, "the first far ahead": late_start, "one far ahead, then a gap": jump}
    return {name: rows(times, times.size) for name, times in cases.items()} | {"no time, no weight": nothing}


def clock_of(latest=10.0, seen=200, disagreeing=0, earlier=(-np.inf, -np.inf)):
    return np.array([latest, *earlier]), np.array([0, disagreeing, seen, 0, 0], dtype=WHOLE)


def move_clock():
    nearly = (500.0, 400.0)
    return {
        "the first": (5.0, 4.0, *clock_of(0.0, 0)),
        "in order": (12.0, 4.0, *clock_of()),
        "late": (2.0, 4.0, *clock_of(disagreeing=3)),
        "ahead": (99.0, 4.0, *clock_of()),
        "ahead, and others agree": (450.0, 4.0, *clock_of(disagreeing=7, earlier=nearly)),
        "far behind, early": (-999.0, 4.0, *clock_of(seen=5, disagreeing=2)),
        "far behind, and others agree": (-999.0, 4.0, *clock_of(seen=50, disagreeing=-7, earlier=(-900.0, -950.0))),
        "far behind, later": (-999.0, 4.0, *clock_of()),
    }


def place_rows():
    def rows(times, seen=0):
        places, counts = np.zeros(8), np.zeros(8, dtype=WHOLE)
        counts[2] = seen
        return np.array(times), 4.0, 8.0, 8.0, places, counts, np.full(len(times), 7), np.full(len(times), 7)

    return {
        "in order, late and without a time": rows([1.0, 9.0, 17.0, np.nan, 2.0, 30.0]),
        "put back": rows([1e6, *np.arange(9.0)]),
        "far apart": rows(np.arange(12.0) * 100.0),
        "led astray, and put back": rows([*np.arange(5.0), *np.arange(1e6, 1e6 + 10.0), *np.arange(5.0, 80.0)], 200),
    }


def settle():
    def state(near, behind):
        return 4.0, np.array([1e6, 0, 0, 0, 0, 10.0, 12.0, 11.0]), np.array([0, 0, 300, 0, 0, near, behind, 0], dtype=WHOLE)

    return {
        "no jump": (1e6, 1e6 - 9.0, *state(0, 0)),
        "a jump": (1e6, 10.0, *state(0, 0)),
        "near": (1e6, 1e6, *state(3, 5)),
        "near, often enough": (1e6, 1e6, *state(65, 5)),
        "older than where it was": (5.0, 1e6, *state(3, 5)),
        "the first of those that go on": (13.0, 1e6, *state(3, 0)),
        "the last of those that go on": (13.0, 1e6, *state(3, 63)),
    }


def segments(sizes, n_phases=1, dimensions=4, room=9):
    sums, counts = np.zeros((room, n_phases, dimensions)), np.zeros((room, n_phases))
    sums[: len(sizes)] = normal(len(sizes), n_phases, dimensions)
    counts[: len(sizes)] = np.array(sizes)[:, None]
    ticks = np.zeros(room, dtype=WHOLE)
    ticks[: len(sizes)] = sizes
    return sums, counts, ticks


def join_old():
    return {
        "several lengths": (*segments([4, 2, 2, 2, 1, 1, 1]), 7, 2),
        "too few": (*segments([2, 1, 1]), 3, 2),
        "apart": (*segments([1, 4, 1, 1]), 4, 2),
        "nothing": (*segments([]), 0, 2),
    }


def evidence_at():
    newer, total = normal(2, 4), normal(2, 4, seed=1)
    limits = np.abs(normal(2, 3)) + 0.1
    sizes = np.array([[3.0, 0.0], [9.0, 5.0], [0.0, 0.0], [300.0, 5.0]])
    return {
        "one phase of two": (newer, sizes[0], total, sizes[1], limits, 0.0, np.full(4, 7.0)),
        "both sides large": (newer, sizes[1], total, sizes[3], limits, 0.0, np.full(4, 7.0)),
        "nothing newer": (newer, sizes[2], total, sizes[1], limits, 0.0, np.full(4, 7.0)),
        "below the least gap": (newer, sizes[0], total, sizes[1], limits, 99.0, np.full(4, 7.0)),
    }


def residual_sums(lengths=3, dimensions=4):
    whole_numbers = np.zeros(lengths, dtype=WHOLE)
    return np.zeros((lengths, dimensions)), whole_numbers.copy(), normal(lengths, dimensions), whole_numbers.copy()


def add_segment():
    sums, sizes, _ = segments([2, 1], 3)
    sizes[0, 1] = 0.0
    return {"without a phase": (sums[0], sizes[0], normal(3, 4), np.ones(3))}


def add_residual():
    busy = residual_sums()
    busy[3][:2] = 1
    return {"the first": (normal(4), *residual_sums()), "joined twice": (normal(4), *busy)}


def scan():
    def ticks(n, dimensions=4, n_phases=1):
        phases = np.arange(n) % n_phases
        return normal(n, dimensions), np.where(np.arange(n) == 2, 0.0, 5.0), phases

    def after(limit, n=6, n_phases=1):
        limits = np.full((2, 4), limit) if limit else np.empty((0, 4))
        sums, sizes, held = segments([2, 1], n_phases, room=12)
        return (
            *ticks(n, n_phases=n_phases), sums, sizes, held, 2, 2, limits, 0.0, *residual_sums(), np.full(n, 7.0),
            np.full(n, 7),
        )  # fmt: skip

    return {"no limits": after(0.0), "nothing found": after(1e9), "found": after(1e-3), "phases": after(1e9, n_phases=2)}


def bet():
    def game(line, masses=3.0):
        return (
            normal(6, 4, dtype=SINGLE) / 4, np.array([0, 0, 1, 1, 2, 0]), normal(3, 4) / 8, np.array([0.1, 0.2, 2.0]),
            np.array([[2.0, 2.1], [2.1, 2.2], [4.0, 4.0]]), np.array([0.9, 0.99]), np.array([0.5, 1.0]),
            normal(2, 4), np.full(2, masses), np.full((2, 2, 2), 1.5), line, np.full(6, 7.0),
        )  # fmt: skip

    return {"no end": game(1e9), "an end": game(2.0), "nothing before": game(1e9, 0.0)}


def bits_to_drop():
    keys = np.array([-9, -8, 0, 1, 6, 6, 40, 2**62], dtype=WHOLE)
    return {"none": (keys, 7), "one": (keys, 6), "three": (keys, 5), "to the centre": (keys, 2)}


def join_buckets():
    left, right = np.array([-5, -1, 0, 2, 9]), np.array([-6, -1, 3, 8, 20])
    counts, none = np.arange(1, 6), np.zeros(0, dtype=WHOLE)

    def out(n):
        return np.full(n, 7), np.full(n, 7)

    return {
        "both": (left, counts, 0, right, counts, 0, *out(10)),
        "one of them coarser": (left, counts, 1, right >> 1, counts, 0, *out(10)),
        "one alone, halved": (np.sort(np.concatenate([left, right])), np.ones(10, dtype=WHOLE), 1, none, none, 0, *out(10)),
        "nothing": (none, none, 0, none, none, 0, *out(1)),
    }


def anneal():
    def proposed(hot, cold, n_slots=4, seed=0):
        features, generator = whole(12, 5, seed=seed), np.random.default_rng(seed)
        chosen, order = np.arange(n_slots), generator.permutation(12)
        places, taken = np.argsort(order), np.arange(12) < n_slots
        draws = generator.random((2, 40), dtype=SINGLE), generator.standard_exponential(40, dtype=SINGLE)
        draws[0][0, 0] = 1.0  # float32 rounds a uniform just below one up
        pull = features[chosen].sum(axis=0) - whole(5, seed=seed + 1)
        return features, pull, chosen, taken, order, places, *draws[0], draws[1], 3.0, 0.25, hot, cold

    return {"hot": proposed(9.3, 2.1), "cold": proposed(1e-3, 1e-4), "all taken": proposed(1.0, 0.1, n_slots=12)}


def step_to():
    # Anywhere; to the left and to the right; beyond either end, which is as far on the other side, or that end.
    uniforms = {"anywhere": (5, 0.1), "the last": (5, 0.1999), "left": (5, 0.21), "right": (5, 0.61), "far left": (5, 0.59)}
    ends = {"below the first": (0, 0.3), "above the last": (9, 0.7), "no room": (0, 0.599)}
    return {name: (place, uniform, 10, 4.0, 0.2) for name, (place, uniform) in uniforms.items()} | {
        name: (place, uniform, 2 if name == "no room" else 10, 4.0, 0.2) for name, (place, uniform) in ends.items()
    }


def best_slots():
    values, own = whole(4, 130), normal(130)
    own[[3, 100]] = 9.0, 11.0  # in different blocks
    values[1, [3, 100]], values[2, 3] = (0, 0), 2
    return {"three blocks": (values, own, np.full(4, 7.0), np.full(4, 7.0), np.full(4, 7))}


def best_slot():
    own = np.array([1.0, 5.0, 3.0, 5.0])
    return {"the first of two equal": (np.zeros(4, SINGLE), own), "by values": (np.array([0, 0, 2, 0], SINGLE), own)}


def swap_in():
    def offered(first, ready, least):
        # Three held points on a line and four rows; the target pulls to the right.
        held, rows = np.array([0.0, 1.0, 2.0]), np.array([1.1, 4.0, 0.1, 5.0])
        across, among, own_gram = (
            np.exp(-0.5 * np.subtract.outer(*each) ** 2).astype(SINGLE) for each in ((rows, held), (rows, rows), (held, held))
        )
        pulls, held_sums, sums = 0.2 * rows, own_gram.sum(axis=1, dtype=DOUBLE), across.sum(axis=1, dtype=DOUBLE)
        own = 2.0 * held_sums - 1.0 - 6.0 * 0.2 * held
        base, leaving = 6.0 * pulls - 1.0, own_gram[np.flatnonzero(np.array(ready) >= 0)]
        slots = np.array(ready, WHOLE)
        return (
            first,
            across,
            among,
            base,
            np.ones(4),
            sums,
            slots,
            leaving,
            held_sums,
            own,
            pulls,
            least,
            np.full(4, -1, WHOLE),
        )

    return {
        "all ready": offered(0, [0, 1, 2], 1e-6),
        "one not ready": offered(0, [-1, 0, 1], 1e-6),
        "from the third": offered(2, [0, 1, 2], 1e-6),
        "none gains": offered(0, [0, 1, 2], 99.0),
    }


def product():
    return {each.__name__: (normal(3, 5, dtype=each), normal(5), np.full(3, 7.0)) for each in (SINGLE, DOUBLE)}


def nearest():
    values = {"inside": [0.2, 0.3, 0.5], "cut": [0.9, -2.0, 0.6], "one": [7.0, 1.0, 2.0], "equal": [5.0, 5.0]}
    return {name: (np.array(each), np.full(len(each), 7.0)) for name, each in values.items()}


def descend():
    def problem(steps, enough, dtype):
        root = normal(4, 4)
        matrix = (root @ root.T).astype(dtype)
        longest = 1.1 * float(np.linalg.eigvalsh(matrix.astype(DOUBLE))[-1])
        return matrix, matrix @ np.array([0.7, 0.3, 0.0, 0.0]), longest, steps, 4, enough, np.full(4, 0.25)

    return {"to the end": problem(400, 1e-3, DOUBLE), "few steps": problem(6, 0.0, SINGLE), "none": problem(0, 0.1, DOUBLE)}


def single_squared_l2():
    return {f"{d} coordinates": (whole(3, d), whole(d, 5), np.full((3, 5), 7, SINGLE)) for d in (0, 3, 4, 6)}


def weighted_sums():
    return {"float32": (normal(3, 5, dtype=SINGLE), normal(5), np.full(3, 7.0))}


def both_sums():
    return {"added": (normal(3, 5, dtype=SINGLE), normal(3), normal(5), normal(3, seed=1), normal(5, seed=1))}


def single_gaussian_sums():
    left, right = normal(3, 4, dtype=SINGLE), normal(5, 4, dtype=SINGLE, seed=1)
    far = np.full((1, 4), 40.0, SINGLE)

    def pairs(left, right):
        weights = normal(len(left)), normal(len(right))
        sums = normal(len(left), seed=1), normal(len(right), seed=1)
        return (-2.0 * left @ right.T).astype(SINGLE), norms_of(left), norms_of(right), *weights, *sums

    return {"near": pairs(left, right), "with themselves": pairs(left, left), "far": pairs(left, far)}


def first_to_last():
    cases = {}
    for name, m in (("five points", 5), ("one point", 1)):
        points = normal(m, 3)
        root = np.linalg.cholesky(points @ points.T + np.eye(m))
        cases[name] = (root, normal(m, 7), normal(m))
    return cases


CASES = {
    "anneal.anneal": anneal,
    "anneal.step_to": step_to,
    "exchange.best_slot": best_slot,
    "exchange.best_slots": best_slots,
    "exchange.swap_in": swap_in,
    "simplex.descend": descend,
    "simplex.nearest": nearest,
    "simplex.product": product,
    "singles.both_sums": both_sums,
    "singles.gaussian_sums": single_gaussian_sums,
    "singles.squared_l2": single_squared_l2,
    "singles.weighted_sums": weighted_sums,
    "sketches.join_buckets": join_buckets,
    "clock.move_clock": move_clock,
    "clock.place_rows": place_rows,
    "clock.settle": settle,
    "change_scan.join_old": join_old,
    "change_scan.evidence_at": evidence_at,
    "change_scan.add_residual": add_residual,
    "change_scan.add_segment": add_segment,
    "change_scan.scan": scan,
    "betting.bet": bet,
    "clock.decayed": decayed,
    "circle.weighted_median": weighted_median,
    "circle.least_work": least_work,
    "criticisms.first_entry": first_entry,
    "csv_rows.row_spans": row_spans,
    "distances.squared_l2_row": squared_l2_row,
    "distances.squared_l2": between_blocks,
    "distances.l1": between_blocks,
    "distances.expand_products": expand_products,
    "gaussian.sums": gaussian_sums,
    "exact.add_exactly": add_exactly,
    "exact.norms": norms,
    "hadamard._walsh": walsh,
    "hadamard.fastfood": fastfood,
    "hashing.hash_word": hash_word,
    "hashing.number_word": number_word,
    "hashing.hash_words": hash_words,
    "hashing.hash_numbers": hash_numbers,
    "hashing.hash_bytes": hash_bytes,
    "pool.next_swap": next_swap,
    "residual.subtract": subtract,
    "residual.best": residual_best,
    "residual.close": residual_close,
    "rotation.first_to_last": first_to_last,
    "sketches.raise_registers": raise_registers,
    "sketches._seat": seat,
    "sketches.count_frequent": count_frequent,
    "sketches.count_owners": count_owners,
    "sketches._slot_of": slot_of,
    "sketches.bits_to_drop": bits_to_drop,
    "sketches.bucket_key": bucket_key,
    "sketches.fill_buckets": fill_buckets,
    "sums._fold": fold,
    "sums.squared_norms": squared_norms,
    "sums.accumulate": accumulate,
    "block_sums.add_rows": add_rows,
    "swaps.dot": dot,
    "swaps.leave_over": leave_over,
    "swaps.reach": reach,
    "swaps.take_place": take_place,
    "swaps.offer": swaps_offer,
    "tree.leaf_of": leaf_of,
    "tree.offer": tree_offer,
    "tree.project": project,
    "tree.move": move,
}

#: What the cases that choose must lead to, by hand: a loop that went wrong would take its twin along.
ANSWERS = {
    "anneal.step_to": {
        "anywhere": 5, "the last": 9, "left": 4, "right": 6, "far left": 1, "below the first": 1, "above the last": 8,
        "no room": 1,
    },
    "exchange.best_slot": {"the first of two equal": 1, "by values": 2},
    "csv_rows.row_spans": {
        "lines": 2, "no line end": 2, "empty lines": 2, "quoted": 2, "quote inside": -1, "after it": -1, "unfinished": -1,
        "empty fields": 2, "nothing": 0,
    },
    "criticisms.first_entry": {
        "one enters": (2, 0), "from a later row on": (3, 2), "none enters": (2, -1), "one of equal worth": (1, -1),
    },
    "pool.next_swap": {
        "the first of two equal": (0, 5), "in the second block": (1, 69), "in a later slot": (2, 68),
        "past the last slot": (0, 5), "no more than the least": (1, -1), "every candidate held": (0, -1),
    },
    "residual.best": {
        "by variance": 3, "by size": 2, "the first of nearly equal": 1, "nothing left to explain": 1, "all spanned": -1,
        "none at the bar": -1,
    },
    "sketches.bits_to_drop": {"none": 0, "one": 1, "three": 3, "to the centre": 63},
    "sketches._slot_of": {"there": 0, "after another": 1, "free": 1},
    "tree.leaf_of": {"one leaf": 0, "left, right": 1, "right, left": 2, "on both splits": 3, "left, left": 0},
}  # fmt: skip


def called(function, arguments, *, plain=False):
    """What a function returns, and its arguments after the call, on copies; plain: whole numbers in lists, not in arrays."""
    copies = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
    if plain:
        copies = [each.tolist() if isinstance(each, np.ndarray) and each.dtype == WHOLE else each for each in copies]
    returned = function(*copies)
    returned = () if returned is None else returned if isinstance(returned, tuple) else (returned,)
    return [np.asarray(each) for each in (*returned, *copies)]


def assert_same(got, expected, digits):
    """Whole numbers are equal; others agree up to the order of sums in `digits`, beside the largest of their array."""
    assert got.shape == expected.shape
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(got, expected)
    else:
        share = 64 * max(np.finfo(expected.dtype).eps, np.finfo(digits).eps)
        largest = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
        np.testing.assert_allclose(got, expected, rtol=share, atol=share * largest)


def test_every_loop_has_cases():
    assert sorted(CASES) == sorted(LOOPS)


@pytest.mark.parametrize(("name", "case"), [(name, case) for name, build in CASES.items() for case in build()])
def test_compiled_and_python_agree(name, case):
    loop, arguments = LOOPS[name], CASES[name]()[case]
    with np.errstate(over="ignore"):  # hashes are products of whole numbers modulo 2^64
        # math.ldexp of Python takes no NumPy integers.
        expected = called(loop.py_func, arguments, plain=name == "sums.accumulate")
    got = called(loop, arguments)
    digits = SINGLE if name == "singles.gaussian_sums" else DOUBLE  # float64 sums of values computed in float32
    for mine, other in zip(got, expected, strict=True):
        assert_same(mine, other, digits)


@pytest.mark.parametrize("name", ANSWERS)
def test_the_choices_are_those_worked_out_by_hand(name):
    assert {case: LOOPS[name](*arguments) for case, arguments in CASES[name]().items()} == ANSWERS[name]


@pytest.mark.parametrize("name", LOOPS)
def test_every_loop_says_how_exact_its_arithmetic_is(name):
    """A loop that does not say takes it from the loop that happens to call it first: results would hang on the order."""
    assert "fastmath" in LOOPS[name].targetoptions
