"""What networks say of classes: probabilities, and a table of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from vicinal._types import FloatArray
from vicinal.sphere.nn import predict_with, read_configuration
from vicinal.sphere.training import Batches
from vicinal.sphere.worlds._world import Predictions


def read_classes(network: Path, noun: str) -> tuple[str, ...]:
    """Return the classes that a network tells apart."""
    classes = read_configuration(network)["facts"].get("classes", ())
    if not isinstance(classes, list) or not classes:
        raise ValueError(
            f"{network} gives places to compare {noun} by, not classes: it was trained by a loss "
            "of embeddings."
        )
    return tuple(map(str, classes))


def predict_shares(
    networks: Sequence[Path], batches_for: Callable[[Path], Batches], noun: str
) -> FloatArray:
    """Return the class probabilities by each network, (networks, n, classes)."""
    shares = []
    for network in networks:
        classes = read_classes(network, noun)
        scores = predict_with(network, batches_for(network))
        if scores.shape[1:] != (len(classes),):
            raise ValueError(
                f"{network}: {scores.shape[-1]} scores for {len(classes)} classes do not fit "
                "together."
            )
        shares.append(torch.softmax(scores.double(), 1).numpy())
    return np.stack(shares)


def tabulate_classes(
    names: Sequence[Any],
    classes: Sequence[str],
    shares: FloatArray,
    labels: Sequence[str] | None,
    *,
    proba: bool,
    noun: str,
) -> Predictions:
    """Return the likeliest class of each row by the mean of several networks' probabilities.

    ``shares`` is (networks, n, classes). The spread is the standard deviation, over networks, of
    the probability of the class that is given.
    """
    mean = shares.mean(axis=0)
    best = mean.argmax(axis=1)
    predicted = [classes[i] for i in best]
    several = len(shares) > 1
    header: tuple[str, ...] = ("row" if isinstance(names[0], int) else "file", "predicted")
    columns: list[Sequence[Any]] = [names, predicted]
    if several:
        header += ("spread",)
        spread = shares.std(axis=0, ddof=1)[np.arange(len(best)), best]
        columns.append(spread.round(4).tolist())
    if proba:
        header += tuple(classes)
        columns += mean.T.tolist()
    error, sentence = None, None
    if labels is not None:
        error = sum(a != b for a, b in zip(predicted, labels, strict=True)) / len(labels)
        sentence = f"error {100 * error:.2f} % of {len(labels):,} {noun}"
    facts = {"n_networks": len(shares), "n_test": len(names), "error": error}
    return Predictions(header, list(zip(*columns, strict=True)), facts, sentence)
