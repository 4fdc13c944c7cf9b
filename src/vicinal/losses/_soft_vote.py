"""The soft vote: what references say of queries, nearer ones louder."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from vicinal._validation import check_positive
from vicinal.losses._neighborhood import SMALLEST


def soft_vote(
    queries: Tensor,
    references: Tensor,
    targets: Tensor,
    *,
    temperature: float = 1.0,
    bias: Tensor | None = None,
) -> Tensor:
    """Compute the mean of the references' targets by the softmax over minus distances.

        v_i = Σ_j p_ij y_j,   p_ij ∝ exp(b_ij − d_ij / T),   d_ij = √(‖q_i − r_j‖² + 10⁻⁶)

    With targets that are classes, one-hot, v_i are the shares of the classes; with numbers, their
    mean. Several maps of the same rows may lie side by side along axes in front (…).

    Parameters
    ----------
    queries : Tensor of shape (…, m, p)
    references : Tensor of shape (…, n, p)
    targets : Tensor of shape (n, C), the same for all maps, or (…, n, C)
    temperature : float, default=1.0
        T.
    bias : Tensor that broadcasts to (…, m, n), or None
        b: −inf bars a reference, log w has it count w times. No gradient flows into it.

    Returns
    -------
    Tensor of shape (…, m, C)
        Zeros for a query all of whose references are barred.

    Notes
    -----
    Differentiable, once, in queries, references and targets. With G the derivatives by V and
    W = −P ∘ (G Yᵀ − (G ∘ V) 1) / (T d), those by the distances over the distances,

        ∂q = q ∘ W1 − W r,   ∂r = r ∘ Wᵀ1 − Wᵀ q,   ∂y = Pᵀ G.

    Time O(m n (p + C)); memory two numbers a pair. All passes over pairs are in place, which takes
    two thirds of the time that the operations differentiated one by one take.

    References
    ----------
    goldberger2004

    Examples
    --------
    >>> import torch
    >>> from vicinal.losses import soft_vote
    >>> places, classes = torch.tensor([[0.0], [1.0]]), torch.eye(2)
    >>> soft_vote(torch.tensor([[0.5]]), places, classes)
    tensor([[0.5000, 0.5000]])
    """
    wide = _check(queries, references, targets, bias)
    T = check_positive("temperature", temperature)
    vote: Any = _SoftVote.apply
    values: Tensor = vote(queries.to(wide), references.to(wide), targets.to(wide), bias, T)
    return values


class _SoftVote(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, queries: Tensor, references: Tensor, targets: Tensor, bias: Tensor | None,
        temperature: float,
    ) -> Tensor:  # fmt: skip
        centre = references.mean(-2, keepdim=True)  # far from the origin products lose digits
        queries, references = queries - centre, references - centre
        d = (queries @ references.mT).mul_(-2)
        d.add_(queries.square().sum(-1).unsqueeze(-1))
        d.add_(references.square().sum(-1).unsqueeze(-2)).clamp_(min=0).add_(SMALLEST).sqrt_()
        none = d.new_zeros(()) if bias is None else bias.to(d.dtype)
        shares = torch.softmax(torch.sub(none, d, alpha=1 / temperature), -1)
        # All barred is 0 / 0 in the whole row; places that are no numbers stay none.
        nobody = shares[..., :1].isnan() & d[..., :1].isfinite()
        if bool(nobody.any()):
            shares.masked_fill_(nobody, 0)
        # A product with few columns takes a third of the time with few rows instead.
        votes = (targets.mT.contiguous() @ shares.mT).mT
        ctx.temperature = temperature
        ctx.save_for_backward(queries, references, targets, shares, d, votes)
        return votes

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        queries, references, targets, shares, d, votes = ctx.saved_tensors
        outward = slope * (-1 / ctx.temperature)
        W = (outward @ targets.mT).sub_((outward * votes).sum(-1, keepdim=True))
        W.mul_(shares).div_(d)
        q, r = queries.mT, references.mT  # columns first, as packed maps have them: no copies
        by_queries = (q * W.sum(-1).unsqueeze(-2)).sub_(r @ W.mT).mT
        by_references = (r * W.sum(-2).unsqueeze(-2)).sub_(q @ W).mT
        by_targets = None
        if ctx.needs_input_grad[2]:
            by_targets = (shares.mT @ slope).sum_to_size(targets.shape)
        return by_queries, by_references, by_targets, None, None


def _check(
    queries: Tensor, references: Tensor, targets: Tensor, bias: Tensor | None
) -> torch.dtype:
    """Return the type to compute in; refuse shapes that do not fit together."""
    sides = {"queries": queries, "references": references, "targets": targets}
    for name, side in sides.items():
        if not isinstance(side, Tensor) or side.ndim < 2:
            shape = tuple(side.shape) if isinstance(side, Tensor) else type(side).__name__
            raise ValueError(f"{name} must be a tensor of rows and columns, got {shape}.")
    for name in ("queries", "references"):
        if not sides[name].is_floating_point():
            raise ValueError(f"{name} must hold floats, got {sides[name].dtype}.")
    maps, n, p = references.shape[:-2], *references.shape[-2:]
    if n == 0:
        raise ValueError("there are no references to vote; give at least one.")
    if queries.shape[:-2] != maps or queries.shape[-1] != p:
        raise ValueError(
            f"queries {tuple(queries.shape)} and references {tuple(references.shape)} must agree "
            "in all but the number of rows."
        )
    if targets.shape[-2] != n or targets.shape[:-2] not in ((), maps):
        raise ValueError(
            f"targets must have shape ({n}, C), a row to each reference, for all maps or for each; "
            f"got {tuple(targets.shape)}."
        )
    pairs = (*maps, queries.shape[-2], n)
    if bias is not None and not _broadcasts(bias, pairs):
        raise ValueError(f"bias must broadcast to the pairs {pairs}, got {tuple(bias.shape)}.")
    # Squares of half floats overflow at 256.
    wide = torch.promote_types(queries.dtype, references.dtype)
    return torch.promote_types(wide, torch.float)


def _broadcasts(bias: Tensor, pairs: tuple[int, ...]) -> bool:
    if bias.ndim > len(pairs):
        return False
    last = pairs[len(pairs) - bias.ndim :]
    return all(size in (1, full) for size, full in zip(bias.shape, last, strict=True))
