"""Bad numbers over all public estimators: right results or a ValueError, nothing else.

Right means, for rows or weights in another unit, the neighbours that the plain ones have; for all
else, finite maps and predictions of the right shape.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.decomposition import PCA
from sklearn.utils import get_tags
from tests.conformance.test_estimator_checks import ESTIMATORS
from tests.fuzz._outcomes import Try, Wrong

import vicinal

RANDOM = np.random.default_rng(0)
N, D = 48, 4
y = np.arange(N) % 3
X = RANDOM.normal(size=(N, D)) + 1.5 * y[:, None] * np.array([1.0, 0.5, 0.0, 0.0])
target = 2 * X[:, 0] + 0.1 * RANDOM.normal(size=N)
weight = 1.0 + RANDOM.integers(0, 3, N)
FRAME = pd.DataFrame(X, columns=list("abcd"))


def _with(value: Any, like: Any = X, dtype: Any = None) -> Any:
    changed = np.array(like, dtype=dtype or np.asarray(like).dtype)
    changed.flat[5] = value
    return changed


def _locked(values: Any) -> Any:
    locked = values.copy()
    locked.flags.writeable = False
    return locked


REFUSE, SAME, ANY = "refuse", "same", "any"
Case = tuple[str, Any]

ROWS: dict[str, Case] = {
    "NaN": (REFUSE, _with(np.nan)),
    "inf": (REFUSE, _with(np.inf)),
    "-inf": (REFUSE, _with(-np.inf)),
    "None": (REFUSE, _with(None, dtype=object)),
    "masked": (REFUSE, np.ma.masked_array(X, mask=X > 1)),
    "masked frame of objects": (REFUSE, [np.ma.masked] * N),
    "dates": (REFUSE, (1e6 * X).astype("datetime64[s]")),
    "durations": (REFUSE, (1e6 * X).astype("timedelta64[s]")),
    "dates in a frame": (REFUSE, FRAME.assign(when=pd.Timestamp("2020-01-01"))),
    "dates with a zone": (REFUSE, FRAME.assign(when=pd.Timestamp("2020-01-01", tz="UTC"))),
    "long whole numbers": (REFUSE, np.round(100 * X).astype(np.int64) + 2**60),
    "long unsigned": (REFUSE, np.round(100 * np.abs(X)).astype(np.uint64) + 2**63),
    "long objects": (REFUSE, (np.round(100 * X).astype(np.int64) + 2**60).astype(object)),
    "long nullable": (REFUSE, FRAME.assign(n=pd.array(2**60 + y, dtype="Int64"))),
    "long list": (REFUSE, (np.round(100 * X).astype(np.int64) + 2**60).tolist()),
    "complex": (REFUSE, X + 1j),
    "complex objects": (REFUSE, _with(1j, dtype=object)),
    "names twice": (REFUSE, FRAME.set_axis(list("aabc"), axis=1)),
    "text": (REFUSE, FRAME.astype(object).where(X < 1, "NA")),
    "nullable with NA": (REFUSE, FRAME.convert_dtypes().mask(X > 2)),
    "no rows": (REFUSE, X[:0]),
    "no columns": (REFUSE, X[:, :0]),
    "empty frame": (REFUSE, pd.DataFrame()),
    "one axis": (REFUSE, X[:, 0]),
    "three axes": (REFUSE, X[:, :, None]),
    "a number": (REFUSE, 3.0),
    "nothing": (REFUSE, None),
    "words": (REFUSE, "rows"),
    "ragged": (REFUSE, [[1.0, 2.0], [1.0]] * (N // 2)),
    "records": (REFUSE, np.zeros(N, [("a", float), ("b", float)])),
    "sparse NaN": (REFUSE, sparse.csr_matrix(_with(np.nan))),
    "fewer rows than targets": (REFUSE, X[:-1]),
    "longdouble": (ANY, X.astype(np.longdouble)),
    "huge longdouble": (REFUSE, X.astype(np.longdouble) * np.longdouble("1e4000")),
    "nullable": (SAME, FRAME.astype("Float64")),
    "fortran": (SAME, np.asfortranarray(X)),
    "big endian": (SAME, X.astype(">f8")),
    "strided": (SAME, np.repeat(X, 2, axis=1)[:, ::2]),
    "backwards": (SAME, X[::-1, ::-1].copy()[::-1, ::-1]),
    "read only": (SAME, _locked(X)),
    "list": (SAME, X.tolist()),
    "objects": (SAME, X.astype(object)),
    "bytes": (ANY, np.clip(np.round(40 * X), -128, 127).astype(np.int8)),
    "unsigned": (ANY, np.abs(np.round(40 * X)).astype(np.uint8)),
    "one row": (ANY, X[:1]),
    "two rows": (ANY, X[:2]),
    "two rows alike": (ANY, np.ones((2, D))),
    "three rows": (ANY, X[:3]),
    "too long": (REFUSE, np.full((N, D), 10**400, dtype=object)),
    "decimals": (ANY, np.array([[Decimal(float(v)) for v in row] for row in X], dtype=object)),
    "half": (ANY, X.astype(np.float16)),
    "boolean": (ANY, X > 0),
    "sparse": (ANY, sparse.csr_matrix(X)),
    "sparse frame": (ANY, FRAME.astype(pd.SparseDtype(float))),
    "numbers as text": (ANY, X.astype(str)),
    "denormal": (ANY, X * 5e-324),
    "denormal column": (ANY, X * [1, 1, 1, 1e-320]),
    "1e308": (ANY, _with(1.7e308)),
    "-1e308": (ANY, _with(-1.7e308)),
    "huge column": (ANY, X * [1, 1, 1, 1e200]),
    "large column": (ANY, X * [1, 1, 1, 1e70]),
    "small column": (ANY, X * [1, 1, 1, 1e-70]),
    "huge outlier": (ANY, _with(1e74)),
    "constant column": (ANY, X * [1, 1, 1, 0]),
    "constant large column": (ANY, X * [1, 1, 1, 0] + [0, 0, 0, 1e60]),
    "all alike": (ANY, np.ones_like(X)),
    "all zero": (ANY, np.zeros_like(X)),
    "one column": (ANY, X[:, :1]),
    "every row twice": (ANY, np.repeat(X[: N // 2], 2, axis=0)),
    "two places": (ANY, np.repeat(X[:2], N // 2, axis=0)),
    "columns alike": (ANY, np.repeat(X[:, :1], 4, axis=1)),
    "more columns than rows": (ANY, np.tile(X, (1, 20))),
    "far away": (ANY, X + 1e9),
    "farther away": (ANY, X + 1e15),
}
ROWS |= {f"times 1e{e:+d}": (SAME, X * 2.0 ** round(e / np.log10(2)))
         for e in (-300, -150, -77, -70, -60, -30, -20, 20, 30, 60, 70, 77, 150, 300)}  # fmt: skip
ROWS |= {f"float32 times 1e{e:+d}": (ANY, (X * 10.0**e).astype(np.float32))
         for e in (-44, -38, -30, -20, -10, 10, 20, 30, 37)}  # fmt: skip

_objects = np.array(["a", "b", "c"], dtype=object)[y]
CLASSES: dict[str, Case] = {
    "NaN": (REFUSE, _with(np.nan, y, float)),
    "None": (REFUSE, _with(None, _objects)),
    "all None": (REFUSE, np.full(N, None)),
    "None among numbers": (REFUSE, _with(None, y, object)),
    "mixed": (REFUSE, _with(1, _objects)),
    "NaN among names": (REFUSE, _with(np.nan, _objects)),
    "masked": (REFUSE, np.ma.masked_array(y, mask=y == 1)),
    "sparse": (REFUSE, sparse.csr_matrix(y[:, None])),
    "complex": (REFUSE, y + 1j),
    "NA": (REFUSE, pd.array(_with(None, y, object), dtype="Int64")),
    "NA among names": (REFUSE, pd.array(_with(None, _objects), dtype="string")),
    "missing category": (REFUSE, pd.Series(_with(None, _objects), dtype="category")),
    "numbers": (REFUSE, target),
    "two columns": (REFUSE, np.column_stack([y, y])),
    "too short": (REFUSE, y[:-1]),
    "nobody": (REFUSE, y[:0]),
    "a number": (REFUSE, 1),
    "nothing": (REFUSE, None),
    "lists": (REFUSE, [[1, 2]] * N),
    "one class": (ANY, np.zeros(N, int)),
    "a class a row": (ANY, np.arange(N)),
    "one row of a class": (ANY, np.r_[2, y[1:] % 2]),
    "long classes": (SAME, 2**60 + y),
    "boolean": (ANY, y > 0),
    "names": (SAME, _objects),
    "categories": (SAME, pd.Series(_objects, dtype="category")),
    "strings": (ANY, pd.array(_objects, dtype="string")),
    "bytes": (ANY, np.array([b"a", b"b", b"c"])[y]),
    "nullable": (ANY, pd.array(y, dtype="Int64")),
    "dates": (ANY, (y * 10**6).astype("datetime64[s]")),
}
NUMBERS: dict[str, Case] = {
    "NaN": (REFUSE, _with(np.nan, target)),
    "inf": (REFUSE, _with(np.inf, target)),
    "None": (REFUSE, _with(None, target, object)),
    "masked": (REFUSE, np.ma.masked_array(target, mask=target > 1)),
    "sparse": (REFUSE, sparse.csr_matrix(target[:, None])),
    "complex": (REFUSE, target + 1j),
    "dates": (REFUSE, (1e6 * target).astype("datetime64[s]")),
    "durations": (REFUSE, (1e6 * target).astype("timedelta64[s]")),
    "date series": (REFUSE, pd.Series((1e6 * target).astype("datetime64[s]"))),
    "names": (REFUSE, _objects),
    "NA": (REFUSE, pd.array(_with(None, target, object), dtype="Float64")),
    "long whole numbers": (REFUSE, 2**60 + np.arange(N)),
    "too short": (REFUSE, target[:-1]),
    "nobody": (REFUSE, target[:0]),
    "a number": (REFUSE, 1.0),
    "nothing": (REFUSE, None),
    "three axes": (REFUSE, np.zeros((N, 1, 2))),
    "two columns": (ANY, np.column_stack([target, -target])),
    "constant": (ANY, np.ones(N)),
    "zero": (ANY, np.zeros(N)),
    "1e308": (ANY, _with(1.7e308, target)),
    "denormal": (ANY, target * 5e-324),
    "whole": (ANY, np.round(target).astype(int)),
    "boolean": (ANY, y > 0),
    "nullable": (ANY, pd.array(target, dtype="Float64")),
    "an outlier": (ANY, _with(1e70, target)),
}
NUMBERS |= {f"times 1e{e:+d}": (SAME, target * 2.0 ** round(e / np.log10(2)))
            for e in (-300, -150, -77, -70, -30, 30, 70, 77, 150, 300)}  # fmt: skip
WEIGHTS: dict[str, Case] = {
    "negative": (REFUSE, _with(-1.0, weight)),
    "all zero": (REFUSE, np.zeros(N)),
    "NaN": (REFUSE, _with(np.nan, weight)),
    "inf": (REFUSE, _with(np.inf, weight)),
    "complex": (REFUSE, weight + 1j),
    "None": (REFUSE, _with(None, weight, object)),
    "words": (REFUSE, _objects),
    "masked": (REFUSE, np.ma.masked_array(weight, mask=weight > 1)),
    "dates": (REFUSE, weight.astype("datetime64[s]")),
    "too short": (REFUSE, weight[:-1]),
    "two columns": (REFUSE, np.column_stack([weight, weight])),
    "NA": (REFUSE, pd.array(_with(None, weight, object), dtype="Float64")),
    "sparse": (REFUSE, sparse.csr_matrix(weight[:, None])),
    "some zero": (ANY, np.where(y == 0, 0.0, 1.0)),
    "one alone": (ANY, np.eye(1, N)[0]),
    "one huge": (ANY, _with(1e300, weight)),
    "far apart": (ANY, 10.0 ** np.linspace(-300, 300, N)),
    "plain": (SAME, weight),
}
WEIGHTS |= {f"times 1e{e:+d}": (SAME, weight * 2.0 ** round(e / np.log10(2)))
            for e in (-320, -300, -150, 30, 150, 307)}  # fmt: skip


def estimators() -> Iterator[tuple[str, Any]]:
    """Yield every public estimator, quick, and searches by other indexes."""
    yield from (
        (f"{type(e).__name__}", e)
        for e in ESTIMATORS
        # Its divisions are scikit-learn's, and so are their warnings.
        if not isinstance(getattr(e, "metric", None), PCA)
    )
    yield "KNNClassifier, faiss", vicinal.KNNClassifier(3, index="faiss")
    yield "KNNRegressor, faiss", vicinal.KNNRegressor(3, index="faiss", weights="distance")
    yield "KNNRegressor, MLKR", vicinal.KNNRegressor(3, metric=vicinal.MLKR(max_iter=3))
    yield "NearestNeighbors, sparse", _Sparse(3)
    yield "KNNClassifier, distance", vicinal.KNNClassifier(3, weights="distance")
    yield "KNNClassifier, softmax", vicinal.KNNClassifier(3, weights="softmax")
    yield "KNNRegressor, softmax", vicinal.KNNRegressor(3, weights="softmax")
    yield "KNNClassifier, all rows", vicinal.KNNClassifier(N, weights="distance")
    yield "KNNRegressor, all rows", vicinal.KNNRegressor(N)
    yield "KNNClassifier, one", vicinal.KNNClassifier(1)
    yield "KNNRegressor, one", vicinal.KNNRegressor(1, weights="distance")
    yield "RadiusClassifier, far", vicinal.RadiusClassifier(1e9)
    yield "RadiusRegressor, far", vicinal.RadiusRegressor(1e9)
    yield (
        "KNNClassifier, HammingMLNG",
        vicinal.KNNClassifier(3, metric=vicinal.HammingMLNG(n_bits=16, max_iter=2, margin=2.0)),
    )
    yield (
        "KNNRegressor, GradientDiffusionMap",
        vicinal.KNNRegressor(3, metric=vicinal.GradientDiffusionMap()),
    )
    yield "MeanMetric, MLNG", vicinal.MeanMetric(vicinal.MLNG(max_iter=2), n_starts=2)
    yield "LocalLinearRegressor, 20", vicinal.LocalLinearRegressor(20)
    yield from compat_estimators()


class _Sparse(vicinal.NearestNeighbors):
    """Searches among the same rows as sparse ones."""

    def fit(self, X: Any, y: Any = None) -> Any:
        return super().fit(sparse.csr_matrix(X) if isinstance(X, np.ndarray) else X)


def compat_estimators() -> Iterator[tuple[str, Any]]:
    """Yield the learners of points that another library's names stand for."""
    import vicinal.compat.metric_learn as peers

    for name in peers.__all__:
        kind = getattr(peers, name)
        quick = {
            "max_iter": 5, "random_state": 0, "n_constraints": 20, "n_chunks": 5, "batch_size": 5,
            "balance_param": 0.01, "output_iter": 5,
        }  # fmt: skip
        if name.endswith("_Supervised") or name in ("LFDA", "LMNN", "MLKR", "NCA", "Covariance"):
            known = inspect.signature(kind).parameters
            yield f"compat {name}", kind(**{n: v for n, v in quick.items() if n in known})


