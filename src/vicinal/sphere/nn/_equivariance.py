"""How far a module is from commuting with its group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from vicinal.sphere.harmonic import Fragments, FragmentType

LEAST_INPUTS = 16  # that the spread of outputs is taken over


def equivariance_error(
    module: Callable[[Fragments], Any],
    type_in: FragmentType,
    *,
    n_rotations: int = 16,
    seed: int = 0,
) -> float:
    """Return the largest difference between rotating before and after a module, by its spread.

    max_R ‖M(R f) − R M(f)‖ over Haar-random elements R of the group of the type, rotations unless
    it has another, each with a random input f of its own,
    divided by the spread of the outputs over inputs, the root mean square of ‖M(f) − mean M(f)‖:
    an output that hardly depends on the input must be that much more exact. Where M gives a plain
    tensor, that is taken as invariant: ‖M(R f) − M(f)‖.

    Parameters
    ----------
    module : a module or function of Fragments
        Judged in its own precision (that of its parameters or buffers, else float32) and as it
        is in evaluation mode; its mode is given back.
    type_in : FragmentType
        What the module takes.
    n_rotations : int, default=16
    seed : int, default=0
        Of the rotations and the inputs.

    Returns
    -------
    float
        At rounding level for an equivariant module: about 1e-6 in float32, 1e-15 in float64.

    Examples
    --------
    >>> from vicinal.sphere import CovariantLinear, FragmentType, equivariance_error
    >>> kind = FragmentType([2, 2, 1])
    >>> equivariance_error(CovariantLinear(kind, kind), kind) < 1e-6
    True
    """
    generator = torch.Generator().manual_seed(seed)
    dtype, device = precision_of(module)
    n_inputs = max(n_rotations, LEAST_INPUTS)
    exact = Fragments.randn(type_in, n_inputs, dtype=torch.float64, generator=generator)
    rotations = type_in.group.sample(n_inputs, generator)
    plain = exact.to(dtype).to(device)
    # Rounded once, after the rotation: rounding on the way would be counted as the module's.
    turned = plain.to(torch.float64).rotate(rotations).to(dtype)
    with _evaluating(module), torch.no_grad():
        before, after = module(turned), module(plain)
    differences, spread = _compare(before, after, rotations)
    if spread == 0:
        raise ValueError(
            "the module's output is the same for every input, so no relative error can be given."
        )
    worst = (differences[:n_rotations].max() / spread).item()
    return worst if worst == worst else float("inf")  # NaN is as wrong as can be


def _compare(before: Any, after: Any, rotations: Any) -> tuple[Tensor, Tensor]:
    """Return ‖M(R f) − R M(f)‖ of every input, and how far the M(f) are spread."""
    if isinstance(after, Fragments):
        after = after.to(torch.float64)
        outputs, expected = after.packed.T, after.rotate(rotations).packed.T
        answer = before.packed.double().T
    else:
        outputs = expected = after.double().flatten(1)
        answer = before.double().flatten(1)
    deviations = torch.linalg.vector_norm(outputs - outputs.mean(0), dim=1)
    differences = torch.linalg.vector_norm(answer - expected, dim=1)
    return differences, deviations.square().mean().sqrt()


def precision_of(module: object) -> tuple[torch.dtype, torch.device]:
    """Return the precision and the device a module computes in, float32 where nothing says."""
    if isinstance(module, nn.Module):
        for tensor in (*module.parameters(), *module.buffers()):
            if tensor.is_floating_point():
                return tensor.dtype, tensor.device
    return torch.float32, torch.device("cpu")


@contextmanager
def _evaluating(module: object) -> Iterator[None]:
    if not isinstance(module, nn.Module):
        yield
        return
    modes = {part: part.training for part in module.modules()}
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes.items():
            part.training = mode
