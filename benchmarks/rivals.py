"""MLNG against the rivals: the same rows, the same votes, defaults, errors beside CPU-seconds.

No limit is set on the ratios: they say what each method costs today, and a rival made quicker is
no failure of ours. What is held is that MLNG's error is not the higher one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks._measure import Case
from benchmarks.inference import normal
from vicinal import LMNN, MLNG, NCA, KNNClassifier, load_dataset

Rows = tuple[Any, Any, Any, Any]


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield MLNG against each rival, for k=3, learned from 16,000 rows and asked for the others."""
    rows = letters_split() if "VICINAL_DATA" in os.environ else normal_split()
    if quick:
        rows = rows[0][:1_500], rows[1][:500], rows[2][:1_500], rows[3][:500]
    yield compare(rows, "LMNN", lambda: LMNN(n_neighbors=3, n_jobs=1))
    yield compare(rows, "LMNN started from LDA", lambda: LMNN(n_neighbors=3, init="lda", n_jobs=1))
    yield compare(rows, "NCA", lambda: NCA(random_state=0))


def letters_split() -> Rows:
    """Return the usual training and test rows and their classes, scaled by the training rows."""
    X, y = load_dataset("letter")
    X = ((X - X[:16_000].mean(axis=0)) / X[:16_000].std(axis=0)).astype(np.float32)
    return X[:16_000], X[16_000:], y[:16_000], y[16_000:]


def normal_split() -> Rows:
    """Return points about 26 centres, a fifth of them held out."""
    X, y = normal()
    return X[:12_800], X[12_800:], y[:12_800], y[12_800:]


def compare(rows: Rows, name: str, make: Any) -> Case:
    """Fit both with defaults on one thread."""
    train, new, codes, wanted = rows

    def error(model: Any) -> float:
        database, queries = (train, new) if model is None else map(model.transform, (train, new))
        vote = KNNClassifier(n_neighbors=3).fit(database, codes)
        return round(100 * float(np.mean(vote.predict(queries) != wanted)), 2)

    def check(found: Any, expected: Any) -> Mapping[str, Any]:
        ours, theirs = error(found), error(expected)
        note = f"3-NN errors: {ours} %, the peer's {theirs} %, Euclidean {error(None)} %"
        return {
            "error": ours,
            "peer_error": theirs,
            "error_ratio": round(ours / theirs, 3),
            "note": note,
        }

    return Case(
        name=f"MLNG on {len(train):,} × {train.shape[1]}, k=3",
        peer_name=name,
        ours=lambda: MLNG(n_neighbors=3, random_state=0, n_jobs=1).fit(train, codes),
        peer=lambda: make().fit(train, codes),
        warm_up=lambda: [m.fit(train[:600], codes[:600]) for m in (MLNG(max_iter=1), make())],
        check=check,
        limits={"error_ratio": 1.0},
    )
