"""A fit from rows to trained members: folds, encoding, training, choice, axes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from vicinal._lines import Lines
from vicinal._types import FloatArray, Fold, IntArray
from vicinal.neural._applied import MOST_ROWS, Applied
from vicinal.neural._encoding import Encoding, make_encoding
from vicinal.neural._folds import FOLDS_OF_ONE, draw_folds
from vicinal.neural._held_out import VoteChoice, choose
from vicinal.neural._members import HIDDEN, WIDTH, Members
from vicinal.neural._objectives import OBJECTIVES
from vicinal.neural._one_map import OneMap, own_module
from vicinal.neural._settings import MapSettings
from vicinal.neural._training import Look, Material, MemberTraining, StepPlan
from vicinal.rows import Classes, Numbers, Rows
from vicinal.sphere.training import read_tensors, write_checkpoint

# Steps where nobody says: so many epochs, but enough for few rows and no more than many need.
EPOCHS, LEAST_STEPS, MOST_STEPS = 20, 300, 1200
# Rows that are held out and asked in the end, and those they are asked among.
HELD_ROWS, HELD_AMONG = 10_000, 100_000
# Rows by which the relevance of features is measured.
RELEVANCE_ROWS = 2000


@dataclass(frozen=True)
class Fitted:
    """What a fit leaves.

    Attributes
    ----------
    encoding : Encoding
    parameters : dict of str to ndarray
        Of all members, or of the head alone beside a module of the user's own.
    module : nn.Module or None
    applied : Applied or None
        The chosen members' map; None for a module.
    head : ndarray of shape (q,) or None
        What the map's numbers say of y linearly.
    choice : VoteChoice
    held_out : ndarray of shape (n, R) or (n, 1)
        Votes on rows that were held out, NaN for the others.
    history : list of dict
    n_steps : int
    n_left_out : int
    """

    encoding: Encoding
    parameters: dict[str, FloatArray]
    module: Any
    applied: Applied | None
    head: FloatArray | None
    choice: VoteChoice
    held_out: FloatArray
    history: list[Look]
    n_steps: int
    n_left_out: int
    gradients: FloatArray | None


def fit_members(
    rows: Rows, settings: MapSettings, watch: Callable[[Look], bool], lines: Lines,
    start: tuple[Encoding, dict[str, FloatArray]] | None = None, held: Sequence[Fold] = (),
) -> Fitted:  # fmt: skip
    """Return what members learned from rows.

    Parameters
    ----------
    rows : Rows
    settings : MapSettings
    watch : callable
        Called with each look; a true answer ends the training.
    lines : Lines
        Say what is about to be done.
    start : (Encoding, parameters) or None
        What an earlier fit left, to go on from.
    held : sequence of Fold
        At most as many as members are cut by; each is one that members do not see.
    """
    rng = np.random.default_rng(settings.seed)
    E = settings.n_members
    n_folds = FOLDS_OF_ONE if E == 1 else E // 2
    fold = draw_folds(rows, n_folds, rng, held)
    used = 1 if E == 1 else n_folds
    encoding = (
        start[0] if start else make_encoding(rows, fold, used, settings.encoding, settings.seed)
    )
    plan = make_plan(rows.n_rows, settings)
    _check_memory(rows, encoding, plan, settings, lines)
    halves = [np.arange(E)] if E == 1 else [np.arange(E // 2), np.arange(E // 2, E)]
    target, mean, scale = _standard_target(rows)
    material = Material(
        encoding, encoding.standard(rows.X), target, rows.weights, fold, halves, settings.device
    )
    objective = OBJECTIVES[settings.loss, isinstance(target, Classes)]
    with torch.random.fork_rng(devices=_devices(settings.device)):
        torch.manual_seed(settings.seed)
        network = _network(material, settings)
        if start is not None:
            network.load_state_dict({k: torch.from_numpy(v.copy()) for k, v in start[1].items()})
        network.to(settings.device)
        save = _saver(settings.checkpoint, _digest(rows, settings, plan))
        training = MemberTraining(network, material, objective, plan, watch, save)
        if settings.checkpoint is not None:
            _resume(training, settings.checkpoint, _digest(rows, settings, plan))
        training.run()
        return _finish(training, rows, settings, mean, scale)


def make_plan(n_rows: int, settings: MapSettings) -> StepPlan:
    """Return how many steps of how many rows."""
    size = min(settings.batch_size, n_rows)
    if settings.epochs is None:
        steps = int(np.clip(EPOCHS * n_rows / size, LEAST_STEPS, MOST_STEPS))
    else:
        steps = max(1, round(settings.epochs * n_rows / size))
    return StepPlan(steps, size, settings.learning_rate, settings.seed)


def _standard_target(rows: Rows) -> tuple[Classes | Numbers, float, float]:
    if isinstance(rows.target, Classes):
        return rows.target, 0.0, 1.0
    values = rows.values.astype(np.float64)
    mean = float(np.average(values, weights=rows.weights))
    scale = float(np.sqrt(np.average((values - mean) ** 2, weights=rows.weights))) or 1.0
    return Numbers((values - mean) / scale), mean, scale


def _network(material: Material, settings: MapSettings) -> Any:
    if settings.module is None:
        return Members(
            settings.n_members, material.encoding.n_entries, dropout=settings.dropout,
            input_dropout=settings.input_dropout,
        )  # fmt: skip
    module = own_module(settings.module, material.encoding.n_entries)
    example = material.encoding.entries(material.standard[:2])
    return OneMap(module, torch.from_numpy(example))


def _devices(device: str) -> list[torch.device]:
    """Return the devices besides the processor whose random numbers are drawn on."""
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device={device!r} is none that torch has here: {error}") from error
    return [torch.device(device)] if torch.device(device).type == "cuda" else []


def _finish(
    training: MemberTraining, rows: Rows, settings: MapSettings, mean: float, scale: float
) -> Fitted:
    """Choose by the held-out votes, and turn the chosen members' space to its axes."""
    material, network = training.material, training.network
    rng = np.random.default_rng([settings.seed, 3])
    n = rows.n_rows
    some = rng.permutation(n)[:HELD_AMONG] if n > HELD_AMONG else np.arange(n)
    near, target, weights = material.held_out(network, some, HELD_ROWS)
    choice = choose(near, target, weights)
    classes = isinstance(target, Classes)
    held_out = np.full((n, choice.votes.shape[1]), np.nan)
    held_out[some[near[0].rows]] = choice.votes if classes else choice.votes * scale + mean
    chosen = np.concatenate([material.halves[g] for g in choice.halves])
    state = {k: v.detach().cpu().numpy().copy() for k, v in network.state_dict().items()}
    applied = head = gradients = module = None
    if settings.module is None:
        state.pop("inner.num_batches_tracked"), state.pop("last.num_batches_tracked")
        applied, head = _turned(material, state, chosen, rows, settings, rng)
        part = rng.permutation(n)[:RELEVANCE_ROWS]
        gradients = applied.gradients(rows.X[part], rng)
    else:
        assert isinstance(network, OneMap)
        module, head = network.module.cpu().eval(), state["slope"][0, 0]
    return Fitted(
        material.encoding, state, module, applied,
        None if classes else np.asarray(head, np.float64) * scale,
        choice, held_out, training.progress.history, training.progress.step,
        _count_alone(rows), gradients,
    )  # fmt: skip


