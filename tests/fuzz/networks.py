"""Mutated networks and checkpoints: refused with a ValueError, or the same network."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tests.fuzz._outcomes import Try, Wrong
from tests.fuzz.mutations import STRANGE_VALUES, corrupt, damage
from torch import nn

from vicinal.sphere import ClebschGordanNet, Fragments, FragmentType, load_network
from vicinal.sphere.nn import save_network
from vicinal.sphere.training import TrainingPlan, classification, train

PLAN = TrainingPlan(n_epochs=2, batch_size=10, averaging=0.9)


@cache
def _folder() -> Path:
    """Return a folder with a network and a checkpoint of a training."""
    folder = Path(tempfile.mkdtemp(prefix="vicinal-fuzz-"))
    torch.manual_seed(0)
    network = ClebschGordanNet(FragmentType([1, 1]), FragmentType([2, 2]), 1, n_outputs=3)
    save_network(network.eval(), folder / "network.pt", {"classes": ["a"]})
    _train(folder / "checkpoint.pt")
    return folder


class _Rows:
    inputs, targets = torch.eye(20, 5), torch.arange(20) % 2

    def take(self, rows: Any) -> Any:
        return self.inputs[rows]


def _train(checkpoint: Path) -> Any:
    torch.manual_seed(0)
    model = nn.Linear(5, 2)
    rows = _Rows()
    trained: Any = train(
        model, lambda epoch: rows, rows, PLAN, classification(), checkpoint=checkpoint
    )[0]
    return trained.weight.detach().clone()


@cache
def _whole() -> tuple[dict[str, bytes], Any, Any]:
    folder = _folder()
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    return files, _scores(folder), _train(folder / "checkpoint.pt")


def _scores(folder: Path) -> Any:
    torch.manual_seed(1)
    return load_network(folder)(Fragments.randn(FragmentType([1, 1]), 4)).detach()


def cases(random: np.random.Generator) -> Iterator[Try]:
    """Yield tries without end."""
    while True:
        for name in ("network.pt", "network.json", "checkpoint.pt"):
            for edited in (False, True):
                seed = int(random.integers(2**32))
                yield Try(f"{name}, {'edited ' * edited}{seed}", _trying(name, edited, seed))


def _trying(name: str, edited: bool, seed: int) -> Any:
    def run() -> str:
        files, scores, weights = _whole()
        random, folder = np.random.default_rng(seed), _folder()
        for each, data in files.items():
            (folder / each).write_bytes(data)
        change = _edit if edited else damage
        (folder / name).write_bytes(change(files[name], random))
        try:
            found = _train(folder / name) if name == "checkpoint.pt" else _scores(folder)
        except ValueError:
            return "refused"
        expected = weights if name == "checkpoint.pt" else scores
        if found.shape != expected.shape or not torch.isfinite(found).all():
            raise Wrong("a network that is none")
        if not edited and name != "network.json" and not torch.equal(found, expected):
            raise Wrong("another network")
        return "equal" if torch.equal(found, expected) else "another network, edited"

    return run


def _edit(data: bytes, random: np.random.Generator) -> bytes:
    path = _folder() / "edited"
    path.write_bytes(data)
    if data[:1] == b"{":
        return json.dumps(corrupt(json.loads(data), random)).encode()
    content = torch.load(path, weights_only=True)
    torch.save(_corrupt_tensors(content, random), path)
    return path.read_bytes()


def _corrupt_tensors(content: Any, random: np.random.Generator) -> Any:
    """Return plain values and tensors of which one is gone, or another."""
    changed = copy.deepcopy(content)
    holder, key = changed, list(changed)[random.integers(len(changed))]
    while isinstance(holder[key], dict | list) and len(holder[key]) and random.integers(4):
        holder = holder[key]
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        key = keys[random.integers(len(keys))]
    old = holder[key]
    if isinstance(old, torch.Tensor) and random.integers(3):
        nan, flat = torch.full_like(old.float(), torch.nan), old.reshape(-1)
        options = [nan, flat[:-1], old[None], old.double(), old.to_sparse(), old.int()]
        holder[key] = options[random.integers(len(options))]
    elif random.integers(3):
        holder[key] = STRANGE_VALUES[random.integers(len(STRANGE_VALUES))]
    else:
        del holder[key]
    return changed
