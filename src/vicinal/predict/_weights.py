"""What each training row counts: sample weights, class weights, and rows that count nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_positive
from vicinal.rows import check_weights, take_rows

SAMPLE_WEIGHT = "sample_weight"


def row_weights(
    sample_weight: Any, class_weight: Any, classes: AnyArray, codes: IntArray
) -> FloatArray | None:
    """Return each row's sample weight times its class's weight, None where all are the same."""
    weights = check_weights(sample_weight, len(codes))
    by_class = class_weights(class_weight, classes, codes, weights)
    if by_class is None:
        return weights
    if not by_class[codes].any():
        raise ValueError(f"class_weight={class_weight!r} leaves no row any weight.")
    return check_weights(by_class[codes] * (1.0 if weights is None else weights), len(codes))


def class_weights(
    class_weight: Any, classes: AnyArray, codes: IntArray, weights: FloatArray | None
) -> FloatArray | None:
    """Return the weight of each class (R,), None for equal ones.

    "balanced" gives every class the same total weight; a dict may leave classes at 1.
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes, weights, minlength=len(classes))
        return np.divide(totals.sum(), totals, out=np.zeros(len(classes)), where=totals > 0)
    if not isinstance(class_weight, dict):
        raise ValueError(
            f'class_weight must be None, "balanced" or a dict of weights by class, '
            f"got {class_weight!r}."
        )
    names = classes.tolist()
    strange = [key for key in class_weight if key not in names]
    # A class missing from one fold is no mistake; one that is misspelt leaves another unnamed.
    if strange and any(name not in class_weight for name in names):
        raise ValueError(
            f"class_weight names the class {strange[0]!r}, which y does not hold; its classes are "
            f"{', '.join(map(repr, names[:10]))}{', ...' if len(names) > 10 else ''}."
        )
    return np.array(
        [check_positive(f"class_weight[{r!r}]", class_weight.get(r, 1.0), zero=True) for r in names]
    )


def counted_rows(weights: FloatArray | None) -> tuple[IntArray | None, FloatArray | None]:
    """Return the rows that have weight, None for all, and the weights, None where those are equal.

    So weights of zero and one are exactly the fit without the rows of weight zero.
    """
    if weights is None:
        return None, None
    rows = np.flatnonzero(weights)
    equal = np.all(weights[rows] == weights[rows[0]])
    return (None if len(rows) == len(weights) else rows), (None if equal else weights)


def can_be_routed(metric: Any) -> bool:
    """Return whether the metric is fitted anew and can say what it wants of metadata."""
    return hasattr(metric, "get_metadata_routing") and not isinstance(metric, FrozenEstimator)


def weights_for(metric: Any, sample_weight: Any) -> dict[str, Any]:
    """Return the argument of the metric's ``fit`` that takes weights, none where there is none.

    Of a pipeline it is the last step's.
    """
    if isinstance(metric, Pipeline):
        name, step = metric.steps[-1]
        return {f"{name}__{key}": value for key, value in weights_for(step, sample_weight).items()}
    takes = can_be_routed(metric) and has_fit_parameter(metric, "sample_weight")
    return {"sample_weight": sample_weight} if takes else {}


def part_of_rows(value: Any, rows: IntArray, n_rows: int) -> Any:
    """Return the part of a fit parameter that belongs to some rows; others stay as they are."""
    if value is None or np.ndim(value) == 0 or np.shape(value)[0] != n_rows:
        return value
    return take_rows(value if hasattr(value, "shape") else np.asarray(value), rows)
