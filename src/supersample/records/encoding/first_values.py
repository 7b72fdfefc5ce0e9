"""Which values categories and texts have in the first rows of a stream, to be told from rows that look unlike these."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from supersample._hashing import Hashes
from supersample._typing import Indices
from supersample.records.encoding.column_type import ColumnType
from supersample.records.encoding.values import hashes_of, plain_storage

__all__ = ["MOST", "first_values", "unseen"]

#: Columns with more values than this have new ones in all rows, so that nothing follows from them.
MOST = 256
_ROLES = ("category", "text")


def first_values(blocks: Iterable[ColumnType], table: pa.Table) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return the hashes of the values of categories and texts in some rows, by name, where they are few."""
    found = []
    for block in blocks:
        if block.called in _ROLES:
            hashes = _hashes(table.column(block.name).unique())
            found += [(block.name, tuple(np.sort(hashes).tolist()))] if hashes.size <= MOST else []
    return tuple(sorted(found))


def unseen(known: Iterable[int], column: pa.ChunkedArray) -> Indices:
    """Return the places of values that are not among the known ones; missing values are not."""
    codes = column.combine_chunks().dictionary_encode()
    new = np.isin(_hashes(codes.dictionary), np.array(list(known), dtype=np.int64), invert=True)
    indices = codes.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.flatnonzero((indices >= 0) & np.append(new, False)[indices])


def _hashes(values: pa.Array) -> Indices:
    found: Hashes = hashes_of(plain_storage(values).drop_null())
    return found.view(np.int64)
