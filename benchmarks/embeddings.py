"""Embeddings: labelled rows beside a linear model, and search through an adapter."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from benchmarks._measure import Case
from vicinal import ExactIndex, KNNClassifier, QueryAdapter


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield few rows of many classes where their data are at hand, then made-up documents."""
    if "VICINAL_DATA" in os.environ:
        for n_rows in (5,) if quick else (3, 5, 10):
            yield few_rows(n_rows)
    yield adapted_search(*((3_000, 200) if quick else (100_000, 2_000)))


def few_rows(n_rows: int) -> Case:
    """So many rows of each of 77 intents, 384 features: the adapter's 1-NN, and a linear model."""
    with np.load(Path(os.environ["VICINAL_DATA"]) / "embeddings" / "banking77.npz") as file:
        X, X_test = (_unit(file[name]) for name in ("X_train", "X_test"))
        y, y_test = file["y_train"].astype(int), file["y_test"].astype(int)
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == c))[:n_rows] for c in range(77)])

    def ours() -> Any:
        model = KNNClassifier(1, metric=QueryAdapter(random_state=0))
        return model.fit(X[rows], y[rows]).predict(X_test)

    def peer() -> Any:
        model = GridSearchCV(LogisticRegression(max_iter=300), {"C": [1, 10, 100]}, cv=3)
        return model.fit(X[rows], y[rows]).predict(X_test)

    def check(predicted: Any, found: Any) -> Mapping[str, Any]:
        wrong, its, plain = (
            round(100 * float(np.mean(each != y_test)), 2)
            for each in (predicted, found, KNNClassifier(1).fit(X[rows], y[rows]).predict(X_test))
        )
        note = f"error {wrong:.2f} %, peer {its:.2f} %, plain 1-NN {plain:.2f} %"
        return {"error_percent": wrong, "note": note}

    return Case(
        name=f"banking77, {n_rows} rows a class, fit and predict",
        peer_name="logistic regression, C chosen",
        ours=ours,
        peer=peer,
        warm_up=lambda: KNNClassifier(1).fit(X[:200], y[:200]).predict(X_test[:9]),
        check=check,
        limits={"error_percent": {3: 29.0, 5: 23.0, 10: 17.0}[n_rows]},
    )


def adapted_search(n: int, m: int) -> Case:
    """The ten nearest documents of queries through a map, and of the same queries without one."""
    rng = np.random.default_rng(0)
    documents, queries = (_unit(rng.normal(size=(size, 384))) for size in (n, m))
    index = ExactIndex(documents)
    adapter = QueryAdapter(regularization=0.1, loss="softmax", max_iter=2, random_state=0)
    adapter.fit(queries[:100], documents[:50], np.arange(100) % 50)

    return Case(
        name=f"{n:,} documents × 384, {m:,} queries, k=10, through an adapter",
        peer_name="ExactIndex, queries as they are",
        ours=lambda: index.query(adapter.transform_queries(queries), 10)[1],
        peer=lambda: index.query(queries, 10)[1],
        warm_up=lambda: index.query(queries[:9], 10),
        check=lambda ours, peer: {"note": ""},
        limits={"cpu_ratio": 1.05},
    )


def _unit(rows: Any) -> Any:
    rows = rows.astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