def _count_alone(rows: Rows) -> int:
    """Return how many rows are of a class that no other row is of."""
    return 0 if rows.labels is None else int(np.sum(np.bincount(rows.labels) == 1))


def _turned(
    material: Material, state: dict[str, FloatArray], chosen: IntArray, rows: Rows,
    settings: MapSettings, rng: np.random.Generator,
) -> tuple[Applied, FloatArray | None]:  # fmt: skip
    """Return the chosen members' map, and its linear head where y is numbers."""
    width = len(chosen) * WIDTH
    start = Applied(material.encoding, state, chosen, np.zeros(width), np.eye(width))
    heads = None
    if not isinstance(material.target, Classes):
        # The mean of the members' heads, read off places that are divided by the root of C.
        heads = state["slope"][chosen, 0].ravel() / np.sqrt(len(chosen))
    n = rows.n_rows
    part = rows.X if n <= MOST_ROWS else rows.X[np.sort(rng.permutation(n)[:MOST_ROWS])]
    applied = start.turned(part, settings.n_components, heads)
    return applied, None if heads is None else heads @ applied.axes


# Checkpoints -----------------------------------------------------------------------------------


def _digest(rows: Rows, settings: MapSettings, plan: StepPlan) -> str:
    """Return what tells one fit from another: rows, settings, and the version of torch."""
    digest = hashlib.sha256(repr((settings.identity(), asdict(plan), torch.__version__)).encode())
    target = rows.codes if isinstance(rows.target, Classes) else rows.values
    for part in (rows.X, target, rows.weights, rows.groups):
        digest.update(b"-" if part is None else np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _saver(path: Path | None, digest: str) -> Callable[[dict[str, Any]], None] | None:
    if path is None:
        return None
    return lambda state: write_checkpoint({**state, "digest": digest}, path)


def _resume(training: MemberTraining, path: Path, digest: str) -> None:
    """Go on from a checkpoint, where there is one of the same fit; refuse another's."""
    if not path.exists():
        return
    content = read_tensors(path, "checkpoint of a fit")
    if content.get("digest") != digest:
        raise ValueError(
            f"checkpoint {path} belongs to a fit of other rows or settings; remove it, or name "
            "another file."
        )
    try:
        training.restore(content)
    except (KeyError, TypeError, RuntimeError, ValueError) as error:
        raise ValueError(f"checkpoint {path} is damaged ({error}); remove it.") from error


# Memory ----------------------------------------------------------------------------------------


def needed_bytes(
    n_rows: int, n_columns: int, encoding: Encoding, plan: StepPlan, n_members: int
) -> int:
    """Return about how much memory a fit takes besides the rows."""
    F, D = encoding.column.shape
    batch = 3 * F * D * plan.batch_size + n_members * plan.batch_size * (
        4 * plan.batch_size + 6 * WIDTH + 4 * HIDDEN
    )
    learned = 5 * n_members * WIDTH * (D + 2 * HIDDEN)
    looked = min(n_rows, HELD_AMONG) * n_members * WIDTH * 2 + 4096 * F * D * 2
    return 4 * (n_rows * n_columns + batch + learned + looked)


def _check_memory(
    rows: Rows, encoding: Encoding, plan: StepPlan, settings: MapSettings, lines: Lines
) -> None:
    """Say how much memory is about to be taken; refuse what the machine does not have."""
    n, d = rows.X.shape
    needed = needed_bytes(n, d, encoding, plan, settings.n_members)
    lines.say(
        f"{n:,} rows of {d:,} columns as {encoding.n_entries:,} entries, "
        f"{plan.n_steps:,} steps of {plan.batch_size} rows, about {needed / 1e6:,.0f} MB"
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > memory:
        raise ValueError(
            f"this fit needs about {needed / 1e9:,.1f} GB and the machine has {memory / 1e9:,.1f}; "
            "take fewer columns, a smaller batch_size, or encoding=None."
        )
