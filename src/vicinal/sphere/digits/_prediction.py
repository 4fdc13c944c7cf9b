"""What a trained network says about images."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from vicinal._types import AnyArray, FloatArray
from vicinal.data import check_images, load_dataset, read_idx, read_unwrapped
from vicinal.sphere.digits._drawing import Drawing, draw_digits
from vicinal.sphere.digits._experiment import brighten, images_of, split_rows
from vicinal.sphere.nn import predict_with, read_configuration

PARTS = ("all", "train", "test")


@dataclass(frozen=True)
class Pictures:
    """Images, (n, height, width), and their classes' names where they are known."""

    images: AnyArray
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True)
class SpherePredictions:
    """The class of each image, and each class's probability, (n, classes)."""

    classes: tuple[str, ...]
    predicted: tuple[str, ...]
    probabilities: FloatArray

    def error(self, labels: tuple[str, ...] | None) -> float | None:
        """Return the share of images that belong to another class, where that is known."""
        if labels is None:
            return None
        return sum(a != b for a, b in zip(self.predicted, labels, strict=True)) / len(labels)


def predict_images(network: str | Path, images: AnyArray) -> SpherePredictions:
    """Return what a saved network of ``vicinal sphere train`` says about images.

    Parameters
    ----------
    network : the folder of a training, or its ``network.pt``
    images : array of shape (n, height, width)
        Upright; they are divided by their highest value and drawn as in training. How they lie on
        the sphere makes no difference to a network that no rotation changes.
    """
    facts = read_configuration(network)["facts"]
    drawing, classes = _drawing(facts, network), tuple(map(str, facts.get("classes", ())))
    if not classes:
        raise ValueError(
            f"{network} gives places to compare images by, not classes: it was trained by a loss "
            "of embeddings."
        )
    images = brighten(check_images(images))
    batches = draw_digits(images, np.zeros(len(images)), drawing)
    scores = predict_with(network, batches)
    if scores.shape[1:] != (len(classes),):
        raise ValueError(
            f"{network}: {scores.shape[-1]} scores for {len(classes)} classes do not fit together."
        )
    shares = torch.softmax(scores.double(), 1).numpy()
    return SpherePredictions(classes, tuple(classes[i] for i in shares.argmax(1)), shares)


def read_pictures(source: str, part: str = "all") -> Pictures:
    """Return the images of a known set, or of a file: NPZ (``images``), NPY or IDX."""
    if part not in PARTS:
        raise ValueError(f"split={part!r}: take one of {', '.join(PARTS)}.")
    path = Path(source)
    if not path.is_file():
        return _known(source, part)
    if part != "all":
        raise ValueError(f"{source} is a file, which has no {part} part.")
    try:
        if path.suffix in (".npz", ".npy"):
            loaded = np.load(path, allow_pickle=False)
            return _named(loaded) if path.suffix == ".npz" else Pictures(loaded)
        return Pictures(read_idx(read_unwrapped(path)))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{source} holds no images that can be read: {error}") from error


def _named(arrays: Mapping[str, AnyArray]) -> Pictures:
    if "images" not in arrays:
        raise ValueError(f"an array 'images' is needed; there are {', '.join(arrays)}.")
    labels = None
    if "labels" in arrays:
        labels = tuple(str(label) for label in arrays["labels"].tolist())
        if len(labels) != len(arrays["images"]):
            raise ValueError(f"{len(labels)} labels for {len(arrays['images'])} images.")
    return Pictures(arrays["images"], labels)


def _known(name: str, part: str) -> Pictures:
    dataset = load_dataset(name)
    images, classes = images_of(dataset), dataset.classes or ()
    rows = {"all": np.arange(len(images)), **dict(zip(PARTS[1:], split_rows(dataset), strict=True))}
    labels = tuple(str(classes[int(dataset.y[row])]) for row in rows[part])
    return Pictures(images[rows[part]], labels)


def _drawing(facts: dict[str, Any], network: str | Path) -> Drawing:
    try:
        return Drawing(**facts["drawing"])
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{network} does not say how images are drawn for it; take one that `vicinal sphere "
            "train` wrote."
        ) from error
