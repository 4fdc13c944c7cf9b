"""Losses by name, for networks that learn to put rows of a class side by side."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch import Tensor

from vicinal.losses._gerrymandering import GerrymanderingLoss
from vicinal.losses._neighborhood import NeighborhoodLoss
from vicinal.losses._pairs import contrastive_loss, multi_similarity_loss, triplet_loss
from vicinal.sphere.training import Objective, class_embedding, classification, retrieval
from vicinal.sphere.worlds import CLASSES

Compare = Callable[[Tensor, Tensor], Tensor]


def make_objective(text: str, classes: Objective) -> Objective:
    """Return the objective that "name" or "name:option=value,…" stands for.

    ``classes`` is the one that learns classes, which "cross-entropy" names.
    """
    name, _, rest = text.partition(":")
    if name not in LOSSES:
        raise ValueError(f"loss {name}: there are {', '.join(LOSSES)}.")
    make = LOSSES[name]
    names = list(inspect.signature(make).parameters)[1:]
    options = dict(_read_option(text, part, names) for part in rest.split(",") if part)
    return make(classes, **options)


def _read_option(text: str, part: str, known: list[str]) -> tuple[str, float]:
    name, _, value = part.partition("=")
    if name not in known:
        choices = f"options {', '.join(known)}" if known else "no options"
        raise ValueError(f"loss {text}: {name!r} is not one; this loss has {choices}.")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise ValueError(f"loss {text}: {name} must be a number above zero, not {value!r}.")
    return name, number


def _classes(classes: Objective) -> Objective:
    return classes


def _gerrymandering(classes: Objective, k: float = 1, margin: float = 1.0) -> Objective:
    return retrieval(GerrymanderingLoss(_whole(k), margin))


def _neighborhood(classes: Objective, temperature: float = 1.0) -> Objective:
    return retrieval(NeighborhoodLoss(temperature))


def _triplet(classes: Objective, margin: float = 1.0) -> Objective:
    def loss(embeddings: Tensor, labels: Tensor) -> Tensor:
        return triplet_loss(embeddings, labels, margin)

    return retrieval(loss)


def _contrastive(classes: Objective, margin: float = 1.0) -> Objective:
    def loss(embeddings: Tensor, labels: Tensor) -> Tensor:
        return contrastive_loss(embeddings, labels, margin)

    return retrieval(loss)


def _multi_similarity(
    classes: Objective, alpha: float = 2.0, beta: float = 50.0, base: float = 0.5
) -> Objective:
    def loss(embeddings: Tensor, labels: Tensor) -> Tensor:
        return multi_similarity_loss(embeddings, labels, alpha, beta, base)

    return retrieval(loss)


def _both(classes: Objective, k: float = 1, margin: float = 0.5, weight: float = 1.0) -> Objective:
    vote = GerrymanderingLoss(_whole(k), margin)

    def loss(scores: Tensor, labels: Tensor) -> Tensor:
        return classes.loss(scores, labels) + weight * vote(class_embedding(scores), labels)

    return classification(loss)


LOSSES: dict[str, Callable[..., Objective]] = {
    CLASSES: _classes,
    "gerrymandering": _gerrymandering,
    "neighborhood": _neighborhood,
    "triplet": _triplet,
    "contrastive": _contrastive,
    "multi-similarity": _multi_similarity,
    f"{CLASSES}+gerrymandering": _both,
}


def _whole(k: float) -> Any:
    return int(k) if k == int(k) else k  # the loss refuses what is no whole number
