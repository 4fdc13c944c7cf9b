"""What the parts of a model read from a file must agree on before it may be asked anything.

A damaged or edited file is refused while it is loaded, in words, instead of failing at the first
prediction or, worse, giving one: votes and searches are compiled and count without looking.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder
from sklearn.utils.validation import check_is_fitted

from vicinal._types import AnyArray
from vicinal.data.tables import TableEncoder
from vicinal.index import BinaryIndex
from vicinal.metric import MetricLearner
from vicinal.models._neural import check_neural
from vicinal.neural import NeuralMetric
from vicinal.predict import NeighborsPredictor
from vicinal.rows import name_columns


def check_state(kind: type, state: dict[str, Any]) -> None:
    """Refuse attributes that would stand in front of a method or a property of the type."""
    for name in state:
        inherited = getattr(kind, name, None)
        if callable(inherited) or isinstance(inherited, property):
            raise ValueError(f"it sets {name[:80]!r}, which {kind.__name__} has as a method")
    if kind is FunctionTransformer and any(state.get(f) is not None for f in _FUNCTIONS):
        raise ValueError("it holds a function")


_FUNCTIONS = ("func", "inverse_func")


# The parts faiss' factory may name here, each with a size, and settings of a search behind them.
_PARTS = "Flat|IVF|HNSW|NSG|PQ|SQ|LSH|PCA|PCAR|OPQ|RR|ITQ|L2norm|IDMap|Refine|RFlat|FS"
_FACTORY = re.compile(
    rf"(?:(?:{_PARTS})[0-9]*(?:[x_][0-9]+)?(?:fsr?|bit|r|t)?[,_()]*)+(?:;[A-Za-z_]+=[0-9]+)*"
)
_USUAL_SIZE = 1024  # of a part's own number (links, bits, dimensions), whatever the rows


def check_index_arguments(arguments: dict[str, Any]) -> None:
    """Refuse to build an index of faiss from unknown parts, or larger than its rows."""
    if "factory" not in arguments:
        return
    factory, vectors = arguments["factory"], arguments.get("vectors")
    plain = isinstance(factory, str) and len(factory) <= 64 and _FACTORY.fullmatch(factory)
    most = max(len(vectors), _USUAL_SIZE) if isinstance(vectors, np.ndarray) else _USUAL_SIZE
    if not plain or any(int(number) > most for number in re.findall("[0-9]+", factory)):
        raise ValueError(f"no index is built from {factory!r:.80}")


def check_loaded(estimator: Any) -> None:
    """Refuse an estimator whose parts do not go together.

    Raises
    ------
    ValueError
        Saying which part it is.
    """
    if isinstance(estimator, TableEncoder):
        _check_encoder(estimator)
    if isinstance(estimator, Pipeline):
        _check_pipeline(estimator)
    if isinstance(estimator, MetricLearner):
        _check_learner(estimator)
    if isinstance(estimator, NeighborsPredictor) and hasattr(estimator, "_index"):
        _check_predictor(estimator)


_MOST_FEATURES = 10**7


def check_answers(model: Any) -> None:
    """Refuse a model that cannot answer: parts of it are not what they were.

    Raises
    ------
    ValueError
        Saying what happened.
    """
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"it holds a {type(model).__name__}, not a model")
    check_is_fitted(model)
    first = model.steps[0][1] if isinstance(model, Pipeline) else model
    if not isinstance(first, TableEncoder):
        _ask(model, getattr(first, "n_features_in_", None))
    elif first is not model and len(model.steps) > 1:  # numbers from the second step on
        _ask(Pipeline(model.steps[1:]), len(first.feature_names_))


def _ask(model: Any, width: Any) -> None:
    """Ask for the answers to three rows of zeros."""
    if not _whole(width, 1, _MOST_FEATURES):
        raise ValueError(f"its number of features is {width!r:.80}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            cells = _usual_cells(model, width)
            words = any(type(cell) is not float for cell in cells)
            rows = name_columns(model, np.array([cells] * 3, dtype=object if words else float))
            verbs = (getattr(model, verb, None) for verb in ("predict", "transform", "kneighbors"))
            answer = next(verb for verb in verbs if verb is not None)(rows)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"it has no answer to a row of zeros ({reason:.200})") from error
    if len(answer[0] if isinstance(answer, tuple) else answer) != len(rows):
        raise ValueError("it has no answer to a row of zeros")


def _usual_cells(step: Any, width: int) -> list[Any]:
    """Return a row that a step can take: zeros, and of categories the first."""
    cells: list[Any] = [0.0] * width
    if isinstance(step, (OneHotEncoder, OrdinalEncoder)):
        return [categories.tolist()[0] for categories in step.categories_]
    if isinstance(step, ColumnTransformer):
        for name, inner, _ in step.transformers_:
            places = step._transformer_to_input_indices[name]
            for place, cell in zip(places, _usual_cells(inner, len(places)), strict=True):
                cells[place] = cell
    if isinstance(step, Pipeline):
        choosy = [part for _, part in step.steps if isinstance(part, _CHOOSY)]
        return _usual_cells(choosy[0], width) if choosy else cells
    return cells


# What takes no zeros where it has categories.
_CHOOSY = (ColumnTransformer, OneHotEncoder, OrdinalEncoder)


def _check_encoder(encoder: TableEncoder) -> None:
    if not hasattr(encoder, "record_"):
        return
    used = [column for column in encoder.reading.columns if column.used]
    features = [feature for column in used for feature in column.features]
    named = encoder.columns_ == [column.name for column in used]
    if not named or encoder.feature_names_ != features or len(encoder.blocks_) != len(features):
        raise ValueError("its table's columns are not those of its features")


def _check_pipeline(pipeline: Pipeline) -> None:
    """Refuse steps that are none."""
    steps = pipeline.steps
    if not isinstance(steps, list) or not all(isinstance(s, tuple) and len(s) == 2 for s in steps):
        raise ValueError("its steps are not names and estimators")
    estimators = [step for _, step in steps]
    if not estimators or not all(isinstance(step, BaseEstimator) for step in estimators):
        raise ValueError("its steps are not names and estimators")


_LARGEST_COMPONENT = 1e150


def _check_learner(learner: MetricLearner) -> None:
    if isinstance(learner, NeuralMetric) and learner._is_fitted:
        check_neural(learner)
    components = getattr(learner, "components_", None)
    if components is None:
        return
    _check_numbers("components_", components)
    if float(np.abs(components).max(initial=0.0)) > _LARGEST_COMPONENT:
        raise ValueError("components_ are so large that no row's image is a float")
    width = getattr(learner, "n_features_in_", None)
    if width is not None and components.shape[-1] != width:
        raise ValueError(f"components_ are {components.shape[-1]} wide for {width!r} features")
    queries = getattr(learner, "query_components_", components)
    _check_numbers("query_components_", queries)
    if queries.shape != components.shape:
        raise ValueError("the maps of queries and of the database are of different shapes")
    if hasattr(learner, "tree_features_"):
        _check_trees(learner, components)


def _check_trees(learner: Any, components: AnyArray) -> None:
    """Refuse complete trees whose questions or leaves are not as many as they should be."""
    features, thresholds = learner.tree_features_, learner.tree_thresholds_
    for name, values, ndim in (
        ("features", features, 2),
        ("thresholds", thresholds, 2),
        ("leaves", learner.tree_leaves_, 3),
    ):
        finite = values if name != "thresholds" else np.nan_to_num(values, posinf=0.0)
        _check_numbers(f"its trees' {name}", finite, ndim=ndim)
    n_trees, inner = features.shape
    fitting = thresholds.shape == features.shape and features.dtype.kind == "i"
    fitting &= learner.tree_leaves_.shape == (n_trees, inner + 1, len(components))
    inside = np.all((features >= 0) & (features < components.shape[1]))
    inside &= float(np.abs(learner.tree_leaves_).max(initial=0.0)) <= _LARGEST_COMPONENT
    if not (fitting and inside and inner & (inner + 1) == 0):
        raise ValueError("its trees are not whole")


def _check_predictor(predictor: NeighborsPredictor) -> None:
    if not (predictor.metric_ is None or isinstance(predictor.metric_, BaseEstimator)):
        raise ValueError("its fitted metric is no estimator")
    index = predictor._index
    if not hasattr(index, "query"):
        raise ValueError("its index is no index")
    n_indexed = (index.codes if isinstance(index, BinaryIndex) else index.vectors).shape[0]
    n_rows = _check_row_numbers(predictor._rows, n_indexed, _targets_of(predictor))
    _check_length("weights", predictor._weights, n_rows)
    _check_length("queries", predictor._queries, n_indexed)
    _check_vote(predictor, n_indexed, n_rows)


def _check_vote(predictor: NeighborsPredictor, n_indexed: int, n_rows: int) -> None:
    """Refuse a number of neighbours that there are not, and a temperature that is none."""
    state = vars(predictor)
    for name in ("n_neighbors", "n_neighbors_"):
        neighbors = state.get(name)
        if neighbors not in (None, "auto") and not _whole(neighbors, 1, n_indexed):
            raise ValueError(f"{name} is {neighbors!r} for {n_indexed} rows")
    if state.get("n_neighbors") == "auto" and "n_neighbors_" not in state:
        raise ValueError("it does not say how many neighbours vote")
    temperature = state.get("temperature_", 1.0)
    if not isinstance(temperature, float) or not 0 < temperature < np.inf:
        raise ValueError(f"temperature_ is {temperature!r:.80}")
    _check_heads(predictor)
    held = state.get("held_out_rows_")
    if held is None:
        return
    _check_length("held-out rows", held, len(held))
    if held.dtype.kind not in "iu" or not np.all((held >= 0) & (held < n_rows)):
        raise ValueError("its held-out rows are not among its training rows")
    for name in ("held_out_proba_", "held_out_predictions_"):
        _check_length(name, state.get(name), len(held))


def _check_heads(predictor: NeighborsPredictor) -> None:
    """Refuse parts and planes that are not of the mapped rows."""
    state = vars(predictor)
    if "_parts" in state:
        ends, temperatures = state["_parts"]
        width, before = predictor._index.vectors.shape[1], (0, *ends)  # type: ignore[union-attr]
        within = [_whole(end, last, width) for end, last in zip(ends, before, strict=False)]
        if len(ends) < 2 or not all(within):
            raise ValueError(f"its parts end at {ends!r:.80}, and its rows at {width}")
        warm = [isinstance(each, float) and 0 < each < np.inf for each in temperatures]
        if len(warm) != len(ends) - 1 or not all(warm):
            raise ValueError(f"the temperatures of its parts are {temperatures!r:.80}")
    if "_slope" in state:
        slope, ridge = state["_slope"]
        _check_length("slope", slope, predictor._index.vectors.shape[1])  # type: ignore[union-attr]
        if not isinstance(ridge, float) or not 0 <= ridge < np.inf:
            raise ValueError(f"the ridge of its plane is {ridge!r:.80}")


def _targets_of(predictor: NeighborsPredictor) -> AnyArray:
    """Return a target a training row: labels among the classes, or finite numbers."""
    codes, classes = getattr(predictor, "_codes", None), getattr(predictor, "classes_", None)
    if codes is None:
        targets = getattr(predictor, "_targets", None)
        if not isinstance(targets, np.ndarray) or targets.ndim not in (1, 2):
            raise ValueError("its targets are no array")
        _check_numbers("targets", targets, ndim=targets.ndim)
        return targets
    if not isinstance(codes, np.ndarray) or not isinstance(classes, np.ndarray):
        raise ValueError("its labels or classes are no arrays")
    if codes.dtype.kind not in "iu" or codes.ndim != 1 or classes.ndim != 1:
        raise ValueError("its training labels are not numbers of classes")
    if not np.all((codes >= 0) & (codes < len(classes))):
        raise ValueError("its training labels are not among its classes")
    prior = getattr(predictor, "class_prior_", None)
    if prior is not None and len(prior) != len(classes):
        raise ValueError("its training labels are not among its classes")
    return codes


def _check_row_numbers(rows: AnyArray | None, n_indexed: int, targets: AnyArray) -> int:
    """Return how many training rows there are, of which ``rows`` are indexed."""
    n_rows = len(targets)
    if rows is None:
        if n_indexed != n_rows:
            raise ValueError(f"it indexes {n_indexed} rows, but holds {n_rows} targets")
        return n_rows
    _check_length("row numbers", rows, n_indexed)
    if rows.dtype.kind not in "iu" or not np.all((rows >= 0) & (rows < n_rows)):
        raise ValueError("its row numbers are not those of its training rows")
    return n_rows


def _check_length(name: str, values: AnyArray | None, length: int) -> None:
    if values is None:
        return
    if not isinstance(values, np.ndarray) or values.ndim == 0 or len(values) != length:
        raise ValueError(f"its {name} are not {length} in number")
    _check_numbers(name, values, ndim=values.ndim)


def _check_numbers(name: str, values: Any, ndim: int = 2) -> None:
    if not isinstance(values, np.ndarray) or values.ndim != ndim or values.dtype.kind not in "biuf":
        raise ValueError(f"{name} are no array of numbers")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} are not finite")


def _whole(value: Any, least: int, most: int) -> bool:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and least <= value <= most
