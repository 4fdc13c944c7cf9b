"""The Clebsch–Gordan layer against the product written out number by number."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import clebsch_gordan as oracle

from vicinal._kernels._tiles import ROW_BYTES
from vicinal.sphere import (
    SU2,
    ClebschGordanLayer,
    Fragments,
    FragmentType,
    equivariance_error,
    random_rotations,
)

BACKENDS = ("numba", "torch")
PAIRS = ("ordered", "unordered", "channelwise")
MNIST = FragmentType([12, 7, 6, 5, 4, 4, 4, 4, 3])


def make(tau_in, tau_out, **options):
    torch.manual_seed(0)
    return ClebschGordanLayer(FragmentType(tau_in), FragmentType(tau_out), **options).double()


def draw(kind: FragmentType, batch: int, seed: int = 0, dtype=torch.float64) -> Fragments:
    generator = torch.Generator().manual_seed(seed)
    return Fragments.randn(kind, batch, dtype=dtype, generator=generator)


def gradient(tensor: torch.Tensor) -> torch.Tensor:
    assert tensor.grad is not None
    return tensor.grad.clone()


def ordered_weights(layer: ClebschGordanLayer) -> dict[tuple[int, int, int], np.ndarray]:
    """Cut the weights of each degree into (τ_l1, τ_l2, τ_l) for each ordered pair.

    By degrees l1 ≥ l2, the pair (l1, l2) before (l2, l1): the order that is promised to those who
    read weights.
    """
    tau = layer.type_in.tau
    found = {}
    for l in range(len(layer.type_out)):
        matrix, row = layer.weight_matrix(l).detach().numpy(), 0
        for l1, l2 in ((a, b) for a in range(len(tau)) for b in range(a + 1)):
            if not l1 - l2 <= l <= l1 + l2:
                continue
            for pair in dict.fromkeys([(l1, l2), (l2, l1)]):
                n = tau[pair[0]] * tau[pair[1]]
                found[l, *pair] = matrix[row : row + n].reshape(tau[pair[0]], tau[pair[1]], -1)
                row += n
        assert row == len(matrix)
    return found


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("tau_in", "tau_out"),
    [([2, 3, 1, 2], [3, 1, 2, 1]), ([1] * 5, [2, 3, 1]), ([2, 1], [1, 2, 5]), ([3], [7])],
)
def test_all_ordered_pairs_are_multiplied_and_mixed(backend, tau_in, tau_out):
    layer = make(tau_in, tau_out, backend=backend)
    fragments = draw(layer.type_in, 3)
    parts = [part.numpy() for part in fragments]
    expected = oracle.product(parts, ordered_weights(layer), tau_out)
    for found, wanted in zip(layer(fragments).to_complex(), expected, strict=True):
        np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-12, atol=1e-13)


@settings(deadline=None, max_examples=25)
@given(
    tau_in=st.lists(st.integers(0, 5), min_size=1, max_size=5).filter(lambda tau: sum(tau) > 1),
    tau_out=st.lists(st.integers(0, 7), min_size=1, max_size=5).filter(any),
    batch=st.integers(1, 19),
    pairs=st.sampled_from(PAIRS),
    real=st.booleans(),
)
def test_backends_agree_on_values_and_gradients(tau_in, tau_out, batch, pairs, real):
    try:
        layer = make(tau_in, tau_out, pairs=pairs, real=real)
    except ValueError:
        return  # no path to some degree
    fragments = draw(layer.type_in, batch).requires_grad_()
    towards = draw(layer.type_out, batch, seed=1).packed
    found = {}
    for layer.backend in BACKENDS:
        layer.zero_grad()
        fragments.packed.grad = None
        out = layer(fragments).packed
        out.backward(towards)
        found[layer.backend] = [out.detach(), gradient(fragments.packed), gradient(layer.weight)]
    for values, wanted in zip(found["numba"], found["torch"], strict=True):
        torch.testing.assert_close(values, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("pairs", "real"), list(itertools.product(PAIRS, (False, True))))
def test_gradients_are_those_of_finite_differences(backend, pairs, real):
    layer = make([2, 1, 1], [1, 2], pairs=pairs, real=real, backend=backend, residual=True)
    fragments = draw(layer.type_in, 1)

    def run(packed, *parameters):
        named = dict(zip(dict(layer.named_parameters()), parameters, strict=True))
        return torch.func.functional_call(layer, named, Fragments(layer.type_in, packed)).packed

    inputs = [fragments.packed.requires_grad_(), *layer.parameters()]
    assert torch.autograd.gradcheck(run, inputs)


def test_plain_torch_has_second_gradients():
    layer = make([2, 1], [1, 1], backend="torch")
    packed = draw(layer.type_in, 2).packed.requires_grad_()
    assert torch.autograd.gradgradcheck(
        lambda packed: layer(Fragments(layer.type_in, packed)).packed, [packed]
    )


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 3e-6), (torch.float64, 1e-14)])
def test_backends_agree_at_the_sizes_of_the_digits(dtype, tolerance):
    torch.manual_seed(0)
    layer = ClebschGordanLayer(MNIST, MNIST).to(dtype)
    fragments = draw(MNIST, 21, dtype=dtype)
    found = {}
    for layer.backend in ("numba", "torch"):
        found[layer.backend] = layer(fragments).packed.detach()
    error = (found["numba"] - found["torch"]).abs().max() / found["torch"].abs().max()
    assert error < tolerance


def test_high_degrees_stay_inside_their_buffers():
    tau_in, tau_out = [1] * 20 + [3], [1, 2, 1]
    layer = make(tau_in, tau_out, pairs="unordered")
    fragments = draw(layer.type_in, 3).requires_grad_()
    found = {}
    for layer.backend in ("numba", "torch"):
        fragments.packed.grad = None
        layer.zero_grad()
        layer(fragments).power_spectrum().sum().backward()
        found[layer.backend] = (gradient(fragments.packed), gradient(layer.weight))
    for one, other in zip(found["numba"], found["torch"], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("pairs", PAIRS)
def test_weights_are_counted_as_their_pairs_say(pairs):
    layer = make([2, 1, 3], [2, 3], pairs=pairs)
    columns = {  # l = 0: squares; l = 1: (1,0), (1,1), (2,1), (2,2)
        "ordered": (4 + 1 + 9, 2 * 2 + 1 + 2 * 3 + 9),
        "unordered": (3 + 1 + 6, 2 + 0 + 3 + 3),
        "channelwise": (2 + 1 + 3, 1 + 1),
    }[pairs]
    assert layer.pairing.fan_in == columns
    assert layer.weight.shape == (2 * columns[0] + 3 * columns[1], 2)
    assert [layer.weight_matrix(l).shape for l in range(2)] == [(columns[0], 2), (columns[1], 3)]


def test_the_digits_network_has_its_published_number_of_weights():
    first = ClebschGordanLayer(FragmentType.uniform(1, 8), MNIST)
    other = ClebschGordanLayer(MNIST, MNIST)
    head = 2 * 122 + (122 + 1) * 256 + (256 + 1) * 10
    assert first.weight.numel() + 4 * other.weight.numel() + head == 342_086


@pytest.mark.parametrize("pairs", PAIRS)
def test_real_weights_keep_the_symmetry_of_real_signals(pairs):
    layer = make([3, 2, 2, 1], [2, 2, 1, 2], pairs=pairs, real=True, residual=True)
    parts = []
    for l, part in enumerate(draw(layer.type_in, 4)):
        signs = torch.tensor([(-1.0) ** m for m in range(-l, l + 1)])[:, None]
        parts.append(part + signs * part.flip(1).conj())
    for l, part in enumerate(layer(Fragments.from_complex(parts))):
        signs = torch.tensor([(-1.0) ** m for m in range(-l, l + 1)])[:, None]
        torch.testing.assert_close(part, signs * part.flip(1).conj(), rtol=1e-12, atol=1e-12)


def test_a_residual_adds_the_input():
    plain = make([2, 2], [2, 2])
    added = make([2, 2], [2, 2], residual=True)
    added.weight = plain.weight
    fragments = draw(plain.type_in, 3)
    torch.testing.assert_close(added(fragments).packed, plain(fragments).packed + fragments.packed)


def test_a_residual_between_types_is_mixed_and_zero_where_nothing_is_shared():
    layer = make([2, 2, 1], [3, 2, 1, 2], residual=True)
    with torch.no_grad():
        layer.weight.zero_()
    fragments = draw(layer.type_in, 3)
    out = layer(fragments)
    torch.testing.assert_close(out[1], fragments[1] @ layer.skip.weight_matrix(1))
    assert out[3].abs().max() == 0


def test_the_number_of_threads_changes_no_bit():
    layer = ClebschGordanLayer(MNIST, MNIST)
    found = []
    threads = torch.get_num_threads()
    try:
        for n in (1, 2, 3):
            torch.set_num_threads(n)
            fragments = draw(MNIST, 100, dtype=torch.float32).requires_grad_()
            layer.zero_grad()
            out = layer(fragments)
            out.packed.backward(torch.ones_like(out.packed))
            found.append((out.packed.detach(), gradient(fragments.packed), gradient(layer.weight)))
    finally:
        torch.set_num_threads(threads)
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_a_sample_does_not_depend_on_its_batch():
    layer = ClebschGordanLayer(MNIST, MNIST)
    fragments = draw(MNIST, 33, dtype=torch.float32)
    alone = layer(Fragments(MNIST, fragments.packed[:, 32:].contiguous()))
    assert torch.equal(layer(fragments).packed[:, 32:], alone.packed)


def test_what_needs_no_gradient_gets_none():
    layer = make([2, 1], [2, 1])
    fragments = draw(layer.type_in, 3).requires_grad_()
    layer.weight.requires_grad_(False)
    layer(fragments).power_spectrum().sum().backward()
    assert layer.weight.grad is None
    alone = gradient(fragments.packed)
    layer.weight.requires_grad_(True)
    layer(fragments.detach()).power_spectrum().sum().backward()
    weights = gradient(layer.weight)
    fragments.packed.grad = layer.weight.grad = None
    layer(fragments).power_spectrum().sum().backward()
    assert torch.equal(gradient(fragments.packed), alone)
    assert torch.equal(gradient(layer.weight), weights)


def test_no_samples_give_no_samples():
    layer = make([2, 1], [2, 1])
    assert layer(draw(layer.type_in, 0)).batch_size == 0


def test_products_start_at_the_scale_of_their_input():
    torch.manual_seed(0)
    for real, pairs in itertools.product((False, True), ("ordered", "unordered")):
        layer = ClebschGordanLayer(MNIST, MNIST, real=real, pairs=pairs)
        power = layer(draw(MNIST, 200, dtype=torch.float32)).packed.square().mean()
        assert 0.2 < 2 * power < 3


WIDTHS = """
import sys
from unittest import mock

