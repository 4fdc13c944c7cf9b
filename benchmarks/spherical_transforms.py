"""Spherical transforms, their inverses and gradients, against torch-harmonics."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchmarks._measure import Case

SIGNALS = 16
REPEATS = {32: 200, 64: 40, 128: 8}  # of each run, so that one takes tenths of a second


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield three cases a bandwidth: there, back, and there with the gradient."""
    if importlib.util.find_spec("torch_harmonics") is None:
        print("torch-harmonics is not installed (pip install torch-harmonics): nothing to compare")
        return
    for bandwidth in (32,) if quick else REPEATS:
        yield from compare(bandwidth)


def compare(bandwidth: int) -> Iterator[Case]:
    """Transform 16 real signals of 2b × 2b samples to all degrees below b, and back.

    Both keep the orders m ≥ 0 alone, in single precision.
    """
    import torch
    from torch_harmonics import InverseRealSHT, RealSHT

    from vicinal.sphere import SphericalTransform

    torch.manual_seed(0)
    b, sizes = bandwidth, {"lmax": bandwidth, "mmax": bandwidth}
    ours = SphericalTransform(b, b - 1, real=True)
    theirs, their_inverse = RealSHT(2 * b, 2 * b, **sizes), InverseRealSHT(2 * b, 2 * b, **sizes)
    signals = torch.randn(SIGNALS, 1, 2 * b, 2 * b)
    fragments, coefficients = ours(signals), theirs(signals)

    def follow(transform: Callable[[Any], Any], read: Callable[[Any], Any]) -> Any:
        given = signals.clone().requires_grad_()
        read(transform(given)).square().sum().backward()
        return given.grad

    def read_complex(values: Any) -> Any:
        return torch.view_as_real(values)

    pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "forward": (lambda: ours(signals), lambda: theirs(signals)),
        "inverse": (lambda: ours.inverse(fragments), lambda: their_inverse(coefficients)),
        "forward and backward": (
            lambda: follow(ours, lambda found: found.packed),
            lambda: follow(theirs, read_complex),
        ),
    }
    for name, (one, other) in pairs.items():
        yield Case(
            name=f"{name}, bandwidth {b}",
            peer_name="torch-harmonics",
            ours=_often(one, REPEATS[b]),
            peer=_often(other, REPEATS[b]),
            warm_up=lambda one=one, other=other: (one(), other()),  # type: ignore[misc]
            check=lambda found, expected: _agree(b),
            limits={"cpu_ratio": 1.1},
        )


def _often(work: Callable[[], Any], times: int) -> Callable[[], None]:
    def run() -> None:
        for _ in range(times):
            work()

    return run


def _agree(bandwidth: int) -> Mapping[str, Any]:
    """Compare coefficients where both have the same grid, Gauss–Legendre with b rings."""
    import torch
    from torch_harmonics import RealSHT

    from vicinal.sphere import SphericalTransform

    b = bandwidth
    peer = RealSHT(b, 2 * b, lmax=b, mmax=b, grid="legendre-gauss").double()
    signals = torch.randn(2, 1, b, 2 * b, dtype=torch.float64)
    ours = SphericalTransform(b, b - 1, "gauss-legendre").double()
    found, expected = ours(signals).to_complex(), peer(signals)
    error = max(
        float((of[:, degree:, 0] - expected[:, 0, degree, : degree + 1]).abs().max())
        for degree, of in enumerate(found)
    )
    if error > 1e-10:
        raise AssertionError(f"{error:.1e} away from torch-harmonics")
    return {"note": f"coefficients differ by {error:.0e}"}
