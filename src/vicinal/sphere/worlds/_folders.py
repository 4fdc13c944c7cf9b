"""Folders of one's own: files by class, with parts for training and test or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vicinal._types import BoolArray, IntArray
from vicinal.data import inner_split

PARTS = ("train", "test")
TEST_SHARE = 0.25  # of files that come without parts


@dataclass(frozen=True)
class LabelledFiles:
    """Files in folders by class; ``is_test`` where they come in parts."""

    paths: tuple[Path, ...]
    labels: IntArray
    classes: tuple[str, ...]
    is_test: BoolArray | None


def list_labelled(folder: Path, suffixes: Sequence[str]) -> LabelledFiles:
    """Return the files ``folder/class/file``, or ``folder/train/class/file`` and ``…/test/…``.

    Raises
    ------
    ValueError
        Where there are none of these suffixes, fewer than two classes, or a class with one file.
    """
    parts = [folder / name for name in PARTS]
    divided = all(part.is_dir() for part in parts)
    places = [(part, number == 1) for number, part in enumerate(parts)] if divided else []
    files = [
        (path, path.parent.name, test)
        for root, test in places or [(folder, False)]
        for path in sorted(root.glob("*/*"))
        if path.suffix.lower() in suffixes and path.is_file()
    ]
    if not files:
        raise ValueError(
            f"{folder} holds no files {', '.join(suffixes)} in folders by class: lay them out as "
            f"{folder.name}/CLASS/FILE."
        )
    classes = tuple(sorted({name for _, name, _ in files}))
    labels = np.array([classes.index(name) for _, name, _ in files])
    if len(classes) < 2:
        raise ValueError(f"{folder} has one class alone, {classes[0]!r}: nothing can be learned.")
    few = np.flatnonzero(np.bincount(labels) < 2)
    if len(few):
        raise ValueError(f"class {classes[few[0]]!r} of {folder} has one file; two are needed.")
    tests = np.array([test for _, _, test in files])
    return LabelledFiles(tuple(path for path, _, _ in files), labels, classes,
                         tests if divided else None)  # fmt: skip


def list_files(source: str, suffixes: Sequence[str]) -> tuple[list[Path], list[str] | None]:
    """Return the files that a place names, and their classes where they lie in folders by class."""
    path = Path(source)
    if path.is_file():
        return [path], None
    files = sorted(of for of in path.iterdir() if of.suffix.lower() in suffixes and of.is_file())
    if files:
        return files, None
    labelled = sorted(of for of in path.glob("*/*") if of.suffix.lower() in suffixes)
    if not labelled:
        raise ValueError(f"{source} holds no files {', '.join(suffixes)}.")
    return labelled, [of.parent.name for of in labelled]


def divide(
    labels: IntArray, is_test: BoolArray | None, test_share: float = TEST_SHARE
) -> tuple[IntArray, IntArray]:
    """Return the rows of the published parts, or of a fixed split that keeps proportions."""
    if is_test is not None:
        return np.flatnonzero(~is_test), np.flatnonzero(is_test)
    fold = inner_split(labels, test_size=test_share, seed=0)
    return fold.train, fold.test
