"""Claims about the checks users can call."""

from __future__ import annotations

import pytest
import torch

from vicinal.sphere import ClebschGordanLayer, Fragments, FragmentType
from vicinal.testing import assert_equivariant

KIND = FragmentType([2, 2, 1])


def drop_one_component(fragments: Fragments) -> Fragments:
    packed = fragments.packed.clone()
    packed[-1] = 0
    return Fragments(fragments.type, packed)


def test_an_equivariant_layer_passes_in_both_precisions():
    layer = ClebschGordanLayer(KIND, KIND)
    assert_equivariant(layer, KIND)
    assert_equivariant(layer.double(), KIND)


def test_a_layer_that_breaks_the_symmetry_is_named_with_its_error():
    with pytest.raises(AssertionError, match=r"drop_one_component .* relative error is \d"):
        assert_equivariant(drop_one_component, KIND)


def test_the_tolerance_can_be_set():
    layer = ClebschGordanLayer(KIND, KIND)
    with pytest.raises(AssertionError, match=r"above 1e-12 for torch\.float32"):
        assert_equivariant(layer, KIND, tolerance=1e-12)
    assert_equivariant(drop_one_component, KIND, tolerance=10.0)


def test_invariants_may_be_plain_tensors():
    assert_equivariant(lambda fragments: fragments.norms(), KIND)
    with pytest.raises(AssertionError):
        assert_equivariant(lambda fragments: torch.relu(fragments.packed).T, KIND)
