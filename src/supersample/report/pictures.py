"""Columns that hold images, and their values as small pictures inside the page."""

import base64
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from PIL import Image

from supersample.report.cells import clean

__all__ = ["Picture", "PictureColumn", "picture_columns"]

Pixels = npt.NDArray[np.uint8]

#: All pictures of a page together take at most this many characters.
BUDGET = 1_800_000
#: The longest side of a picture.
LONGEST_SIDE = 96
#: The shortest side of a vector that counts as an image.
SHORTEST_SIDE = 5
#: Larger images in a file are not decoded: a small file can hold a picture that fills the memory.
MOST_PIXELS = 50_000_000
#: The most columns of pictures.
MOST_COLUMNS = 2
#: How many values are examined to decide whether a column holds images.
LOOKED_AT = 200

_ARRAYS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
_BYTES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)


@dataclass(frozen=True)
class Picture:
    """An image ready for the page."""

    column: str
    source: str
    width: int
    height: int
    alt: str


@dataclass(frozen=True)
class PictureColumn:
    """A column of images: how its values become pixels, and how many characters each may take."""

    name: str
    shape: tuple[int, ...] | None  # None: encoded files; else height, width and perhaps channels, in the order stored
    top: float
    room: int

    def draw(self, scalar: Any, about: str) -> Picture | None:
        """Return the picture of one value, or None if it holds none."""
        pixels = _decoded(scalar) if self.shape is None else _reshaped(scalar, self.shape, self.top)
        if pixels is None:
            return None
        source = _encoded(Image.fromarray(pixels), self.room)
        return Picture(self.name, source, pixels.shape[1], pixels.shape[0], f"{clean(self.name, 40)} of {about}")


def picture_columns(tables: Sequence[pa.Table], n_pictures: int) -> tuple[PictureColumn, ...]:
    """Find the columns of images that all tables share, by their types and by values of the first table."""
    names = [name for name in tables[0].column_names if all(name in table.column_names for table in tables)]
    found = [(name, seen) for name in names if (seen := _recognised(tables[0].column(name))) is not None][:MOST_COLUMNS]
    room = BUDGET // max(1, n_pictures * len(found))
    return tuple(PictureColumn(name, shape, top, room) for name, (shape, top) in found)


def _recognised(column: pa.ChunkedArray) -> tuple[tuple[int, ...] | None, float] | None:
    column = column.drop_null()[:LOOKED_AT]
    if len(column) == 0:
        return None
    kind = column.type
    if _holds_files(kind):
        drawn = [_decoded(column[place]) is not None for place in range(min(len(column), 5))]
        return (None, 0.0) if all(drawn) else None
    if isinstance(kind, pa.FixedShapeTensorType):
        shape: tuple[int, ...] | None = tuple(kind.shape)
        values = np.stack([column[place].to_numpy().ravel() for place in range(len(column))])
    elif any(is_kind(kind) for is_kind in _ARRAYS) and _is_number(kind.value_type):
        values = _stacked(column)
        shape = _shape_of(values)
    else:
        return None
    if shape is None or not _is_image_shape(shape) or values.size == 0 or not np.isfinite(values).all():
        return None
    if values.min() < 0 or values.max() > 255 or values.max() == values.min():
        return None
    return shape, float(values.max())


def _holds_files(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):  # an image with its path beside it
        return kind.get_field_index("bytes") >= 0 and any(is_kind(kind.field("bytes").type) for is_kind in _BYTES)
    return any(is_kind(kind) for is_kind in _BYTES)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _stacked(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    rows = [np.asarray(column[place].as_py(), dtype=np.float64) for place in range(len(column))]
    return np.stack(rows) if len({row.size for row in rows}) == 1 else np.empty((0, 0))


def _shape_of(values: npt.NDArray[np.float64]) -> tuple[int, ...] | None:
    """Return the shape of a square image, or of one with three colours, in the order of axes that looks smoother."""
    length = values.shape[1]
    side = math.isqrt(length)
    if side * side == length:
        return side, side
    side = math.isqrt(length // 3)
    if 3 * side * side != length or side < SHORTEST_SIDE:
        return None
    last = values.reshape(-1, side, side, 3)
    first = values.reshape(-1, 3, side, side)
    rough_last, rough_first = np.abs(np.diff(last, axis=2)).mean(), np.abs(np.diff(first, axis=3)).mean()
    return (side, side, 3) if rough_last <= rough_first else (3, side, side)


def _is_image_shape(shape: tuple[int, ...]) -> bool:
    if len(shape) == 3 and 3 not in (shape[0], shape[2]):
        return False
    sides = shape if len(shape) == 2 else shape[:2] if shape[-1] == 3 else shape[1:]
    return len(shape) in (2, 3) and min(sides) >= SHORTEST_SIDE


def _reshaped(scalar: Any, shape: tuple[int, ...], top: float) -> Pixels | None:
    if not scalar.is_valid:
        return None
    if isinstance(scalar.type, pa.FixedShapeTensorType):
        values = np.asarray(scalar.to_numpy(), dtype=np.float64).ravel()
    else:
        values = np.array([np.nan if each is None else each for each in scalar.as_py()], dtype=np.float64)
    if values.size != math.prod(shape) or not np.isfinite(values).all():
        return None
    pixels = (np.clip(values / top, 0.0, 1.0) * 255.0).round().astype(np.uint8).reshape(shape)
    if len(shape) == 3 and shape[-1] != 3:
        pixels = np.ascontiguousarray(np.moveaxis(pixels, 0, 2))
    return pixels


def _decoded(scalar: Any) -> Pixels | None:
    value = scalar.as_py()
    value = value.get("bytes") if isinstance(value, dict) else value
    if not value:
        return None
    try:
        with Image.open(io.BytesIO(value), formats=("PNG", "JPEG")) as image:
            if image.width * image.height > MOST_PIXELS:
                return None
            image.draft("RGB", (2 * LONGEST_SIDE, 2 * LONGEST_SIDE))
            image.thumbnail((2 * LONGEST_SIDE, 2 * LONGEST_SIDE))
            # Transparent pixels may have any colour; on white they look as intended.
            flat = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA"))
            return np.asarray(flat.convert("RGB"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        return None


def _encoded(image: Image.Image, room: int) -> str:
    """Return an image as a data URL of at most `room` characters: exact if that fits, else coarser and smaller."""
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    while True:
        for kind, options in (("png", {"optimize": True}), ("jpeg", {"quality": 80})):
            file = io.BytesIO()
            image.save(file, kind, **options)
            source = f"data:image/{kind};base64," + base64.b64encode(file.getvalue()).decode("ascii")
            if len(source) <= room or max(image.size) <= 8:
                return source
        image = image.resize((max(1, image.width // 2), max(1, image.height // 2)))
