"""Real layers against complex ones, and products on a grid against exact ones, with gradients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks._measure import Case

# What is compared with the exact layer of complex weights, and the most it may take of its time.
VARIANTS: dict[str, tuple[dict[str, Any], dict[int, float]]] = {
    "exact, real": ({"pairs": "unordered", "real": True}, {8: 0.6, 12: 0.6, 24: 0.6}),
    "grid of rank 4": ({"pairs": "grid", "rank": 4}, {8: 0.75, 24: 0.12}),
    "grid of rank 4, real": ({"pairs": "grid", "rank": 4, "real": True}, {}),
    "grid of rank 16": ({"pairs": "grid", "rank": 16}, {24: 0.35}),
}
REPEATS = {8: 20, 12: 5, 24: 1}  # of each run, so that one takes tenths of a second


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield each variant at each highest degree."""
    for l_max in (8,) if quick else REPEATS:
        for name, (options, limits) in VARIANTS.items():
            yield compare(l_max, name, options, limits.get(l_max))


def compare(l_max: int, name: str, options: Mapping[str, Any], most: float | None) -> Case:
    """Go forward and backward through one layer, 4 channels a degree, batch 50."""
    import torch

    from vicinal.sphere import ClebschGordanLayer, Fragments, FragmentType, equivariance_error

    torch.manual_seed(0)
    kind = FragmentType.uniform(4, l_max)
    variant = kind.as_real() if options.get("real") else kind
    rest = {key: value for key, value in options.items() if key != "real"}
    layers = (
        ClebschGordanLayer(variant, variant, **rest),
        ClebschGordanLayer(kind, kind, pairs="unordered"),
    )
    inputs = Fragments.randn(variant, 50), Fragments.randn(kind, 50)

    def run(at: int) -> None:
        for _ in range(REPEATS[l_max]):
            given = Fragments(inputs[at].type, inputs[at].packed.clone().requires_grad_())
            layers[at](given).packed.square().sum().backward()

    def check(found: Any, expected: Any) -> Mapping[str, Any]:
        error = equivariance_error(layers[0].double(), variant)
        layers[0].float()
        if error > 1e-12:
            raise AssertionError(f"an equivariance error of {error:.1e}")
        return {"note": f"equivariance error {error:.0e} in double precision"}

    return Case(
        name=f"degrees to {l_max}, {name}",
        peer_name="exact, complex",
        ours=lambda: run(0),
        peer=lambda: run(1),
        warm_up=lambda: (run(0), run(1)),
        check=check,
        limits={} if most is None else {"cpu_ratio": most},
    )
