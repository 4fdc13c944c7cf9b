from __future__ import annotations

import base64
import io

import matplotlib.image
import numpy as np
import pytest

from vicinal.report._images import as_picture, data_address, to_bytes


@pytest.mark.parametrize("shape", [(8, 8), (3, 5), (7, 4, 3)])
def test_another_reader_sees_the_very_pixels_that_were_written(shape: tuple[int, ...]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    head, _, body = data_address(pixels).partition(",")
    assert head == "data:image/png;base64"
    read = matplotlib.image.imread(io.BytesIO(base64.b64decode(body)), format="png")
    assert np.array_equal((read * 255).round().astype(np.uint8), pixels)


def test_rows_are_folded_into_pictures_and_large_ones_thinned() -> None:
    flat = np.arange(64)
    folded = as_picture(flat, (8, 8))
    assert folded is not None
    assert np.array_equal(folded, flat.reshape(8, 8))
    large = as_picture(np.zeros((300, 200)))
    assert large is not None
    assert max(large.shape) <= 64
    grey = as_picture(np.zeros((4, 4, 1)))
    assert grey is not None
    assert grey.shape == (4, 4)


def test_what_cannot_be_a_picture_is_none() -> None:
    assert as_picture(np.arange(10)) is None
    assert as_picture(np.arange(10), (3, 3)) is None
    assert as_picture(np.empty((0, 4))) is None
    assert as_picture(np.zeros((2, 2, 7))) is None


def test_grey_values_saturate_and_survive_nan() -> None:
    values = np.array([-5.0, 0.0, 0.5, 1.0, 9.0, np.nan])
    assert to_bytes(values, 0.0, 1.0).tolist() == [0, 0, 128, 255, 255, 0]
    assert to_bytes(np.ones(2), 1.0, 1.0).tolist() == [0, 0]
