"""The training of maps side by side: steps, looks at held-out votes, the best state of each half.

Material ─▶ batch ─▶ network ─▶ objective ─▶ AdamW ─┐
    ▲                                               │ now and then
    └──────────────── step ◀── look: held-out votes ┘ ─▶ best state of each half
                                    └─▶ checkpoint: the same steps go on from it
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vicinal._types import FloatArray, IntArray
from vicinal.neural._encoding import Encoding
from vicinal.neural._held_out import TEMPERATURES, Neighborhoods, losses, neighborhoods
from vicinal.neural._objectives import MemberBatch, Objective
from vicinal.rows import Classes, Target

WARM_UP, WEIGHT_DECAY = 20, 1e-3
# Looks at the held-out votes, the first when this share of the steps is done.
LOOKS, FIRST_LOOK = 8, 0.3
# Rows that a look asks, and those it asks among.
LOOK_ROWS, LOOK_AMONG = 1500, 20_000
_BLOCK = 4096
_SAVE_SECONDS = 30.0


@dataclass(frozen=True)
class Material:
    """What does not change while maps are trained.

    Attributes
    ----------
    encoding : Encoding
    standard : float32 ndarray of shape (n, d)
    target : Classes, or Numbers of mean 0 and deviation 1
    weights : ndarray of shape (n,) or None
    fold : int ndarray of shape (n,)
        The fold of each row; −1 where none of it is left out.
    halves : sequence of int ndarrays
        The members of each half; member e of one is blind to fold e mod their number.
    device : str
    """

    encoding: Encoding
    standard: FloatArray
    target: Target
    weights: FloatArray | None
    fold: IntArray
    halves: Sequence[IntArray]
    device: str = "cpu"

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.standard)

    def batch(self, rows: IntArray) -> MemberBatch:
        """Return some rows as a batch."""
        entries = self.encoding.entries(self.standard[rows])
        codes = None
        if isinstance(self.target, Classes):
            codes = torch.from_numpy(self.target.codes[rows])
            targets = F.one_hot(codes, len(self.target.names)).float()
        else:
            targets = torch.from_numpy(self.target.values[rows, None].astype(np.float32))
        weights = None
        if self.weights is not None:
            weights = torch.from_numpy(self.weights[rows].astype(np.float32))
        blind = np.concatenate([np.arange(len(half)) for half in self.halves])
        hidden = torch.from_numpy(self.fold[rows] == blind[:, None])
        parts = (torch.from_numpy(entries), codes, targets, weights, hidden)
        return MemberBatch(*(None if part is None else part.to(self.device) for part in parts))  # type: ignore[arg-type]

    def places(self, network: nn.Module, rows: IntArray) -> tuple[FloatArray, FloatArray | None]:
        """Return the places (E, n, p) of rows, and for numbers what heads say of them (E, n)."""
        network.eval()
        parts = []
        with torch.no_grad():
            for start in range(0, len(rows), _BLOCK):
                entries = self.encoding.entries(self.standard[rows[start : start + _BLOCK]])
                parts.append(network(torch.from_numpy(entries).to(self.device)).cpu())
            places = torch.cat(parts, dim=1)
            network.train()
            if isinstance(self.target, Classes):
                return np.ascontiguousarray(places.numpy()), None
            said = (places @ network.heads().cpu())[..., 0]  # type: ignore[operator]
        return np.ascontiguousarray(places.numpy()), said.numpy()

    def held_out(
        self, network: nn.Module, rows: IntArray, cap: int
    ) -> tuple[list[Neighborhoods], Target, FloatArray | None]:
        """Return each half's neighbourhoods of held-out rows among some, their targets, weights."""
        places, heads = self.places(network, rows)
        if not np.isfinite(places).all():
            raise ValueError(f"the maps put rows at places that are not numbers; {DIVERGED}")
        fold = self.fold[rows]
        near = [neighborhoods(places, half, fold, heads, cap) for half in self.halves]
        return near, self.target.take(rows), None if self.weights is None else self.weights[rows]


DIVERGED = "the training has diverged: use a smaller learning_rate, or look for outliers in X."


@dataclass(frozen=True)
class StepPlan:
    """How long and how fast."""

    n_steps: int
    batch_size: int
    learning_rate: float
    seed: int


@dataclass
class TrainingProgress:
    """Where a training stands: all that a checkpoint has to hold besides the network."""

    step: int = 0
    queue: Tensor = field(default_factory=lambda: torch.empty(0, dtype=torch.long))
    best: list[tuple[float, dict[str, Tensor]]] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    loss: float = 0.0  # summed since the last look
    n_since: int = 0


Look = dict[str, Any]
Save = Callable[[dict[str, Any]], None]


