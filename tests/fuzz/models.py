"""Mutated model files: refused with a ValueError at load, or the model that was saved.

Half of them are damaged as disks and networks damage files. The others are edited and signed anew,
as no accident does it: such a file is another model, and may predict something else, but it is
refused while it is loaded or it answers.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.fuzz._outcomes import Try, Wrong
from tests.fuzz.mutations import corrupt, corrupt_array, damage

import vicinal
from vicinal.data import Imputer, Preparation, TableEncoder

RANDOM = np.random.default_rng(0)
N = 60
y = np.arange(N) % 3
X = RANDOM.normal(size=(N, 4)) + y[:, None]
numbers = X[:, 0] + 0.1 * RANDOM.normal(size=N)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(colour=np.array(["red", "blue"])[y % 2])
FRAME.loc[3, "a"] = np.nan
NAMES = np.array(["low", "mid", "high"])[y]


def _models() -> dict[str, tuple[Any, Any, Any]]:
    """Return models to fit with their rows and targets."""
    k, classifier, regressor = 3, vicinal.KNNClassifier, vicinal.KNNRegressor
    quick: dict[str, Any] = {"max_iter": 2, "random_state": 0}
    of_classes = {
        "plain": classifier(k),
        "MLNG": classifier(k, metric=vicinal.MLNG(**quick)),
        "EJOP": classifier(k, metric=vicinal.EJOP(random_state=0)),
        "AsymmetricMLNG": classifier(k, metric=vicinal.AsymmetricMLNG(**quick)),
        "HammingMLNG": classifier(k, metric=vicinal.HammingMLNG(n_bits=16, margin=2.0, **quick)),
        "NCA": classifier(k, metric=vicinal.NCA(**quick)),
        "GBLMNN": classifier(k, metric=vicinal.GBLMNN(n_trees=3, max_depth=2, random_state=0)),
        "MeanMetric": classifier(k, metric=vicinal.MeanMetric(vicinal.LDA(), n_starts=2)),
        "AutoMetric": classifier(
            k, metric=vicinal.AutoMetric([vicinal.Euclidean(), vicinal.LFDA()], random_state=0)
        ),
        "mean of MLNG": classifier(
            k, metric=vicinal.MeanMetric(vicinal.MLNG(**quick), n_starts=2, random_state=0)
        ),
        "KNCA": classifier(k, metric=vicinal.KNCA(max_iter=2, random_state=0)),
        "ITML": classifier(k, metric=vicinal.ITML(max_iter=5, random_state=0)),
        "ITQ": classifier(k, metric=vicinal.ITQ(n_bits=16, max_iter=3, random_state=0)),
        "SpectralHashing": classifier(k, metric=vicinal.SpectralHashing(n_bits=16)),
        "GradientWeights": classifier(k, metric=vicinal.GradientWeights("difference")),
        "faiss": classifier(k, index="faiss", weights="distance"),
        "graph": classifier(k, index="faiss:HNSW8", weights="softmax"),
        "balanced": classifier(k, class_weight="balanced"),
        "radius": vicinal.RadiusClassifier(3.0),
    }
    of_numbers = {
        "RegressionMLNG": regressor(
            k, metric=vicinal.RegressionMLNG(init="relieff", set_size=3, **quick)
        ),
        "MLKR": regressor(k, metric=vicinal.MLKR(max_iter=3)),
        "GradientDiffusionMap": regressor(k, metric=vicinal.GradientDiffusionMap(random_state=0)),
        "radius of numbers": vicinal.RadiusRegressor(3.0),
        "local linear": vicinal.LocalLinearRegressor(20),
    }
    table = make_pipeline(
        TableEncoder(keep_missing=True), Imputer(), Preparation(n_components=3),
        classifier(k, metric=vicinal.LDA()),
    )  # fmt: skip
    from scipy.sparse import csr_matrix

    models: dict[str, tuple[Any, Any, Any]] = {n: (model, X, y) for n, model in of_classes.items()}
    models |= {name: (model, X, numbers) for name, model in of_numbers.items()}
    models["sparse"] = (classifier(k), csr_matrix(np.maximum(X, 0)), y)
    models["two targets"] = (
        regressor(k, weights="distance"),
        X,
        np.column_stack([numbers, -numbers]),
    )
    scaled = make_pipeline(StandardScaler(), vicinal.LMNN(max_iter=5), classifier(k))
    models["pipeline"] = (scaled, X, NAMES)
    models["table"] = (table, FRAME, NAMES)
    return models


NAMES_OF_MODELS = tuple(_models())


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="vicinal-fuzz-"))


@cache
def _saved(name: str) -> tuple[bytes, Any]:
    model, rows, targets = _models()[name]
    model.fit(rows, targets)
    path = _folder() / "whole.vicinal"
    vicinal.save_model(model, path)
    return path.read_bytes(), np.asarray(model.predict(rows))


def cases(random: np.random.Generator) -> Iterator[Try]:
    """Yield tries without end: kinds of models and of mutations in turn."""
    while True:
        for name in NAMES_OF_MODELS:
            for signed in (False, True):
                seed = int(random.integers(2**32))
                yield Try(f"{name}, {'signed ' * signed}{seed}", _trying(name, signed, seed))


def _trying(name: str, signed: bool, seed: int) -> Any:
    def run() -> str:
        data, expected = _saved(name)
        random = np.random.default_rng(seed)
        path = _folder() / "mutated.vicinal"
        path.write_bytes(edit(data, random) if signed else damage(data, random))
        try:
            model = vicinal.load_model(path)
        except ValueError:
            return f"refused at load{', signed' * signed}"
        rows = _models()[name][1]
        if not signed:
            if not np.array_equal(model.predict(rows), expected):
                raise Wrong("other predictions")
            return "equal"
        return _ask(model, rows, expected)

    return run


def _ask(model: Any, rows: Any, expected: Any) -> str:
    """Ask an edited model: it has to answer in the form of an answer."""
    if not hasattr(model, "predict"):
        return "another model, signed"  # a learner alone
    try:
        found = np.asarray(model.predict(rows))
    except Exception as error:
        raise Wrong(f"loaded, then {type(error).__name__}: {str(error)[:120]}") from error
    if found.shape[:1] != expected.shape[:1]:
        raise Wrong(f"answers of shape {found.shape}")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise Wrong("answers that are not finite")
    return "equal, signed" if np.array_equal(found, expected) else "another model, signed"


def edit(data: bytes, random: np.random.Generator) -> bytes:
    """Return a model file of which one value or array is another, with digests to match."""
    path = _folder() / "edited.vicinal"
    path.write_bytes(data)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    structure = json.loads(members.pop("model.json"))
    del members["model.sha256"]
    if random.integers(3):
        structure["model"] = corrupt({"": structure["model"]}, random).get("")
    else:
        chosen = sorted(members)[random.integers(len(members))]
        members[chosen] = corrupt_array(members[chosen], random)
    arrays = [members[f"{number}.npy"] for number in range(len(structure["digests"]))]
    structure["digests"] = [hashlib.sha256(array).hexdigest() for array in arrays]
    text = json.dumps(structure).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.writestr("model.json", text)
        archive.writestr("model.sha256", hashlib.sha256(text).hexdigest())
    return path.read_bytes()