import torch

wide = sys.argv[1] == "64"
features = "llvmlite.binding.get_host_cpu_features"
with mock.patch(features, return_value={"avx512f": wide}):
    from vicinal._kernels import _tiles
assert str(_tiles.ROW_BYTES) == sys.argv[1]

from vicinal.sphere import ClebschGordanLayer, Fragments, FragmentType

kind = FragmentType([5, 3, 2, 1])
torch.manual_seed(0)
fast, slow = (ClebschGordanLayer(kind, kind, backend=b).double() for b in ("numba", "torch"))
slow.load_state_dict(fast.state_dict())
fragments = Fragments.randn(kind, 21, dtype=torch.float64).requires_grad_()
for layer in (fast, slow):
    out = layer(fragments).packed
    found = [out, *torch.autograd.grad(out.square().sum(), [fragments.packed, layer.weight])]
    layer.found = found
print(max((a - b).abs().max().item() for a, b in zip(fast.found, slow.found)))
"""


def test_registers_of_the_other_width_give_the_product(tmp_path):
    row_bytes = "32" if ROW_BYTES == 64 else "64"  # this processor's own width has all other tests
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", WIDTHS, row_bytes]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert float(run.stdout) < 1e-11


MEMORY = """
import resource, sys, torch
from vicinal.sphere import ClebschGordanLayer, Fragments, FragmentType

