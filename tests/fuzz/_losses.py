"""Bad batches for the losses of networks: a finite loss with a finite gradient, or a ValueError."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from tests.fuzz.calls import Call, Outputs
from tests.fuzz.numbers import ANY, REFUSE, SAME, Case

from vicinal.losses import GerrymanderingLoss, GerrymanderingRegressionLoss, NeighborhoodLoss

torch.manual_seed(0)
EMBEDDINGS, LABELS = torch.randn(24, 3), torch.arange(24) % 3


def _with(value: float, like: torch.Tensor = EMBEDDINGS) -> torch.Tensor:
    changed = like.clone()
    changed.view(-1)[4] = value
    return changed


BATCHES: dict[str, Case] = {
    "NaN": (REFUSE, _with(float("nan"))),
    "inf": (REFUSE, _with(float("inf"))),
    "-inf": (REFUSE, _with(-float("inf"))),
    "all NaN": (REFUSE, EMBEDDINGS * float("nan")),
    "1e38": (ANY, _with(3e38)),
    "times 1e+19": (ANY, EMBEDDINGS * 1e19),
    "times 1e+30": (ANY, EMBEDDINGS * 1e30),
    "times 1e-19": (ANY, EMBEDDINGS * 1e-19),
    "times 1e-30": (ANY, EMBEDDINGS * 1e-30),
    "denormal": (ANY, EMBEDDINGS * 1e-44),
    "doubles times 1e+160": (ANY, EMBEDDINGS.double() * 1e160),
    "doubles times 1e+300": (ANY, EMBEDDINGS.double() * 1e300),
    "doubles times 1e-300": (ANY, EMBEDDINGS.double() * 1e-300),
    "half": (ANY, EMBEDDINGS.half()),
    "half times 300": (ANY, EMBEDDINGS.half() * 300),
    "half times 30000": (ANY, (EMBEDDINGS / EMBEDDINGS.abs().max() * 60000).half()),
    "brain floats": (ANY, EMBEDDINGS.bfloat16()),
    "whole": (REFUSE, (10 * EMBEDDINGS).long()),
    "boolean": (REFUSE, EMBEDDINGS > 0),
    "complex": (REFUSE, EMBEDDINGS + 1j),
    "sparse": (REFUSE, EMBEDDINGS.to_sparse()),
    "meta": (REFUSE, EMBEDDINGS.to("meta")),
    "an array": (REFUSE, EMBEDDINGS.numpy()),
    "a list": (REFUSE, EMBEDDINGS.tolist()),
    "nothing": (REFUSE, None),
    "one axis": (REFUSE, EMBEDDINGS[:, 0]),
    "three axes": (REFUSE, EMBEDDINGS[..., None]),
    "no rows": (ANY, EMBEDDINGS[:0]),
    "no columns": (ANY, EMBEDDINGS[:, :0]),
    "fewer": (REFUSE, EMBEDDINGS[:-1]),
    "all alike": (ANY, torch.ones(24, 3)),
    "all zero": (ANY, torch.zeros(24, 3)),
    "twice": (ANY, EMBEDDINGS[:12].repeat(2, 1)),
    "far away": (ANY, EMBEDDINGS + 1e6),
    "doubles": (ANY, EMBEDDINGS.double()),
    "strided": (SAME, EMBEDDINGS.repeat(1, 2)[:, :3]),
    "transposed": (SAME, EMBEDDINGS.t().contiguous().t()),
}
CLASSES: dict[str, Case] = {
    "floats": (REFUSE, LABELS.float()),
    "complex": (REFUSE, LABELS + 1j),
    "too few": (REFUSE, LABELS[:-1]),
    "two columns": (REFUSE, LABELS[:, None]),
    "an array": (REFUSE, LABELS.numpy()),
    "nothing": (REFUSE, None),
    "one class": (ANY, 0 * LABELS),
    "a class each": (ANY, torch.arange(24)),
    "negative": (SAME, LABELS - 5),
    "huge": (SAME, LABELS + 2**61),
    "bytes": (SAME, LABELS.to(torch.uint8)),
    "boolean": (ANY, LABELS > 0),
}
NUMBERS: dict[str, Case] = {
    "NaN": (REFUSE, _with(float("nan"), LABELS.float())),
    "inf": (REFUSE, _with(float("inf"), LABELS.float())),
    "complex": (REFUSE, LABELS + 1j),
    "too few": (REFUSE, LABELS[:-1].float()),
    "constant": (ANY, torch.ones(24)),
    "times 1e+30": (ANY, LABELS * 1e30),
    "times 1e-30": (ANY, LABELS * 1e-30),
    "doubles times 1e+200": (ANY, LABELS.double() * 1e200),
    "whole": (ANY, LABELS),
    "boolean": (ANY, LABELS > 0),
    "long": (ANY, LABELS + 2**61),
}
_some = torch.arange(6)
MINED: dict[str, Case] = {
    "triplets": (ANY, (_some, _some + 3, _some + 1)),
    "none": (ANY, (_some[:0],) * 3),
    "pairs": (ANY, (_some, _some + 3, _some, _some + 1)),
    "beyond": (REFUSE, (_some, _some + 3, _some + 24)),
    "negative": (REFUSE, (_some - 7, _some + 3, _some + 1)),
    "floats": (REFUSE, (_some.float(), _some.float(), _some.float())),
    "boolean": (REFUSE, (_some > 1, _some > 2, _some > 3)),
    "lengths": (REFUSE, (_some, _some[:4], _some)),
    "two": (REFUSE, (_some, _some)),
    "nothing": (REFUSE, ()),
    "lists": (REFUSE, ([0, 1], [3, 4], [1, 2])),
    "squares": (REFUSE, (_some[:, None],) * 3),
    "a number": (REFUSE, 3),
}
SETTINGS: dict[str, Case] = {
    repr(v): (REFUSE, v) for v in (0, -1, None, "3", True, float("nan"), float("inf"), 1j, [3])
}


def calls() -> Iterator[Call]:
    """Yield the three losses, alone and with references."""
    kinds: dict[str, tuple[Callable[[Any], Any], Any, dict[str, Case]]] = {
        "GerrymanderingLoss": (lambda k: GerrymanderingLoss(k), LABELS, CLASSES),
        "NeighborhoodLoss": (lambda k: NeighborhoodLoss(), LABELS, CLASSES),
        "GerrymanderingRegressionLoss": (
            lambda k: GerrymanderingRegressionLoss(k), LABELS.float(), NUMBERS,
        ),
    }  # fmt: skip
    for name, (make, labels, table) in kinds.items():
        counts = SETTINGS | {"1.5": (REFUSE, 1.5), "23": (ANY, 23), "24": (REFUSE, 24)}
        yield Call(
            name, _batch(make), embeddings=(EMBEDDINGS, BATCHES), labels=(labels, table),
            indices=(None, MINED), k=(3, {} if "Neighborhood" in name else counts),
        )  # fmt: skip
        yield Call(
            f"{name} with references", _references(make), embeddings=(EMBEDDINGS, BATCHES),
            labels=(labels, table), columns=(3, {"fewer": (REFUSE, 2)}),
        )  # fmt: skip
    for name, kind in (("margin", GerrymanderingLoss), ("gamma", GerrymanderingRegressionLoss),
                       ("temperature", NeighborhoodLoss)):  # fmt: skip
        table = SETTINGS | {repr(v): (ANY, v) for v in (1e-300, 1e-30, 1e30, 1e300)}
        yield Call(f"{kind.__name__}.{name}", _setting(kind, name), value=(1.0, table))


def _outputs(loss: Any, *leaves: Any) -> Outputs:
    loss.backward()
    gradients = [leaf.grad.to_dense() for leaf in leaves if leaf.grad is not None]
    return tuple(part.detach().double().numpy() for part in (loss, *gradients))


def _leaf(values: Any) -> Any:
    is_float = isinstance(values, torch.Tensor) and values.is_floating_point()
    return values.detach().clone().requires_grad_() if is_float and not values.is_sparse else values


def _batch(make: Callable[[Any], Any]) -> Callable[..., Outputs]:
    def run(embeddings: Any, labels: Any, indices: Any, k: Any) -> Outputs:
        leaf = _leaf(embeddings)
        n = len(embeddings) if isinstance(embeddings, torch.Tensor) and len(embeddings) == 0 else 24
        given = labels[:n] if n == 0 else labels
        return _outputs(make(k)(leaf, given, indices), leaf)

    return run


def _references(make: Callable[[Any], Any]) -> Callable[..., Outputs]:
    def run(embeddings: Any, labels: Any, columns: Any) -> Outputs:
        queries, references = _leaf(EMBEDDINGS[:5, :columns] + 0.1), _leaf(embeddings)
        own = LABELS[:5] if labels is None else labels[:5]
        found = make(3)(queries, own, None, references, labels)
        return _outputs(found, queries, references)

    return run


def _setting(kind: Any, name: str) -> Callable[..., Outputs]:
    def run(value: Any) -> Outputs:
        leaf = _leaf(EMBEDDINGS)
        labels = LABELS.float() if kind is GerrymanderingRegressionLoss else LABELS
        return _outputs(kind(**{name: value})(leaf, labels), leaf)

    return run