class MemberTraining:
    """A network on its way.

    Parameters
    ----------
    network : nn.Module
        From entries (F, D, B) to places (E, B, p), with ``heads()``.
    material : Material
    objective : Objective
    plan : StepPlan
    watch : callable
        Called with what each look came to; a true answer ends the training.
    save : callable or None
        Called with a state to go on from, every half minute and after each look.
    """

    def __init__(
        self, network: nn.Module, material: Material, objective: Objective, plan: StepPlan,
        watch: Callable[[Look], bool], save: Save | None = None,
    ) -> None:  # fmt: skip
        self.network, self.material, self.objective = network, material, objective
        self.plan, self.watch, self.save = plan, watch, save
        self.optimiser = torch.optim.AdamW(
            network.parameters(), lr=plan.learning_rate, weight_decay=WEIGHT_DECAY, foreach=True
        )
        self.progress = TrainingProgress(best=[(math.inf, {}) for _ in material.halves])
        n = material.n_rows
        rows = np.arange(n)
        if n > LOOK_AMONG:
            rows = np.sort(np.random.default_rng([plan.seed, 2]).permutation(n)[:LOOK_AMONG])
        self._looked_at = rows
        shares = np.linspace(FIRST_LOOK, 1.0, LOOKS)
        self._look_after = {max(1, int(share * plan.n_steps)) for share in shares}

    def run(self) -> nn.Module:
        """Train; return the network with the best state of each half."""
        progress, saved = self.progress, time.monotonic()
        self.network.train()
        while progress.step < self.plan.n_steps:
            self._step()
            looked = progress.step in self._look_after
            if looked and self._look():
                break
            if self.save is not None and (looked or time.monotonic() - saved > _SAVE_SECONDS):
                self.save(self.state())
                saved = time.monotonic()
        self._take_best()
        return self.network

    def _rate(self) -> float:
        step, plan = self.progress.step, self.plan
        rising = min(1.0, (step + 1) / WARM_UP)
        return plan.learning_rate * rising * 0.5 * (1 + math.cos(math.pi * step / plan.n_steps))

    def _step(self) -> None:
        progress = self.progress
        for group in self.optimiser.param_groups:
            group["lr"] = self._rate()
        batch = self.material.batch(self._next_rows())
        loss = self.objective(self.network(batch.entries), self.network.heads(), batch)  # type: ignore[operator]
        progress.step += 1
        value = float(loss.detach())
        if not math.isfinite(value):
            raise ValueError(
                f"the loss is {value:g} at step {progress.step} of {self.plan.n_steps}; {DIVERGED}"
            )
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        progress.loss += value / len(batch.hidden)
        progress.n_since += 1

    def _next_rows(self) -> IntArray:
        progress, size = self.progress, self.plan.batch_size
        if len(progress.queue) < size:  # what is left is let go, or a row would vote on itself
            progress.queue = torch.randperm(self.material.n_rows)
        rows, progress.queue = progress.queue[:size], progress.queue[size:]
        return rows.numpy()

    def _look(self) -> bool:
        """Ask the held-out rows; keep each half's state where it is better than before."""
        progress = self.progress
        near, target, weights = self.material.held_out(self.network, self._looked_at, LOOK_ROWS)
        scores = [_best_loss(half, target, weights) for half in near]
        for g, score in enumerate(scores):
            if score <= progress.best[g][0]:
                progress.best[g] = (score, self._state_of(g))
        look = {
            "step": progress.step,
            "n_steps": self.plan.n_steps,
            "loss": progress.loss / max(1, progress.n_since),
            "held_out": scores,
        }
        progress.loss, progress.n_since = 0.0, 0
        progress.history.append(look)
        return self.watch(look)

    def _state_of(self, g: int) -> dict[str, Tensor]:
        """Return the part of the network's state that is a half's: members come in order."""
        n_halves = len(self.material.halves)
        return {
            name: _share(value, g, n_halves).clone()
            for name, value in self.network.state_dict().items()
        }

    def _take_best(self) -> None:
        best = [state for _, state in self.progress.best]
        if not all(best):  # nobody could be asked: the last state is the best there is
            return
        self.network.load_state_dict(
            {
                name: torch.cat([state[name] for state in best]) if value.ndim else best[0][name]
                for name, value in self.network.state_dict().items()
            }
        )

    def state(self) -> dict[str, Any]:
        """Return all that :meth:`restore` needs to go on to the very same network."""
        return {
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "random": torch.get_rng_state(),
            "progress": dict(vars(self.progress)),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.network.load_state_dict(state["network"])
        self.optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random"])
        self.progress = TrainingProgress(**state["progress"])


def _share(value: Tensor, g: int, n_halves: int) -> Tensor:
    size = len(value) // n_halves if value.ndim else 0
    return value[g * size : (g + 1) * size] if value.ndim else value


def _best_loss(half: Neighborhoods, target: Target, weights: FloatArray | None) -> float:
    """Return the mean loss of held-out votes at the temperature where it is least."""
    if not len(half.rows):
        return math.inf
    shares = np.ones(len(half.rows)) if weights is None else weights[half.rows]
    means = [
        np.average(losses(half.answers(target, T, weights), target, half.rows), weights=shares)
        for T in TEMPERATURES
    ]
    return float(min(means))
