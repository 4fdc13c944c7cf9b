"""Claims about trained networks that are used: saved, loaded, asked about images."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict

import numpy as np
import pytest
import torch

from vicinal.sphere import ClebschGordanNet, FragmentType, load_network
from vicinal.sphere.digits import (
    DigitWorld,
    Drawing,
    draw_digits,
    predict_images,
    read_pictures,
)
from vicinal.sphere.nn import save_network

DRAWING = Drawing(bandwidth=6, l_max=3)


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (9, 8, 8)).astype(np.uint8)


@pytest.fixture
def folder(tmp_path):
    torch.manual_seed(0)
    network = ClebschGordanNet(FragmentType.uniform(1, 3), FragmentType([3, 2]), 1, 3, width=6)
    facts = {"classes": ["a", "b", "c"], "drawing": asdict(DRAWING)}
    save_network(network, tmp_path / "network.pt", facts)
    return tmp_path


def test_predictions_are_the_highest_scores_of_the_drawn_images(folder, images):
    shares = predict_images([folder], images)[0]
    drawn = draw_digits(images / images.max(), np.zeros(9), DRAWING)
    scores = load_network(folder)(drawn.take(torch.arange(9)))
    expected = torch.softmax(scores.double(), 1).detach().numpy()
    np.testing.assert_allclose(shares, expected, atol=1e-6)
    np.save(folder / "images.npy", images)
    found = DigitWorld().predict([folder], str(folder / "images.npy"))
    assert [row[1] for row in found.rows] == ["abc"[i] for i in expected.argmax(1)]


def test_the_brightness_of_a_file_makes_no_difference(folder, images):
    one, other = predict_images([folder], images), predict_images([folder], images / 255.0)
    np.testing.assert_allclose(one, other, atol=1e-6)


def idx(array: np.ndarray) -> bytes:
    lengths = b"".join(int(n).to_bytes(4, "big") for n in array.shape)
    return bytes([0, 0, 8, array.ndim]) + lengths + array.tobytes()


def test_images_are_read_from_npz_npy_and_idx_files(tmp_path, images):
    np.savez(tmp_path / "a.npz", images=images, labels=np.arange(9))
    np.save(tmp_path / "a.npy", images)
    (tmp_path / "a-idx3-ubyte").write_bytes(idx(images))
    (tmp_path / "a-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images)))
    for name in ("a.npz", "a.npy", "a-idx3-ubyte", "a-idx3-ubyte.gz"):
        np.testing.assert_array_equal(read_pictures(str(tmp_path / name)).images, images)
    assert read_pictures(str(tmp_path / "a.npz")).label_names == tuple("012345678")


def test_a_known_set_has_its_labels_and_parts():
    every, part = read_pictures("digits"), read_pictures("digits", "test")
    assert every.images.shape == (1797, 8, 8)
    assert part.labels is not None
    assert len(part.labels) == len(part.images) == 449


def test_files_without_images_are_refused_in_words(tmp_path, images):
    np.savez(tmp_path / "other.npz", pictures=images)
    np.savez(tmp_path / "torn.npz", images=images, labels=np.arange(3))
    np.save(tmp_path / "objects.npy", np.array([{}, {}]), allow_pickle=True)
    (tmp_path / "text.txt").write_text("no images")
    for name, message in (
        ("other.npz", "'images' is needed; there are pictures"),
        ("torn.npz", "3 labels for 9 images"),
        ("objects.npy", "holds no images"),
        ("text.txt", "not an IDX file"),
    ):
        with pytest.raises(ValueError, match=message):
            read_pictures(str(tmp_path / name))
    np.savez(tmp_path / "fine.npz", images=images)
    with pytest.raises(ValueError, match="has no test part"):
        read_pictures(str(tmp_path / "fine.npz"), "test")


def test_a_network_that_does_not_say_how_images_are_drawn_is_refused(folder, images):
    file = folder / "network.json"
    content = json.loads(file.read_text())
    for facts, message in (
        ({"classes": ["a", "b", "c"]}, "does not say how images are drawn"),
        ({"classes": ["a"], "drawing": asdict(DRAWING)}, "3 scores for 1 classes"),
        ({"classes": ["a"], "drawing": {**asdict(DRAWING), "bandwidth": "6"}}, "bandwidth must be"),
    ):
        file.write_text(json.dumps({**content, "facts": facts}))
        with pytest.raises(ValueError, match=message):
            predict_images([folder], images)