def cases(random: np.random.Generator) -> Iterator[Try]:
    """Yield all tries once, in random order, so that some seconds see a bit of all."""
    plain = [_Plain(name, estimator) for name, estimator in estimators()]
    tries = [
        Try(f"{each.name}, {kind} {case}", each.trying(kind, expected, value))
        for each in plain
        for kind, table in each.tables()
        for case, (expected, value) in table.items()
    ]
    return (tries[number] for number in random.permutation(len(tries)))


class _Plain:
    """An estimator, and its neighbours on the plain rows (found when first asked for)."""

    def __init__(self, name: str, estimator: Any) -> None:
        self.name, self.estimator = name, clone(estimator)
        names = [n for n in estimator.get_params() if n.split("__")[-1] == "random_state"]
        self.estimator.set_params(**dict.fromkeys(names, 0))
        tags = get_tags(estimator)
        numeric = is_regressor(estimator) or "MLKR" in name or "RegressionMLNG" in name
        numeric |= name in ("EGOP", "GradientDiffusionMap")
        self.y = target if numeric else y
        self.targets = NUMBERS if numeric else CLASSES
        if name.partition(",")[0] in ("AutoMetric", "ReliefF", "GradientWeights", "MeanMetric"):
            self.targets = {n: c for n, c in CLASSES.items() if n != "numbers"}
        if name == "GradientDiffusionMap":
            self.targets = {
                n: c for n, c in NUMBERS.items() if n not in ("names", "long whole numbers")
            }
        # Learners of rows alone ignore y, however it is.
        self.needs_y = tags.target_tags.required
        # Names of another library keep its units: a step of 1e-7, say, is one in the user's unit.
        # So does the penalty of a classifier.
        self.has_unit = name.startswith("compat") or name == "ClassifierCodes"
        self.known: dict[bool, Any] = {}

    def tables(self) -> Iterator[tuple[str, dict[str, Case]]]:
        yield "X", ROWS if self.needs_y else {n: c for n, c in ROWS.items() if "targets" not in n}
        yield (
            "queries",
            {n: c for n, c in ROWS.items() if n not in ("nothing", "fewer rows than targets")},
        )
        if self.needs_y:
            yield "y", self.targets
        if "sample_weight" in inspect.signature(self.estimator.fit).parameters:
            yield "weights", WEIGHTS

    def trying(self, kind: str, expected: str, value: Any) -> Callable[[], str]:
        def run() -> str:
            try:
                found = self.found(kind, value)
            except ValueError:
                return "refused"
            except RuntimeError as error:
                if self.has_unit and "SDML" in str(error):
                    return "refused by another library's RuntimeError"
                raise
            except TypeError as error:
                if is_scikit_learns(error):
                    return "refused by scikit-learn's TypeError"
                raise
            return self.judge(kind, expected, value, found)

        return run

    def found(self, kind: str, value: Any) -> Any:
        model = clone(self.estimator)
        if kind == "X":
            # Rows and targets of one length, where the number of rows is what is tried.
            n = len(value) if isinstance(value, np.ndarray) and len(value) in (1, 2, 3) else N
            return _ask(model.fit(value, self.y[:n]), value)
        if kind == "queries":
            return _ask(model.fit(X, self.y), value)
        if kind == "y":
            return _ask(model.fit(X, value), X)
        return _ask(model.fit(X, self.y, sample_weight=value), X)

    def judge(self, kind: str, expected: str, value: Any, found: Any) -> str:
        if expected == REFUSE:
            raise Wrong("taken for numbers")
        for output in found:
            if output.dtype.kind == "f" and not np.isfinite(output).all():
                raise Wrong("results that are not finite")
        if expected == ANY or kind == "queries" or (self.has_unit and kind == "X"):
            return "right"
        if not np.array_equal(found[0], self.plain(kind == "weights")[0]):
            error = np.mean(found[0] != self.plain(kind == "weights")[0])
            raise Wrong(f"{error:.0%} of the neighbours are others")
        return "right"

    def plain(self, weighted: bool) -> Any:
        if weighted not in self.known:
            more = {"sample_weight": weight} if weighted else {}
            self.known[weighted] = _ask(clone(self.estimator).fit(X, self.y, **more), X)
        return self.known[weighted]


