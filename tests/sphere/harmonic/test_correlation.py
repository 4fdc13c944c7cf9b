from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.oracles.harmonics import function, sphere_nodes

from vicinal.sphere import (
    Fragments,
    FragmentType,
    SO3Transform,
    random_rotations,
    so3_correlation,
    spherical_correlation,
    wigner_d_all,
)


def draw(batch, tau, seed):
    generator = torch.Generator().manual_seed(seed)
    return Fragments.randn(FragmentType(tau), batch, dtype=torch.float64, generator=generator)


def draw_matrices(leading, l_max, seed):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(*leading, 2 * l + 1, 2 * l + 1) for l in range(l_max + 1)]
    return [torch.randn(s, dtype=torch.complex128, generator=generator) for s in shapes]


def values(matrices, rotations):
    """g(R) = Σ_l Tr[G_l D^l(R)†] at rotations (r, 3, 3), for leading axes a, b."""
    D = wigner_d_all(len(matrices) - 1, rotations)
    return sum(torch.einsum("abmn,rmn->abr", G, d.conj()) for G, d in zip(matrices, D, strict=True))


def test_spherical_correlation_is_the_integral_against_the_rotated_filter():
    f, h = draw(2, [2, 2, 2, 2], 0), draw(3, [2, 2, 2, 2], 1)
    points, weights = sphere_nodes(5)
    R = random_rotations(4, torch.Generator().manual_seed(0))

    def on_sphere(fragments, sample, channel, at):
        return function(torch.cat(fragments.to_complex(), 1)[sample, :, channel].numpy(), at)

    found = values(spherical_correlation(f, h), R)
    for r in range(4):
        for a, b in np.ndindex(2, 3):
            expected = sum(
                weights
                @ (on_sphere(h, b, c, points @ R[r].numpy()).conj() * on_sphere(f, a, c, points))
                for c in range(2)
            )
            np.testing.assert_allclose(found[a, b, r], expected, atol=1e-12)


def test_so3_correlation_is_the_integral_against_the_rotated_filter():
    F, H = draw_matrices((2, 3), 2, 0), draw_matrices((4, 3), 2, 1)
    grid = SO3Transform(3, 2).double()
    S, R = grid.rotations(), random_rotations(3, torch.Generator().manual_seed(0))
    found = values(so3_correlation(F, H), R)
    f = values(F, S.flatten(0, 2))
    for r in range(3):
        h = values(H, (R[r].T @ S).flatten(0, 2))
        product = torch.einsum("acs,bcs->abs", f, h.conj()).unflatten(2, (6, 6, 6))
        mean = SO3Transform(3, 0).double()(product)[0][..., 0, 0]  # G_0 = ∫ g dμ
        torch.testing.assert_close(found[..., r], mean, rtol=0, atol=1e-12)


def test_rotating_the_signal_multiplies_the_matrices_from_the_left():
    f, h = draw(2, [1, 1, 1], 0), draw(2, [1, 1, 1], 1)
    Q = random_rotations(1, torch.Generator().manual_seed(0))[0]
    D = wigner_d_all(2, Q)
    turned = spherical_correlation(f.rotate(Q), h)
    for l, G in enumerate(spherical_correlation(f, h)):
        torch.testing.assert_close(turned[l], D[l] @ G, rtol=0, atol=1e-14)
    F, H = draw_matrices((2, 3), 2, 0), draw_matrices((4, 3), 2, 1)
    turned = so3_correlation([d @ G for d, G in zip(D, F, strict=True)], H)
    for l, G in enumerate(so3_correlation(F, H)):
        torch.testing.assert_close(turned[l], D[l] @ G, rtol=0, atol=1e-13)


def test_gradients_pass_through_both_correlations():
    F, H = draw_matrices((1, 2), 1, 0), draw_matrices((2, 2), 1, 1)
    inputs = [G.requires_grad_() for G in (*F, *H)]
    assert torch.autograd.gradcheck(lambda *G: tuple(so3_correlation(G[:2], G[2:])), inputs)
    kind = FragmentType([2, 2])

    def correlate(f, h):
        return tuple(spherical_correlation(Fragments(kind, f), Fragments(kind, h)))

    planes = [draw(2, [2, 2], seed).packed.requires_grad_() for seed in (0, 1)]
    assert torch.autograd.gradcheck(correlate, planes)


def test_types_that_cannot_be_correlated_are_refused_by_both_names():
    with pytest.raises(ValueError, match=r"signals of .*\[1, 1\].* and filters of .*\[2, 2\]"):
        spherical_correlation(draw(1, [1, 1], 0), draw(1, [2, 2], 0))
    with pytest.raises(ValueError, match=r"float64, the filter in torch\.float32"):
        spherical_correlation(draw(1, [1, 1], 0), draw(1, [1, 1], 0).to(torch.float32))
    with pytest.raises(ValueError, match="signals up to l = 1 and filters up to l = 2"):
        so3_correlation(draw_matrices((1, 1), 1, 0), draw_matrices((1, 1), 2, 0))
    with pytest.raises(ValueError, match=r"got \(1, 2, 1, 1\) and \(1, 3, 1, 1\) at l = 0"):
        so3_correlation(draw_matrices((1, 2), 1, 0), draw_matrices((1, 3), 1, 0))
