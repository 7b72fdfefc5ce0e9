"""Which columns are drawn as images, and how."""

import base64
import io

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from supersample.report.pictures import picture_columns


def table(values, kind=None):
    return pa.table({"x": pa.array(values, kind)})


def vectors(array):
    array = np.asarray(array)
    return pa.table({"x": pa.FixedSizeListArray.from_arrays(pa.array(array.ravel()), array.shape[1])})


def pixels_of(picture):
    head, _, body = picture.source.partition(",")
    assert head in ("data:image/png;base64", "data:image/jpeg;base64")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(body))))


def file_of(pixels, kind="PNG"):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def test_a_square_vector_is_an_image_with_its_pixels_in_order():
    values = np.arange(64.0)[None, :].repeat(2, 0)
    (column,) = picture_columns([vectors(values)], 2)
    picture = column.draw(vectors(values)["x"][0], "row 7")
    assert (picture.width, picture.height, picture.alt) == (8, 8, "x of row 7")
    np.testing.assert_array_equal(pixels_of(picture), np.round(np.arange(64) / 63 * 255).astype(np.uint8).reshape(8, 8))


@pytest.mark.parametrize("colours_first", [False, True])
def test_colours_are_found_in_either_order(colours_first):
    y, x = np.mgrid[:12, :12] / 11.0
    image = np.stack([x, y, 0.5 * np.ones_like(x)], axis=2)
    stored = (np.moveaxis(image, 2, 0) if colours_first else image).reshape(1, -1)
    (column,) = picture_columns([vectors(stored)], 1)
    drawn = pixels_of(column.draw(vectors(stored)["x"][0], ""))
    np.testing.assert_allclose(drawn / 255.0, image, atol=0.003)


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).normal(size=(5, 64)),  # an embedding
        np.random.default_rng(0).random((5, 60)),  # no square
        np.random.default_rng(0).random((5, 16)),  # too small to see
        np.full((5, 64), 300.0),
        np.full((5, 64), np.nan),
        np.zeros((5, 64)),
    ],
)
def test_other_vectors_are_not_images(values):
    assert picture_columns([vectors(values)], 5) == ()


def test_tensors_say_their_own_shape():
    stored = pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.uint8(), (6, 10)),
        pa.FixedSizeListArray.from_arrays(pa.array(np.arange(60, dtype=np.uint8)), 60),
    )
    (column,) = picture_columns([pa.table({"x": stored})], 1)
    picture = column.draw(stored[0], "")
    assert (picture.height, picture.width) == (6, 10)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_files_inside_a_column_are_drawn(kind):
    pixels = np.full((40, 60, 3), (200, 100, 50), np.uint8)
    (column,) = picture_columns([table([file_of(pixels, kind)])], 1)
    drawn = pixels_of(column.draw(pa.scalar(file_of(pixels, kind)), ""))
    np.testing.assert_allclose(drawn, pixels, atol=4)


def test_files_with_their_path_beside_them_are_drawn():
    rows = [{"bytes": file_of(np.zeros((8, 8, 3), np.uint8)), "path": "a.png"}]
    (column,) = picture_columns([table(rows)], 1)
    assert column.draw(table(rows)["x"][0], "") is not None


def test_bytes_that_are_no_image_and_images_too_big_are_left_alone():
    good = file_of(np.zeros((8, 8), np.uint8))
    assert picture_columns([table([b"GIF89a not one of ours", b"x"])], 1) == ()
    (column,) = picture_columns([table([good])], 1)
    assert column.draw(pa.scalar(good[:40]), "") is None
    assert column.draw(pa.scalar(None, pa.binary()), "") is None
    head = bytearray(good)
    head[16:24] = (60_000).to_bytes(4, "big") * 2  # claims 3.6 thousand million pixels
    assert column.draw(pa.scalar(bytes(head)), "") is None


def test_a_small_file_of_a_huge_picture_is_not_decoded():
    file = io.BytesIO()
    Image.new("1", (9_000, 9_000)).save(file, "png")
    assert len(file.getvalue()) < 100_000
    assert picture_columns([table([file.getvalue()])], 1) == ()


def test_pictures_keep_to_their_room():
    noise = np.random.default_rng(0).integers(0, 256, (3, 3 * 90 * 90)).astype(float)
    (column,) = picture_columns([vectors(noise)], 800)
    picture = column.draw(vectors(noise)["x"][0], "")
    assert len(picture.source) <= column.room == 1_800_000 // 800