def _ask(model: Any, rows: Any) -> tuple[Any, ...]:
    """Return the neighbours of rows among themselves, and what else the model tells of them."""
    if hasattr(model, "transform"):
        mapped = np.asarray(model.transform(rows))
        outputs: tuple[Any, ...] = (_nearest(mapped), mapped)
        if hasattr(model, "components_"):
            outputs += (np.asarray(model.components_),)
        return outputs
    found = [model.predict(rows)] if hasattr(model, "predict") else []
    if hasattr(model, "predict_proba"):
        found.append(model.predict_proba(rows))
    if hasattr(model, "kneighbors"):
        distances, rows_found = model.kneighbors(rows)
        found = [rows_found, distances, *found]
    return tuple(np.asarray(f) for f in found)


def _nearest(mapped: Any) -> Any:
    """Return the nearest other row of each, by plain arithmetic in the rows' own unit."""
    mapped = np.asarray(mapped, dtype=np.longdouble)
    size = np.abs(mapped).max(initial=0)
    mapped = mapped / (size or 1)
    squared = ((mapped[:, None] - mapped[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    return np.argsort(squared, axis=1, kind="stable")[:, :1]


def is_scikit_learns(error: TypeError) -> bool:
    trace = error.__traceback__
    files = []
    while trace is not None:
        files.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    return any("sklearn" in file for file in files[-8:])
