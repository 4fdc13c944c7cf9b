"""Bad pairs, triplets, quadruplets and chunks for the learners that take them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.fuzz.calls import Call, Outputs, spoil
from tests.fuzz.numbers import ANY, REFUSE, SAME, Case, N, X, y

import vicinal
import vicinal.compat.metric_learn as peers

RANDOM = np.random.default_rng(1)


PAIRS = np.stack([X[:40], X[2:42]], axis=1)
SIGNS = np.where(y[:40] == y[2:42], 1, -1)
SIGNS[::3] = 1
TRIPLETS = np.stack([X[:40], X[3:43], X[4:44]], axis=1)
QUADRUPLETS = np.stack([X[:40], X[3:43], X[:40], X[4:44]], axis=1)


def calls() -> Iterator[Call]:
    """Yield fits by tuples, and by chunks."""
    learners: list[tuple[str, str, Any]] = [
        ("ITML", "fit_pairs", vicinal.ITML(max_iter=20)),
        ("ITML, covariance", "fit_pairs", vicinal.ITML(prior="covariance", max_iter=20)),
        ("MMC", "fit_pairs", vicinal.MMC(max_iter=20)),
        ("MMC, diagonal", "fit_pairs", vicinal.MMC(diagonal=True, max_iter=20)),
        ("SDML", "fit_pairs", vicinal.SDML()),
        ("SCML", "fit_triplets", vicinal.SCML(20, max_iter=50, random_state=0)),
        ("LSML", "fit_quadruplets", vicinal.LSML(max_iter=20)),
        ("compat ITML", "fit", peers.ITML(max_iter=20)),
        ("compat MMC", "fit", peers.MMC(max_iter=20)),
        ("compat MMC, diagonal", "fit", peers.MMC(max_iter=20, diagonal=True)),
        ("compat SDML", "fit", peers.SDML(balance_param=0.01)),
        ("compat SDML, covariance", "fit", peers.SDML(prior="covariance")),
        ("compat SCML", "fit", peers.SCML(max_iter=50, output_iter=5, random_state=0)),
        ("compat LSML", "fit", peers.LSML(max_iter=20)),
        ("compat LSML, covariance", "fit", peers.LSML(max_iter=20, prior="covariance")),
    ]
    for name, verb, learner in learners:
        yield _tuple_call(name, verb, learner)
    yield from _chunks()


def _tuple_call(name: str, verb: str, learner: Any) -> Call:
    from sklearn.base import clone

    kind = name.partition(",")[0].removeprefix("compat ")
    plain = {"SCML": TRIPLETS, "LSML": QUADRUPLETS}.get(kind, PAIRS)
    labels = SIGNS if plain is PAIRS else None

    def run(tuples: Any, labels: Any, asked: Any, weights: Any) -> Outputs:
        model = clone(learner)
        few = isinstance(tuples, np.ndarray) and tuples.ndim == 3 and len(tuples) < len(plain)
        given = [labels[: len(tuples)] if few else labels] if plain is PAIRS else []
        more = {} if weights is None else {"weights" if verb == "fit" else "sample_weight": weights}
        getattr(model, verb)(tuples, *given, **more)
        outputs: Outputs = (model.components_, model.pair_distance(asked))
        if hasattr(model, "predict"):
            asked_all = np.concatenate([asked] * (plain.shape[1] // 2 + 1), axis=1)
            outputs += (model.predict(asked_all[:, : plain.shape[1]]),)
        return outputs

    signs = {n: (REFUSE, v) for n, (_, v) in spoil(SIGNS.astype(float)).items()
             if n not in ("fortran", "backwards", "read only", "big endian", "list", "objects",
                          "half", "single", "pairs alike", "an axis more")}  # fmt: skip
    signs |= {"all alike": (ANY, 0 * SIGNS + 1), "none alike": (ANY, 0 * SIGNS - 1),
              "classes": (REFUSE, y[:40]), "zero and one": (REFUSE, (SIGNS + 1) // 2),
              "bytes": (SAME, SIGNS.astype(np.int8))}  # fmt: skip
    weights = {
        n: (REFUSE, v)
        for n, (_, v) in spoil(1 + np.arange(40.0)).items()
        if n
        in (
            "NaN",
            "inf",
            "-inf",
            "None",
            "text",
            "all complex",
            "masked",
            "dates",
            "durations",
            "words",
            "all zero",
            "one",
            "two",
            "-1e308",
            "no entries",
        )
    }
    weights |= {f"times 1e{e}": (ANY, (1 + np.arange(40.0)) * 10.0**e) for e in (-300, 300)}
    return Call(
        f"{name}.{verb}", run, tuples=(plain, spoil(plain)),
        labels=(labels, signs if labels is not None else {}), asked=(PAIRS, _far(spoil(PAIRS))),
        weights=(None, weights if kind == "LSML" else {}),
    )  # fmt: skip


def _far(table: dict[str, Case]) -> dict[str, Case]:
    """Return the disguises whose answers may be asked for as arrays."""
    return {n: c for n, c in table.items() if isinstance(c[1], np.ndarray) and c[1].ndim == 3}


def _chunks() -> Iterator[Call]:
    chunks = np.where(np.arange(N) % 4 == 3, -1, y)
    numbers = {n: (REFUSE, v) for n, (_, v) in spoil(chunks.astype(float)).items()}
    numbers |= {
        "huge": (ANY, chunks * 2**60),
        "long whole numbers": (ANY, 2**60 + y),
        "none": (REFUSE, 0 * chunks - 1),
        "each its own": (REFUSE, np.arange(N)),
        "unsigned": (ANY, y.astype(np.uint8)),
        "list": (SAME, chunks.tolist()),
        "beyond": (ANY, y.astype(np.uint64) + 2**63),
        "bytes": (SAME, chunks.astype(np.int8)),
        "least": (ANY, np.where(y == 2, -(2**63), y)),
    }

    def own(rows: Any, chunks: Any) -> Outputs:
        few = isinstance(rows, np.ndarray) and rows.ndim == 2 and len(rows) < N
        fitted = vicinal.RCA().fit_chunks(rows, chunks[: len(rows)] if few else chunks)
        return fitted.components_, fitted.transform(X)

    def other(rows: Any, chunks: Any) -> Outputs:
        few = isinstance(rows, np.ndarray) and rows.ndim == 2 and len(rows) < N
        fitted = peers.RCA().fit(rows, chunks[: len(rows)] if few else chunks)
        return fitted.components_, fitted.transform(X)

    yield Call("RCA.fit_chunks", own, rows=(X, spoil(X)), chunks=(chunks, numbers))
    lenient = {n: (ANY if n in (
                                "backwards", "fortran", "read only", "big endian", "objects",
                                "half",
                                "single", "all zero", "all alike", "boolean", "an axis more",
                                "pairs alike", "far away", "farther away", "list") else e, v)
               for n, (e, v) in numbers.items()}  # fmt: skip
    yield Call("compat RCA.fit", other, rows=(X, spoil(X)), chunks=(chunks, lenient))
