"""Ways to spoil bytes and trees of plain values; all depend on the generator alone."""

import copy
import hashlib
import json
import struct

import numpy as np

_PREFIX = struct.Struct("<8sIQ")
_DIGEST = 32

#: Values that programs trip over.
ODD = (
    None, True, 0, -1, 1, 255, 2**31, 2**63 - 1, 2**64, -(2**63), 1e308, -0.0, 1e-320, {"float": "nan"}, {"float": "inf"}, "",
    "x", "\0", "\ud800", [], {}, [[]], [None], {"array": 0}, {"array": -1}, {"record": "Popen", "fields": {}}, {"tuple": []},
    "<f8", "|O", "float64",
)  # fmt: skip


def spoiled(data, rng, others=()):
    """Return bytes spoiled in up to four places: bits or bytes changed, runs cut out, doubled, zeroed or taken from others."""
    found = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        if not found:
            break
        at = int(rng.integers(0, len(found)))
        length = int(min(len(found) - at, 2 ** rng.integers(0, 10)))
        match int(rng.integers(0, 8)):
            case 0 | 1:
                found[at] ^= 1 << int(rng.integers(0, 8))
            case 2:
                found[at] = int(rng.integers(0, 256))
            case 3:
                del found[at : at + length]
            case 4:
                found[at:at] = found[at : at + length]
            case 5:
                found[at : at + length] = bytes(length)
            case 6:
                found[at : at + 8] = int(rng.choice([0, 1, 127, 2**31 - 1, 2**62])).to_bytes(8, "little")
            case 7:
                other = others[int(rng.integers(0, len(others)))] if others else data
                start = int(rng.integers(0, max(1, len(other))))
                found[at : at + length] = other[start : start + length]
    if rng.random() < 0.1:
        del found[int(rng.integers(0, len(found) + 1)) :]
    return bytes(found)


def forged(data, rng, others=()):
    """Return the bytes of a summary's file spoiled; nine times in ten past its checksum, which is then made to fit."""
    if rng.random() < 0.1:
        return spoiled(data, rng, others)
    magic, version, length = _PREFIX.unpack_from(data)
    start = _PREFIX.size
    header, rest = data[start : start + length], data[start + length : -_DIGEST]
    if rng.random() < 0.6:
        header = json.dumps(grafted(json.loads(header), rng)).encode()
    elif rng.random() < 0.2:
        header = spoiled(header, rng)
    else:
        rest = spoiled(rest, rng)
    body = _PREFIX.pack(magic, version, len(header)) + header + rest
    return body + hashlib.sha256(body).digest()


def grafted(tree, rng):
    """Replace, drop, double or move up to three branches of a tree of plain values, in place."""
    for _ in range(int(rng.integers(1, 4))):
        place = _branch(tree, rng)
        if place is None:
            break
        holder, key = place
        value = holder[key]
        match int(rng.integers(0, 6)):
            case 0:
                del holder[key]
            case 1:
                other, name = _branch(tree, rng)
                holder[key] = copy.deepcopy(other[name])
            case 2 if isinstance(value, int | float) and not isinstance(value, bool):
                holder[key] = value + int(rng.integers(-3, 4))
            case 3 if isinstance(value, str):
                holder[key] = value[::-1] + "é"
            case 4 if isinstance(value, list):
                holder[key] = value + value
            case _:
                holder[key] = copy.deepcopy(ODD[int(rng.integers(0, len(ODD)))])
    return tree


def _branch(tree, rng):
    """Return (holder, key) of a branch: down from the root, a random way at each fork, to a random depth."""
    found = None
    while isinstance(tree, dict | list) and tree and (found is None or rng.random() < 0.85):
        key = list(tree)[int(rng.integers(0, len(tree)))] if isinstance(tree, dict) else int(rng.integers(0, len(tree)))
        found, tree = (tree, key), tree[key]
    return found


def generator(seed, index):
    """Return the generator of one execution, which can so be repeated alone."""
    return np.random.default_rng([seed, index])
