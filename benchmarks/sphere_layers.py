"""Real fragments against complex ones, products on a grid against exact ones, and transforms.

    python benchmarks/sphere_layers.py

Forward and backward of one layer, 4 channels a degree, batch 50, milliseconds of one core, the best
of a few runs; transforms against the plain way (an FFT of each ring, then an einsum over rings),
for 16 real signals on the Driscoll–Healy grid.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from vicinal.sphere import ClebschGordanLayer, Fragments, FragmentType, SphericalTransform
from vicinal.sphere.harmonic._transforms import _tables


def best(run: Callable[[], Any], repeats: int = 5) -> float:
    """Return the least time of several runs, in CPU milliseconds."""
    run()
    times = []
    for _ in range(repeats):
        began = time.process_time()
        run()
        times.append(time.process_time() - began)
    return 1e3 * min(times)


def time_layer(kind: FragmentType, **options: Any) -> float:
    """Return the time of forward and backward of one layer."""
    torch.manual_seed(0)
    layer, given = ClebschGordanLayer(kind, kind, **options), Fragments.randn(kind, 50)

    def run() -> None:
        packed = given.packed.clone().requires_grad_()
        layer(Fragments(kind, packed)).packed.square().sum().backward()

    return best(run, 3 if kind.l_max > 12 else 7)


def compare_layers(l_max: int) -> None:
    """Print the times of exact and grid layers, complex and real."""
    kind = FragmentType.uniform(4, l_max)
    exact = time_layer(kind, pairs="unordered")
    times = {
        "exact, real": time_layer(kind.as_real(), pairs="unordered"),
        "grid 4": time_layer(kind, pairs="grid", rank=4),
        "grid 4, real": time_layer(kind.as_real(), pairs="grid", rank=4),
        "grid 16": time_layer(kind, pairs="grid", rank=16),
    }
    told = ", ".join(f"{name} {value:.1f} ({value / exact:.2f})" for name, value in times.items())
    print(f"degrees to {l_max}: exact {exact:.1f} ms, {told}")


def compare_transforms(bandwidth: int) -> None:
    """Print the times of the transform, its inverse and its gradient against the plain way."""
    transform = SphericalTransform(bandwidth, bandwidth - 1, real=True)
    signal = torch.randn(16, 1, *transform.grid_shape)
    tables = _tables(bandwidth, bandwidth - 1, "driscoll-healy", "separable")
    analysis, synthesis = tables["analysis"].float(), tables["synthesis"].float()

    def plain(values: Tensor) -> Tensor:
        waves = torch.view_as_real(torch.fft.rfft(values)[..., :bandwidth])
        parts = [torch.einsum("...km,mlk->...lm", waves[..., at], analysis) for at in (0, 1)]
        return torch.stack(parts, -1)

    def plain_inverse(planes: Tensor) -> Tensor:
        parts = [torch.einsum("...lm,mkl->...km", planes[..., at], synthesis) for at in (0, 1)]
        return torch.fft.irfft(torch.complex(*parts), n=2 * bandwidth, norm="forward")

    def gradient(forward: Callable[[Tensor], Any]) -> Callable[[], None]:
        def run() -> None:
            out = forward(signal.clone().requires_grad_())
            (out.packed if isinstance(out, Fragments) else out).square().sum().backward()

        return run

    fragments, planes = transform(signal), plain(signal)
    pairs = {
        "forward": (lambda: transform(signal), lambda: plain(signal)),
        "inverse": (lambda: transform.inverse(fragments), lambda: plain_inverse(planes)),
        "forward and backward": (gradient(transform), gradient(plain)),
    }
    told = ", ".join(f"{name} {best(a) / best(b):.2f}" for name, (a, b) in pairs.items())
    print(f"bandwidth {bandwidth}, share of the plain way's time: {told}")


def main() -> None:
    """Print a line for each size."""
    torch.set_num_threads(1)
    for l_max in (8, 12, 24):
        compare_layers(l_max)
    for bandwidth in (32, 64, 128):
        compare_transforms(bandwidth)


if __name__ == "__main__":
    main()
