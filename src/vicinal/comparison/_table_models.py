"""One model over a table: from columns to predictions, with an honest figure for its error."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from vicinal._types import AnyArray, FloatArray, IntArray, Task
from vicinal.comparison._execute import fixed_seeds, noted, quiet
from vicinal.comparison._relevance import relevance_of
from vicinal.comparison._rows import choose_scale
from vicinal.comparison._scoring import prediction_error
from vicinal.comparison._sources import find_source
from vicinal.data import (
    ALL,
    Dependence,
    Imputer,
    Preparation,
    Roles,
    TableParts,
    are_unit_vectors,
    dataset_frame,
    encode_parts,
    inner_split,
    load_dataset,
    read_raw,
    recognise_columns,
    require_target,
    take_parts,
)
from vicinal.methods import EUCLIDEAN, Method, get_method, make_learner
from vicinal.models import check_storable
from vicinal.predict import KNNClassifier, KNNRegressor
from vicinal.report import maps_linearly, sum_by_column
from vicinal.runs import Elapsed, Stopwatch

if TYPE_CHECKING:
    import pandas as pd


HELD_OUT = 0.25
DEFAULT_METHODS: dict[Task, str] = {"classification": "auto", "regression": "auto"}


@dataclass(frozen=True)
class TableRows:
    """Rows as a user has them: a table taken apart, and what is known of its target.

    ``read`` says that they come from a file of the user's own.
    """

    name: str
    parts: TableParts
    target_name: str
    task: Task | None = None
    read: bool = False

    @property
    def features(self) -> pd.DataFrame:
        """The columns beside the target."""
        return self.parts.features

    @property
    def target(self) -> pd.Series | None:
        """The column to predict, where there is one."""
        return self.parts.target


@dataclass(frozen=True)
class FittedTable:
    """A pipeline fitted on all rows, and what was found out about it.

    ``error`` is measured on a quarter of the rows by a model fitted on the others, never by
    the model itself; None where that could not be done (``notes`` then says why). ``scale`` is how
    features were scaled.
    ``plain_error`` is that of the Euclidean distance on the same rows.
    """

    model: Pipeline
    method: str
    task: Task
    error: float | None
    plain_error: float | None
    n_held_out: int
    fit: Elapsed
    relevance: tuple[tuple[str, float], ...]
    notes: tuple[str, ...]
    scale: str = "zscore"


def read_training_rows(
    data: str,
    target: str | None = None,
    *,
    task: str | None = None,
    split: str = "all",
    roles: Roles | None = None,
) -> TableRows:
    """Return the rows of a known data set or a file, with the target that must be there."""
    source = find_source(data, target=target, task=task, roles=roles)
    if source.path is None:
        return _known_rows(data, split)
    refuse_split(split)
    roles = roles or Roles()
    name = require_target(source.path, target, roles.sheet)
    table = read_raw(source.path, target=name, sheet=roles.sheet)
    parts = take_parts(table, name, roles, source.path)
    return TableRows(source.name, parts, name, cast("Task | None", task), read=True)


def read_new_rows(
    data: str,
    target: str,
    split: str = "all",
    text_columns: Collection[str] = (),
    id: str | None = None,
    missing: Collection[str] = (),
    sheet: str | None = None,
) -> TableRows:
    """Return rows to predict; their target, and the column that names them, may be absent."""
    source = find_source(data)
    if source.path is None:
        return _known_rows(data, split)
    refuse_split(split)
    table = read_raw(source.path, target=target, text_columns=text_columns, sheet=sheet)
    roles = Roles(id=id if id in table.frame.columns else None, missing=tuple(missing))
    parts = take_parts(table, target, roles, source.path, needs_target=False)
    return TableRows(source.name, parts, target, read=True)


def refuse_split(split: str) -> None:
    """A file has no official split to choose from."""
    if split != "all":
        raise ValueError(
            f"a part of the rows (split) is for known data sets; {split!r} of a file is not known."
        )


def _known_rows(data: str, split: str) -> TableRows:
    if split not in ("all", "train", "test"):
        raise ValueError(f"the part of the rows (split) must be all, train or test; got {split!r}.")
    dataset = load_dataset(data, None if split == "all" else split)
    features, column = dataset_frame(dataset)
    reading = recognise_columns(features, keep=ALL)
    parts = TableParts(features, reading, column, groups=dataset.groups)
    return TableRows(data, parts, str(column.name), dataset.task)


def make_predictor(
    method: Method,
    task: Task,
    *,
    k: int,
    scale: str = "zscore",
    n_components: int | None = None,
    blocks: IntArray | None = None,
    deviations: FloatArray | None = None,
    seed: int = 0,
    unit: bool = False,
) -> Pipeline:
    """Return the unfitted steps after the encoder: holes filled, scaled, neighbours asked.

    ``blocks`` (see :class:`~vicinal.data.Imputer`) is None where there is nothing to fill,
    ``deviations`` (see :class:`~vicinal.data.Preparation`) where all are learned. ``unit`` says
    that rows are of unit length.
    """
    if task not in method.tasks:
        raise ValueError(f"the method {method.name} is not made for {task}.")
    if method.reference:
        raise ValueError(f"{method.name} asks no neighbours; a model file needs a metric.")
    kind = KNNClassifier if task == "classification" else KNNRegressor
    chosen = {"n_neighbors": "auto", "weights": "auto"}
    how: dict[str, Any] = chosen if method.chooses_vote else {"n_neighbors": k}
    preparation = Preparation(cast("Any", scale), n_components, deviations=deviations)
    steps: list[tuple[str, Any]] = [
        ("prepare", preparation),
        ("neighbors", kind(metric=make_learner(method, task, k=k, seed=seed, unit=unit), **how)),
    ]
    return Pipeline(steps if blocks is None else [("impute", Imputer(blocks)), *steps])


def fit_table(
    rows: TableRows, method_name: str | None = None, *, impute: bool = False, seed: int = 0,
    check: bool = True, **options: Any,
) -> FittedTable:  # fmt: skip
    """Fit a method on all rows, and measure it on held-out ones beside the plain distance.

    Parameters
    ----------
    rows : TableRows
    method_name : str, optional
        By default ``DEFAULT_METHODS``' for the task.
    impute, seed
        As in ``vicinal fit``.
    check : bool
        Measure the error on held-out rows, which costs a second fit.
    **options
        ``k``, ``scale`` and ``n_components`` of :func:`make_predictor`; the scale "auto" is "none"
        for rows of unit length.

    Raises
    ------
    ValueError
        For rows, a method or numbers that do not go together.
    """
    table = encode_parts(rows.parts, rows.task, impute=impute)
    task, X, encoder, dependence = table.task, table.X, table.encoder, table.dependence
    labels = np.array(table.classes)[table.y] if table.classes else table.y
    scale, embedded = choose_scale(options.get("scale", "auto"), X)
    unit = scale == "none" and options.get("n_components") is None and are_unit_vectors(X)
    options |= {
        "scale": scale,
        "unit": unit,
        "blocks": encoder.blocks_ if impute else None,
        "seed": seed,
    }
    options |= {"deviations": None if np.isnan(encoder.deviations_).all() else encoder.deviations_}
    method = get_method(method_name or DEFAULT_METHODS[task])
    learned = make_predictor(method, task, **options)
    plain = make_predictor(get_method(EUCLIDEAN), task, **options)
    check_storable(learned)
    with fixed_seeds(seed), noted() as notes:
        watch = Stopwatch()
        learned.fit(X, labels)
        fit = watch.read()
    held = HeldOutErrors((None, None), 0)
    if check:
        held = hold_out((learned, plain), X, labels, task, dependence, seed)
    model = Pipeline([("columns", encoder), *learned.steps])
    return FittedTable(
        model=model,
        method=method.name,
        task=task,
        error=held.errors[0],
        plain_error=held.errors[1],
        n_held_out=held.n_rows,
        fit=fit,
        relevance=tuple(feature_relevance(model, X)),
        # A known data set has nothing to say of how it was read.
        notes=(*(table.notes if rows.read else ()), *embedded, *notes, *held.notes),
        scale=scale,
    )


@dataclass(frozen=True)
class HeldOutErrors:
    """Errors on rows that took no part in the fit; None where they could not be measured."""

    errors: tuple[float | None, ...]
    n_rows: int
    notes: tuple[str, ...] = ()


def hold_out(
    models: tuple[Pipeline, ...], X: FloatArray, labels: AnyArray, task: Task,
    dependence: Dependence, seed: int = 0,
) -> HeldOutErrors:  # fmt: skip
    """Fit copies on three quarters of the rows and return their errors on the last one."""
    try:
        groups = dependence.groups
        times = dependence.times if dependence.protocol == "time" else None
        fold = inner_split(
            labels, test_size=HELD_OUT, seed=seed, groups=groups, times=times, task=task
        )
        with quiet():  # the fit on all rows has said it already
            fitted = [clone(model).fit(X[fold.train], labels[fold.train]) for model in models]
        predicted = [model.predict(X[fold.test]) for model in fitted]
        errors = [prediction_error(each, labels[fold.test], task) for each in predicted]
    except ValueError as error:
        return HeldOutErrors((None,) * len(models), 0, (f"no error on held-out rows: {error}",))
    return HeldOutErrors(tuple(errors), len(fold.test))


def feature_relevance(model: Pipeline, X: FloatArray) -> list[tuple[str, float]]:
    """Return each column's share in the learned squared distance, largest first.

    Empty where the distance is the plain one or not linear.
    """
    metric, prepare = model[-1].metric_, model["prepare"]
    filled = model["impute"].transform(X) if "impute" in model.named_steps else X
    if not maps_linearly(metric, prepare.transform(filled[:16])):
        return []
    shares, names = sum_by_column(
        relevance_of(metric.components_, prepare, filled), model["columns"].feature_columns
    )
    return [(names[j], float(shares[j])) for j in np.argsort(-shares, kind="stable")]
