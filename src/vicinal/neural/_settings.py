"""The settings of a fit, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from vicinal._validation import check_choice, check_positive, check_whole
from vicinal.neural._encoding import ENCODINGS

LOSSES = ("softmax", "gerrymandering")


@dataclass(frozen=True)
class MapSettings:
    """What :class:`~vicinal.NeuralMetric` was told; ``epochs`` None is as many as rows ask for."""

    n_members: int
    n_components: int | None
    loss: str
    encoding: str | None
    module: Any
    epochs: float | None
    batch_size: int
    learning_rate: float
    dropout: float
    input_dropout: float
    device: str
    checkpoint: Path | None
    seed: int

    def identity(self) -> tuple[Any, ...]:
        """Return what two fits that come to the same have in common."""
        module = None if self.module is None else repr(self.module)
        return (
            self.n_members, self.loss, self.encoding, module, self.dropout, self.input_dropout,
            self.seed, self.device,
        )  # fmt: skip


def read_settings(metric: Any, seed: int) -> MapSettings:
    """Return the checked settings of a metric; refuse in words what they cannot be."""
    members = check_whole("n_members", metric.n_members)
    if members != 1 and (members < 4 or members % 2):
        raise ValueError(
            f"n_members must be 1, or an even number from 4 on (two halves, each cut into folds); "
            f"got {members}."
        )
    check_choice("loss", metric.loss, LOSSES)
    check_choice("encoding", metric.encoding, ENCODINGS)
    if not isinstance(metric.callbacks, Sequence) or not all(map(callable, metric.callbacks)):
        raise ValueError(f"callbacks must be a list of functions, got {metric.callbacks!r}.")
    if not isinstance(metric.checkpoint, str | PathLike | None):
        raise ValueError(
            f"checkpoint must be the path of a file or None, got {metric.checkpoint!r}."
        )
    components = metric.n_components
    for name in ("dropout", "input_dropout"):
        if check_positive(name, getattr(metric, name), zero=True) >= 1:
            raise ValueError(f"{name} must be below 1, got {getattr(metric, name)}.")
    return MapSettings(
        n_members=members if metric.module is None else 1,
        n_components=None if components is None else check_whole("n_components", components),
        loss=metric.loss,
        encoding=metric.encoding,
        module=metric.module,
        epochs=None if metric.epochs is None else check_positive("epochs", metric.epochs),
        batch_size=check_whole("batch_size", metric.batch_size, least=2),
        learning_rate=check_positive("learning_rate", metric.learning_rate),
        dropout=float(metric.dropout),
        input_dropout=float(metric.input_dropout),
        device=str(metric.device),
        checkpoint=None if metric.checkpoint is None else Path(metric.checkpoint),
        seed=seed,
    )
