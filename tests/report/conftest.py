"""Comparisons as `vicinal compare` would make them, measured here with scikit-learn alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from scipy.stats import ttest_rel
from sklearn.datasets import load_diabetes, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from vicinal._types import Task
from vicinal.report import Comparison, Example, Exhibit, Neighbor, Row, write_page

KS = (1, 3, 7, 15)


def build_row(**changes: Any) -> Row:
    """A plausible Euclidean row; name what differs."""
    row = Row(
        dataset="letter",
        method="euclidean",
        title="Euclidean",
        k=3,
        errors=(0.048, 0.049, 0.050, 0.049, 0.049),
        error_mean=0.049,
        error_sd=0.0007,
        gain=None,
        p_value=None,
        fit_seconds=0.01,
        fit_cpu_seconds=0.01,
        predict_seconds=0.4,
        predict_cpu_seconds=0.8,
        peak_mb=120.0,
        n_train=16000,
        n_test=4000,
        best=False,
    )
    return replace(row, **changes)


def build_comparison(*rows: Row, **changes: Any) -> Comparison:
    """A comparison on letter made of given rows; name what differs."""
    comparison = Comparison(
        dataset="letter",
        task="classification",
        n_rows=20000,
        n_features=16,
        n_classes=26,
        protocol="stratified 5-fold cross-validation",
        preparation="z-scored",
        seed=0,
        version="0.1.0",
        rows=rows,
    )
    return replace(comparison, **changes)


def build_exhibit(**changes: Any) -> Exhibit:
    """An exhibit with nothing in it; name what differs."""
    exhibit = Exhibit(
        method="mlng",
        title="MLNG",
        k=3,
        map_before=np.empty((0, 2)),
        map_after=np.empty((0, 2)),
        map_targets=np.empty(0),
    )
    return replace(exhibit, **changes)


@dataclass(frozen=True)
class _Space:
    """Training and test rows as one distance sees them, with their targets."""

    train: np.ndarray
    test: np.ndarray
    y_train: np.ndarray
    y_test: np.ndarray
    seconds: float
    components: np.ndarray
    raw: tuple[np.ndarray, np.ndarray]


def _spaces(X: np.ndarray, y: np.ndarray, task: Task) -> dict[str, list[_Space]]:
    """Every fold as plain distance and as linear discriminants (or weights) see it."""
    folds = StratifiedKFold if task == "classification" else KFold
    found: dict[str, list[_Space]] = {"euclidean": [], "lda": []}
    for train, test in folds(5, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        identity, raw = np.eye(X.shape[1]), (X[train], X[test])
        found["euclidean"].append(_Space(A, B, y[train], y[test], 0.0, identity, raw))
        start = time.process_time()
        L = _learn(A, y[train], task)
        seconds = time.process_time() - start
        found["lda"].append(_Space(A @ L.T, B @ L.T, y[train], y[test], seconds, L, raw))
    return found


def _learn(A: np.ndarray, y: np.ndarray, task: Task) -> np.ndarray:
    if task == "regression":
        return np.diag(np.abs(A.T @ (y - y.mean())) / (len(y) * y.std()))
    lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(A, y)
    return np.asarray(lda.scalings_[:, : len(lda.classes_) - 1].T)


def _predict(labels: np.ndarray, task: Task) -> np.ndarray:
    if task == "regression":
        return labels.mean(axis=1)
    return np.array([np.bincount(row).argmax() for row in labels.astype(int)])


def _errors(spaces: list[_Space], k: int, task: Task) -> tuple[float, ...]:
    errors = []
    for space in spaces:
        search = NearestNeighbors(n_neighbors=k).fit(space.train)
        predicted = _predict(space.y_train[search.kneighbors(space.test)[1]], task)
        if task == "classification":
            errors.append(float(np.mean(predicted != space.y_test)))
        else:
            mse = np.mean((predicted - space.y_test) ** 2)
            errors.append(float(mse / space.y_test.var()))
    return tuple(errors)


def _rows(dataset: str, spaces: dict[str, list[_Space]], task: Task) -> list[Row]:
    rows = []
    for k in KS:
        plain = _errors(spaces["euclidean"], k, task)
        learned = _errors(spaces["lda"], k, task)
        for method, title, errors in (("euclidean", "Euclidean", plain), ("lda", "LDA", learned)):
            other = method != "euclidean"
            rows.append(
                build_row(
                    dataset=dataset,
                    method=method,
                    title=title,
                    k=k,
                    errors=errors,
                    error_mean=float(np.mean(errors)),
                    error_sd=float(np.std(errors, ddof=1)),
                    gain=float(np.mean(plain) - np.mean(errors)) if other else None,
                    p_value=float(ttest_rel(plain, errors).pvalue) if other else None,
                    fit_cpu_seconds=float(np.mean([s.seconds for s in spaces[method]])),
                    fit_seconds=float(np.mean([s.seconds for s in spaces[method]])),
                    n_train=len(spaces[method][0].train),
                    n_test=len(spaces[method][0].test),
                )
            )
    least = min(row.error_mean for row in rows)
    return [replace(row, best=row.error_mean == least) for row in rows]


def _neighbors(
    space: _Space, i: int, k: int, names: list[str], values: np.ndarray | None, tolerance: float
) -> tuple[Neighbor, ...]:
    distances, indices = (
        NearestNeighbors(n_neighbors=k).fit(space.train).kneighbors(space.test[i : i + 1])
    )
    return tuple(
        Neighbor(
            row=int(j),
            distance=float(d),
            label=names[j],
            right=bool(np.isclose(space.y_train[j], space.y_test[i], rtol=tolerance)),
            values=() if values is None else tuple(f"{v:.2f}" for v in values[j, :6]),
        )
        for d, j in zip(distances[0], indices[0], strict=True)
    )


def _examples(
    before: _Space, after: _Space, task: Task, features: list[str], shape: tuple[int, int] | None
) -> tuple[Example, ...]:
    k, tolerance = 3, 0.15 if task == "regression" else 0.0
    outcomes = []
    for space in (before, after):
        indices = NearestNeighbors(n_neighbors=k).fit(space.train).kneighbors(space.test)[1]
        outcomes.append(_predict(space.y_train[indices], task))
    wrong = outcomes[0] != before.y_test
    chosen = np.argsort(-(wrong * 2.0 + (outcomes[1] == before.y_test)), kind="stable")[:6]
    names = [f"{value:g}" for value in before.y_train]
    values = None if shape else before.raw[0]
    examples = []
    for i in chosen:
        sides = [_neighbors(s, i, k, names, values, tolerance) for s in (before, after)]
        rows = {n.row for side in sides for n in side}
        examples.append(
            Example(
                row=int(i),
                label=f"{before.y_test[i]:g}",
                before=sides[0],
                after=sides[1],
                predicted_before=f"{outcomes[0][i]:.4g}",
                predicted_after=f"{outcomes[1][i]:.4g}",
                values=tuple(
                    (name, f"{v:.2f}")
                    for name, v in zip(features[:6], before.raw[1][i], strict=False)
                ),
                images={r: before.raw[0][r].reshape(shape) for r in rows} if shape else {},
                query_image=before.raw[1][i].reshape(shape) if shape else None,
            )
        )
    return tuple(examples)


def measure(name: str, data: Any, task: Task, shape: tuple[int, int] | None = None) -> Comparison:
    """A whole comparison on one of scikit-learn's data sets."""
    X, y = np.asarray(data.data, dtype=float), np.asarray(data.target)
    features = [str(feature) for feature in data.feature_names]
    spaces = _spaces(X, y, task)
    before, after = spaces["euclidean"][0], spaces["lda"][0]
    L = after.components
    exhibit = build_exhibit(
        method="lda",
        title="LDA",
        map_before=PCA(2).fit_transform(before.train),
        map_after=after.train[:, :2]
        if task == "classification"
        else PCA(2).fit_transform(after.train),
        map_targets=after.y_train.astype(str) if task == "classification" else after.y_train,
        relevance=(L**2).sum(axis=0),
        feature_names=tuple(features),
        eigenvalues=np.linalg.eigvalsh(L @ L.T)[::-1],
        examples=_examples(before, after, task, features, shape),
        image_shape=shape,
    )
    return build_comparison(
        *_rows(name, spaces, task),
        dataset=name,
        task=task,
        n_rows=X.shape[0],
        n_features=X.shape[1],
        n_classes=len(np.unique(y)) if task == "classification" else 0,
        exhibits=(exhibit,),
        citation="Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, 1998."
        if name == "digits"
        else "",
    )