kind = FragmentType([12, 7, 6, 5, 4, 4, 4, 4, 3])
layer = ClebschGordanLayer(kind, kind, backend=sys.argv[1])
torch.set_num_threads(1)

def step(batch):
    fragments = Fragments.randn(kind, batch).requires_grad_()
    layer(fragments).packed.sum().backward()

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

step(64)
before = peak()
step(int(sys.argv[2]))
print((peak() - before) / (4 * kind.n_rows * int(sys.argv[2])))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read as Linux counts it")
@pytest.mark.parametrize(("backend", "batch", "most"), [("numba", 2048, 8), ("torch", 256, 150)])
def test_memory_holds_activations_and_not_their_products(backend, batch, most):
    # Projected products of a sample are as long as 114 activations, and the dense formula holds 305
    # activations' worth with its gradient. The kernel holds input, output and their gradients,
    # plain torch the products of one pair of degrees, and what their gradient needs.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", MEMORY, backend, str(batch)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert float(run.stdout) < most


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: make([3], [1, 1]), r"\[3\]\) has degree 1, which FragmentType\(\[1, 1\]\)"),
        (lambda: make([0, 1], [0, 1]), "has degree 1"),
        (lambda: make([1, 1], [1, 1], pairs="all"), "pairs must be one of .* 'all'"),
        (lambda: make([1, 1], [1, 1], backend="c"), "backend must be one of .* 'c'"),
        (lambda: make([0, 1], [1, 0, 1], residual=True), "they share no degree"),
    ],
)
def test_layers_that_cannot_be_made_say_why(call, error):
    with pytest.raises(ValueError, match=error):
        call()


