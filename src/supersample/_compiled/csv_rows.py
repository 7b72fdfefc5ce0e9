"""Where the rows of CSV begin and end, by one pass over its bytes."""

import numba
import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]

_QUOTE, _LINE, _RETURN = 34, 10, 13
_NEW_ROW, _NEW_FIELD, _PLAIN, _QUOTED, _CLOSED = 0, 1, 2, 3, 4


@numba.njit(cache=True, nogil=True, fastmath=False)
def row_spans(block: Bytes, delimiter: int, starts: Places, stops: Places) -> int:
    """Write where each row begins and where its line end is, and return their number; -1 if a quote is not where it belongs.

    A quoted field begins with a quote and ends with one before a delimiter or a line end; inside it a quote is doubled.
    Empty lines are no rows. starts, stops: long enough for rows of one byte.
    """
    state, found = _NEW_ROW, 0
    for place in range(len(block)):
        byte = block[place]
        if state == _PLAIN and byte > _QUOTE and byte != delimiter:  # most bytes: digits and letters
            continue
        if state == _QUOTED:
            if byte == _QUOTE:
                state = _CLOSED
            continue
        if byte in (_LINE, _RETURN):
            if state != _NEW_ROW:
                stops[found] = place
                found += 1
                state = _NEW_ROW
            continue
        if state == _NEW_ROW:
            starts[found] = place
        if byte == delimiter:
            state = _NEW_FIELD
        elif byte == _QUOTE:
            if state == _PLAIN:
                return -1
            state = _QUOTED
        elif state == _CLOSED:
            return -1
        else:
            state = _PLAIN
    if state == _QUOTED:
        return -1
    if state != _NEW_ROW:
        stops[found] = len(block)
        found += 1
    return found