def _failed(row: Row) -> Row:
    return replace(
        row,
        method="nca",
        title="NCA",
        errors=(),
        error_mean=float("nan"),
        error_sd=float("nan"),
        gain=None,
        p_value=None,
        best=False,
        status="failed",
        message="The optimisation met a singular matrix in fold 2.",
    )


@pytest.fixture(scope="session")
def digits_comparison() -> Comparison:
    """Ten classes of pictures; one method better, one failing, one noted as subsampled."""
    comparison = measure("digits", load_digits(), "classification", shape=(8, 8))
    rows = list(comparison.rows)
    rows[3] = replace(rows[3], notes=("fitted on 1,000 of 1,437 rows",))
    return replace(comparison, rows=(*rows, _failed(rows[0]), _failed(rows[2])))


@pytest.fixture(scope="session")
def wine_comparison() -> Comparison:
    """Three classes of a plain table: values instead of pictures."""
    return measure("wine", load_wine(), "classification")


@pytest.fixture(scope="session")
def diabetes_comparison() -> Comparison:
    """A regression."""
    return measure("diabetes", load_diabetes(), "regression")


def portray(comparison: Comparison) -> Comparison:
    """The same with rows along directions, and beside LDA a method with intervals."""
    (exhibit,) = comparison.exhibits
    values = np.sort(exhibit.eigenvalues)[::-1]
    shown = replace(
        exhibit,
        eigenvalues=values,
        places=exhibit.map_after[:1000],
        targets=exhibit.map_targets[:1000],
        directions=("0.80 width + 0.60 depth", "height"),
    )
    other = replace(
        shown,
        method="egop",
        title="EGOP",
        carries="the mean squared gradient",
        intervals=np.column_stack([0.9 * values, 1.1 * values]),
        n_evaluations=500,
    )
    return replace(comparison, exhibits=(shown, other))


