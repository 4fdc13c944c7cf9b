"""The four data sets that ship with scikit-learn: always present, nothing to fetch."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from vicinal.data._decoding import Decoded, Stored
from vicinal.data._measurements import MEASURED
from vicinal.data._registry import Entry, Source

_LICENCE = "CC BY 4.0 (UCI)"


def _load(stored: Stored, *, loader: str, **options: Any) -> Decoded:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{loader}")(**options)
    y = bunch.target.astype(np.float64 if bunch.target.dtype.kind == "f" else np.int64)
    names = tuple(str(name) for name in bunch.feature_names)
    return Decoded(X=bunch.data, y=y, feature_names=names)


def _source(page: str) -> Source:
    return Source(page=page, note="ships with scikit-learn")


ENTRIES = (
    Entry(
        name="digits",
        title="Handwritten digits, 8 x 8",
        task="classification",
        measured=MEASURED["digits"],
        stored=None,
        decode=partial(_load, loader="digits"),
        source=_source("https://archive.ics.uci.edu/dataset/80"),
        citation="alpaydin1998",
        licence=_LICENCE,
        classes=tuple("0123456789"),
        image_shape=(8, 8),
        note="the test part of the original set",
    ),
    Entry(
        name="wine",
        title="Wines of three growers, by chemical analysis",
        task="classification",
        measured=MEASURED["wine"],
        stored=None,
        decode=partial(_load, loader="wine"),
        source=_source("https://archive.ics.uci.edu/dataset/109"),
        citation="aeberhard1994",
        licence=_LICENCE,
        classes=("class_0", "class_1", "class_2"),
    ),
    Entry(
        name="breast_cancer",
        title="Breast tumours, from images of cell nuclei",
        task="classification",
        measured=MEASURED["breast_cancer"],
        stored=None,
        decode=partial(_load, loader="breast_cancer"),
        source=_source("https://archive.ics.uci.edu/dataset/17"),
        citation="street1993",
        licence=_LICENCE,
        classes=("malignant", "benign"),
    ),
    Entry(
        name="diabetes",
        title="Progress of diabetes after one year",
        task="regression",
        measured=MEASURED["diabetes"],
        stored=None,
        decode=partial(_load, loader="diabetes", scaled=False),
        source=_source("https://www4.stat.ncsu.edu/~boos/var.select/diabetes.html"),
        citation="efron2004",
        licence="none stated",
        note="in the original units, not scikit-learn's scaled ones",
    ),
)
