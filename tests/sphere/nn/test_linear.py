from __future__ import annotations

import pytest
import torch

from vicinal.sphere import CovariantLinear, Fragments, FragmentType

IN, OUT = FragmentType([3, 2, 0, 1]), FragmentType([2, 4, 0, 2])


def make(**options) -> CovariantLinear:
    torch.manual_seed(0)
    return CovariantLinear(IN, OUT, **options).double()


def draw(batch: int = 4) -> Fragments:
    return Fragments.randn(
        IN, batch, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )


@pytest.mark.parametrize("real", [False, True])
def test_channels_of_each_degree_are_mixed(real):
    layer, fragments = make(real=real), draw()
    for l, part in enumerate(layer(fragments)):
        torch.testing.assert_close(part, fragments[l] @ layer.weight_matrix(l))


@pytest.mark.parametrize("real", [False, True])
def test_only_degree_zero_has_a_bias(real):
    layer, fragments = make(bias=True, real=real), draw()
    plain = layer(fragments)
    with torch.no_grad():
        layer.get_parameter("bias").add_(1)
    moved = layer(fragments)
    expected = torch.full_like(plain[0], 1 if real else 1 + 1j)
    torch.testing.assert_close(moved[0] - plain[0], expected)
    for l in (1, 3):
        assert torch.equal(moved[l], plain[l])


def test_gradients_are_those_of_finite_differences():
    layer = make(bias=True)

    def run(packed, *parameters):
        named = dict(zip(dict(layer.named_parameters()), parameters, strict=True))
        return torch.func.functional_call(layer, named, Fragments(IN, packed)).packed

    packed = draw(2).packed.requires_grad_()
    assert torch.autograd.gradcheck(run, [packed, *layer.parameters()])


def test_complex_weights_count_twice():
    assert make().weight.numel() == 2 * (3 * 2 + 2 * 4 + 1 * 2)
    assert make(real=True).weight.numel() == 3 * 2 + 2 * 4 + 1 * 2


def test_the_scale_of_fragments_is_kept_at_first():
    torch.manual_seed(0)
    kind = FragmentType([50, 50])
    out = CovariantLinear(kind, kind)(Fragments.randn(kind, 100))
    assert 0.8 < 2 * out.packed.square().mean() < 1.2


def test_degrees_that_are_missing_are_named():
    with pytest.raises(ValueError, match=r"\[1, 1\]\) asks for degree 1, of which .*\[1\]\) has"):
        CovariantLinear(FragmentType([1]), FragmentType([1, 1]))
    with pytest.raises(ValueError, match=r"takes FragmentType\(\[3, 2, 0, 1\]\), got"):
        make()(Fragments.randn(OUT, 2, dtype=torch.float64))