@pytest.fixture(scope="session")
def portrayed_digits_comparison(digits_comparison: Comparison) -> Comparison:
    """Ten classes, with portraits."""
    return portray(digits_comparison)


@pytest.fixture(scope="session")
def portrayed_diabetes_comparison(diabetes_comparison: Comparison) -> Comparison:
    """A regression, with portraits."""
    return portray(diabetes_comparison)


@pytest.fixture
def make_row() -> Callable[..., Row]:
    return build_row


@pytest.fixture
def make_comparison() -> Callable[..., Comparison]:
    return build_comparison


@pytest.fixture
def make_exhibit() -> Callable[..., Exhibit]:
    return build_exhibit


CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def install_chromium() -> str:
    """Try to install Chromium; returns why it is still missing, or nothing."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return "installing it needs root and apt-get"
    wait = ("-o", "DPkg::Lock::Timeout=100")  # another worker may be at it
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (("update", "-qq"), ("install", "-y", "-qq", "chromium")):
        command = ["apt-get", *wait, *step]
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=110, check=False
            )
        except subprocess.TimeoutExpired:
            return f"{' '.join(command)} took too long"
    return "" if find_chromium() else f"apt-get failed: {done.stderr.strip()[-300:]}"


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Where Chromium is, installed when missing and possible."""
    reason = "" if find_chromium() else install_chromium()
    path = find_chromium()
    if path is None:
        pytest.skip(f"there is no Chromium on this machine ({reason})")
    return path


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    """One headless browser for a whole test file; the loop it runs on ends with the file."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@dataclass
class Opened:
    """An open report page and everything it complained about or asked for."""

    page: Page
    complaints: list[str]
    requests: list[str]


@pytest.fixture
def open_report(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Write a comparison's page and open it: ``open_report(comparison, width=390)``."""
    contexts = []

    def open_it(comparison: Comparison, *, width: int = 1200, scheme: Any = "light") -> Opened:
        path = write_page(comparison, tmp_path / "report.html")
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        context.set_default_timeout(10_000)
        opened = Opened(context.new_page(), [], [])
        opened.page.on("console", lambda message: opened.complaints.append(message.text))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.on("request", lambda request: opened.requests.append(request.url))
        opened.page.goto(path.as_uri())
        return opened

    yield open_it
    for context in contexts:
        context.close()
