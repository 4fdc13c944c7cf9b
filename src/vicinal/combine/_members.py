"""Copies of a learner, told what they were not told: a seed, the k of the vote, row weights."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from vicinal._types import AnyArray, FloatArray


def prepare_member(estimator: Any, *, seed: int | None = None, k: int | None = None) -> Any:
    """Return a clone; its open ``random_state`` and ``n_neighbors`` (None) take what is given."""
    member = clone(estimator)
    open_parameters = {
        name: value
        for name, value in (("random_state", seed), ("n_neighbors", k))
        if value is not None and member.get_params().get(name, 0) is None
    }
    return member.set_params(**open_parameters)


def fit_member(member: Any, X: AnyArray, y: AnyArray, weights: FloatArray | None = None) -> Any:
    """Return the member fitted, with weights where its ``fit`` takes them."""
    if weights is not None and has_fit_parameter(member, "sample_weight"):
        return member.fit(X, y, sample_weight=weights)
    return member.fit(X, y)


def check_member(estimator: Any, what: str) -> None:
    """Refuse what is no learner."""
    if isinstance(estimator, type) or not all(
        hasattr(estimator, verb) for verb in ("fit", "get_params")
    ):
        raise ValueError(
            f"{what} must be a metric learner, as MLNG() is, not a class; got {estimator!r}."
        )
