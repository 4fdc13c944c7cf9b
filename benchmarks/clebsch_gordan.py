"""The Clebsch–Gordan layer against e3nn's fully connected tensor product, with gradients."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks._measure import Case

TAU = [12, 7, 6, 5, 4, 4, 4, 4, 3]
SHALLOW = [4, 3, 2, 2]


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield the layer of the spherical digits, batch 50, and a small one."""
    if importlib.util.find_spec("e3nn") is None:
        print("e3nn is not installed (pip install e3nn): nothing to compare with")
        return
    yield compare(SHALLOW, 50, 0.5)
    if not quick:
        yield compare(TAU, 50, 1 / 15)


def compare(tau: list[int], batch: int, most: float) -> Case:
    """Multiply and mix fragments of one type, and send a gradient back to input and weights.

    Both mix all pairs of fragments down to the same number of channels. The peer's are real and
    ours complex, which is twice the numbers and four times the multiplications.
    """
    import torch
    from e3nn import o3

    from vicinal.sphere import ClebschGordanLayer, Fragments, FragmentType

    torch.manual_seed(0)
    kind = FragmentType(tau)
    layer = ClebschGordanLayer(kind, kind)
    irreps = o3.Irreps("+".join(f"{t}x{degree}e" for degree, t in enumerate(tau)))
    product = o3.FullyConnectedTensorProduct(irreps, irreps, irreps)

    def ours() -> Any:
        fragments = Fragments.randn(kind, batch).requires_grad_()
        layer(fragments).packed.square().sum().backward()
        return fragments.packed.grad

    def peer() -> Any:
        x = torch.randn(batch, irreps.dim, requires_grad=True)
        product(x, x).square().sum().backward()
        return x.grad

    def check(found: Any, expected: Any) -> Mapping[str, Any]:
        reference = ClebschGordanLayer(kind, kind, backend="torch")
        reference.load_state_dict(layer.state_dict())
        fragments = Fragments.randn(kind, batch)
        wanted = reference(fragments).packed.detach()
        error = float((layer(fragments).packed.detach() - wanted).norm() / wanted.norm())
        if error > 1e-6:
            raise AssertionError(f"{error:.1e} away from plain operations")
        return {"note": f"relative difference from plain operations {error:.0e}"}

    return Case(
        name=f"forward and backward, τ = {tau}, batch {batch}",
        peer_name="e3nn",
        ours=ours,
        peer=peer,
        warm_up=lambda: (ours(), peer()),
        check=check,
        limits={"cpu_ratio": most},
    )