def test_inputs_that_do_not_fit_name_both_sides():
    layer = make([2, 1], [1])
    with pytest.raises(ValueError, match=r"takes FragmentType\(\[2, 1\]\), got .*\(\[1, 2\]\)"):
        layer(draw(FragmentType([1, 2]), 3))
    with pytest.raises(ValueError, match=r"in torch.float64, its input in torch.float32"):
        layer(draw(layer.type_in, 3, dtype=torch.float32))
    with pytest.raises(TypeError, match=r"takes Fragments of .* got Tensor"):
        layer(torch.zeros(10, 3))
    with pytest.raises(ValueError, match="on cpu, its input on meta"):
        layer(draw(layer.type_in, 3).to("meta"))


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-13)])
@pytest.mark.parametrize("pairs", PAIRS)
def test_the_product_turns_with_its_input(pairs, dtype, tolerance):
    torch.manual_seed(0)
    layer = ClebschGordanLayer(MNIST, MNIST, pairs=pairs).to(dtype)
    fragments = draw(MNIST, 5, dtype=dtype)
    rotations = random_rotations(5, generator=torch.Generator().manual_seed(0))
    one, other = layer(fragments.rotate(rotations)), layer(fragments).rotate(rotations)
    assert (one.packed - other.packed).norm() < tolerance * other.packed.norm()


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (FragmentType([2, 2, 1]), {}),
        (FragmentType([2, 2, 1]), {"real": True, "pairs": "unordered"}),
        (FragmentType("2x0e+2x1o+1x1e"), {"pairs": "unordered"}),
    ],
)
def test_the_kernel_is_twice_differentiable(kind, options):
    from vicinal.sphere.nn._product_numba import _Product

    torch.manual_seed(0)
    layer = ClebschGordanLayer(kind, kind, backend="numba", **options).double()
    packed = torch.randn(kind.n_rows, 3, dtype=torch.float64, requires_grad=True)

    def product(values, weight):
        return _Product.apply(values, weight, layer.pairing)

    assert torch.autograd.gradcheck(product, (packed, layer.weight))
    assert torch.autograd.gradgradcheck(product, (packed, layer.weight))


@pytest.mark.parametrize("pairs", ["ordered", "unordered", "channelwise"])
def test_real_fragments_are_multiplied_as_complex_ones_are(pairs):
    torch.manual_seed(0)
    kind = FragmentType([3, 2, 2, 1], real=True)
    fast = ClebschGordanLayer(kind, kind, pairs=pairs, residual=True, backend="numba").double()
    plain = ClebschGordanLayer(kind, kind, pairs=pairs, residual=True, backend="torch").double()
    full = ClebschGordanLayer(
        kind.as_complex(), kind.as_complex(), pairs=pairs, residual=True, real=True
    ).double()
    plain.load_state_dict(fast.state_dict())
    full.load_state_dict(fast.state_dict())
    f = Fragments.randn(kind, 21, dtype=torch.float64)
    expected = full(f.to_full()).to_real().packed
    answers, gradients = [], []
    for layer in (fast, plain):
        packed = f.packed.clone().requires_grad_()
        out = layer(Fragments(kind, packed)).packed
        answers.append(out.detach())
        gradients.append(torch.autograd.grad(out.pow(3).sum(), [packed, layer.weight]))
    torch.testing.assert_close(answers[0], expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(answers[1], expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-9, atol=1e-9)
    assert equivariance_error(fast, kind) < 1e-13


def test_real_fragments_are_complex_ones_at_half_the_size():
    kind = FragmentType("2x0e+2x1o+1x3e", real=True)
    assert kind.n_rows * 2 == kind.as_complex().n_rows
    f = Fragments.randn(kind, 4, dtype=torch.float64)
    full = f.to_full()
    torch.testing.assert_close(full.to_real().packed, f.packed)
    torch.testing.assert_close(full.power_spectrum(), f.power_spectrum())
    torch.testing.assert_close(full.cross_spectrum(), f.cross_spectrum())
    for part, whole in zip(f.to_complex(), full.to_complex(), strict=True):
        torch.testing.assert_close(part, whole)
    R = kind.group.sample(4, torch.Generator().manual_seed(0))
    torch.testing.assert_close(f.rotate(R).to_full().packed, full.rotate(R).packed)
    with pytest.raises(ValueError, match="functions on the sphere"):
        FragmentType([1], SU2(), real=True)
    with pytest.raises(ValueError, match="real functions stay real"):
        ClebschGordanLayer(kind, kind.as_complex())
