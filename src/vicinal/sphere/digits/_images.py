"""Labelled images: of known sets, of files, of folders by class."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vicinal._types import AnyArray, Dataset
from vicinal.data import load_dataset, read_idx, read_unwrapped
from vicinal.sphere.worlds import divide, list_files, list_labelled

PARTS = ("all", "train", "test")
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
SIDE = 64  # pixels that image files are brought to: more than any preset's degrees resolve


@dataclass(frozen=True)
class Images:
    """Images, (n, height, width), from 0 to 1, and their classes where they are known."""

    images: AnyArray
    labels: AnyArray | None = None
    classes: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    is_test: AnyArray | None = None

    def rows(self, chosen: AnyArray) -> Images:
        """Return some of them."""
        labels = None if self.labels is None else self.labels[chosen]
        names = None if self.names is None else tuple(self.names[i] for i in chosen)
        return Images(self.images[chosen], labels, self.classes, names)

    def divide(self) -> tuple[AnyArray, AnyArray]:
        """Return training and test rows: the published parts, or a fixed three to one split."""
        assert self.labels is not None
        return divide(self.labels, self.is_test)

    @property
    def label_names(self) -> tuple[str, ...] | None:
        """The names of the classes of the images, where they are known."""
        if self.labels is None:
            return None
        return tuple(self.classes[int(label)] for label in self.labels)


def read_labelled(source: str, *, panoramas: bool) -> Images:
    """Return the images to train on: a registered set, or a folder of files by class."""
    if not Path(source).is_dir():
        return of_dataset(load_dataset(source))
    files = list_labelled(Path(source), SUFFIXES)
    return Images(
        read_image_files(files.paths, panoramas=panoramas),
        files.labels,
        files.classes,
        tuple(path.name for path in files.paths),
        files.is_test,
    )


def of_dataset(dataset: Dataset) -> Images:
    """Return the images of a known set."""
    if dataset.image_shape is None or dataset.task != "classification":
        raise ValueError(
            f"{dataset.name} holds no labelled images; take a set such as mnist or digits."
        )
    images = brighten(dataset.X.reshape(-1, *dataset.image_shape[:2]))
    classes = tuple(str(name) for name in dataset.classes or ())
    return Images(images, np.asarray(dataset.y, np.int64), classes, None, dataset.is_test)


def brighten(images: AnyArray) -> AnyArray:
    """Return images divided by their highest value, as networks learn from them."""
    return images / float(images.max() or 1.0)


def read_image_files(paths: Sequence[Path], *, panoramas: bool) -> AnyArray:
    """Return image files in grey, from 0 to 1, brought to one size: (n, 64, 64), or (n, 64, 128).

    Planar images are cut to a square around their middle. Panoramas are equirectangular: longitude
    from left to right, the north pole along the upper edge, twice as wide as high.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    size = (2 * SIDE if panoramas else SIDE, SIDE)
    images = np.empty((len(paths), size[1], size[0]), np.float32)
    for row, path in enumerate(paths):
        try:
            with Image.open(path) as file:
                grey = file.convert("L")
        except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
            raise ValueError(f"{path} cannot be read as an image: {error}") from error
        if panoramas and grey.width != 2 * grey.height:
            raise ValueError(
                f"{path} is {grey.width} × {grey.height}: an equirectangular image is twice as "
                "wide as high. Lay planar images on a hemisphere by the projection lambert."
            )
        fitted = grey.resize(size) if panoramas else ImageOps.fit(grey, size)
        images[row] = np.asarray(fitted, np.float32) / 255
    return images


def read_pictures(source: str, part: str = "all", *, panoramas: bool = False) -> Images:
    """Return the images of a known set, a folder, or a file: NPZ (``images``), NPY, IDX, PNG, …."""
    if part not in PARTS:
        raise ValueError(f"split={part!r}: take one of {', '.join(PARTS)}.")
    path = Path(source)
    if not path.exists():
        every = of_dataset(load_dataset(source))
        if part == "all":
            return every.rows(np.arange(len(every.images)))
        return every.rows(every.divide()[PARTS.index(part) - 1])
    if part != "all":
        raise ValueError(f"{source} is no known set, and has no {part} part.")
    if path.is_dir() or path.suffix.lower() in SUFFIXES:
        return _read_files(source, panoramas=panoramas)
    try:
        if path.suffix in (".npz", ".npy"):
            loaded = np.load(path, allow_pickle=False)
            return _named(loaded) if path.suffix == ".npz" else Images(loaded)
        return Images(read_idx(read_unwrapped(path)))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{source} holds no images that can be read: {error}") from error


def _read_files(source: str, *, panoramas: bool) -> Images:
    paths, folders = list_files(source, SUFFIXES)
    images, names = read_image_files(paths, panoramas=panoramas), tuple(of.name for of in paths)
    if folders is None:
        return Images(images, names=names)
    classes = tuple(sorted(set(folders)))
    return Images(images, np.array([classes.index(of) for of in folders]), classes, names)


def _named(arrays: Mapping[str, AnyArray]) -> Images:
    if "images" not in arrays:
        raise ValueError(f"an array 'images' is needed; there are {', '.join(arrays)}.")
    if "labels" not in arrays:
        return Images(arrays["images"])
    texts = [str(label) for label in arrays["labels"].tolist()]
    if len(texts) != len(arrays["images"]):
        raise ValueError(f"{len(texts)} labels for {len(arrays['images'])} images.")
    classes = tuple(sorted(set(texts)))
    return Images(arrays["images"], np.array([classes.index(text) for text in texts]), classes)
