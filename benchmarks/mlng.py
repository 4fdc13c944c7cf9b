"""One fit of MLNG with defaults against one of neighbourhood components analysis, on letters."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from benchmarks._measure import Case
from benchmarks.inference import letters, normal
from vicinal import MLNG, KNNClassifier


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield one fit for k=3 on all rows but the last fifth, which tell the errors."""
    X, y = letters() if "VICINAL_DATA" in os.environ else normal()
    n = 1_500 if quick else len(X)
    yield compare(X[:n], y[:n], peer_rows=500 if quick else 4_000)


def compare(X: Any, y: Any, peer_rows: int) -> Case:
    """Fit both; the peer's time grows with the square of the rows, so it gets fewer."""
    held = len(X) // 5
    train, new = X[:-held], X[-held:]
    codes, wanted = y[:-held], y[-held:]

    def peer() -> Any:
        model = NeighborhoodComponentsAnalysis(max_iter=30, random_state=0)
        return model.fit(train[:peer_rows], codes[:peer_rows])

    def error(model: Any) -> float:
        vote = KNNClassifier(n_neighbors=3).fit(model.transform(train), codes)
        return 100 * float(np.mean(vote.predict(model.transform(new)) != wanted))

    def check(found: Any, expected: Any) -> Mapping[str, Any]:
        ours, theirs = error(found), error(expected)
        if ours > theirs:
            raise AssertionError(f"error {ours:.2f} % is above the peer's {theirs:.2f} %")
        return {"note": f"3-NN error on held-out rows: {ours:.2f} %, the peer's {theirs:.2f} %"}

    return Case(
        name=f"MLNG with defaults on {len(train):,} × {X.shape[1]}, k=3, settings chosen",
        peer_name=f"scikit-learn's NCA, 30 iterations on {peer_rows:,} rows",
        ours=lambda: MLNG(n_neighbors=3, random_state=0, n_jobs=1).fit(train, codes),
        peer=peer,
        warm_up=lambda: MLNG(random_state=0).fit(train[:600], codes[:600]),
        check=check,
        limits={"cpu_seconds": 4.0},
    )
