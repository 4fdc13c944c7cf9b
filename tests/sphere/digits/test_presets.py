"""Claims about the presets and the rivals among them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from vicinal.sphere import Fragments, SphericalTransform, random_rotations
from vicinal.sphere.digits import DigitSetting, Drawing, draw_digits, get_preset, list_presets
from vicinal.sphere.digits._correlation_net import CorrelationNet
from vicinal.sphere.digits._planar import PlanarNet
from vicinal.sphere.nn import InvariantBatchNorm, _head


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    """Smooth blobs, which a low bandwidth resolves."""
    generator = np.random.default_rng(0)
    at = np.linspace(-1, 1, 28)
    centres = generator.uniform(-0.4, 0.4, (12, 2, 1, 1))
    return np.exp(-4 * ((at[:, None] - centres[:, 0]) ** 2 + (at - centres[:, 1]) ** 2))


@pytest.mark.parametrize("network", [PlanarNet, CorrelationNet])
def test_rivals_take_signals_and_give_scores(network):
    torch.manual_seed(0)
    net = network(n_outputs=3)
    scores = net(torch.rand(2, 1, 60, 60))
    assert scores.shape == (2, 3)
    scores.sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in net.parameters())


def test_the_correlation_network_is_nearly_invariant_and_the_planar_one_is_not(images):
    # Coefficients turned exactly and put back on the grid: the network alone is judged.
    transform = SphericalTransform(30, 9)
    drawn = draw_digits(images, np.zeros(12), Drawing(bandwidth=30, l_max=9))
    plain = drawn.take(torch.arange(12))
    assert isinstance(plain, Fragments)
    turned = plain.rotate(random_rotations(12, torch.Generator().manual_seed(2)))
    signals = [transform.inverse(of, real=True) for of in (plain, turned)]

    def difference(network: torch.nn.Module) -> float:
        scores, others = (network.eval()(of).detach() for of in signals)
        spread = (scores - scores.mean(0)).norm(dim=1).mean()
        return float(((scores - others).norm(dim=1) / spread).median())

    torch.manual_seed(0)
    assert difference(CorrelationNet()) < 0.2
    assert difference(PlanarNet()) > 0.5


def test_signals_of_another_grid_are_refused():
    with pytest.raises(ValueError, match=r"\(batch, 1, 60, 60\), got \(2, 1, 30, 30\)"):
        PlanarNet()(torch.rand(2, 1, 30, 30))


def test_every_preset_builds_what_it_reads():
    for preset in list_presets():
        drawn = draw_digits(np.ones((2, 28, 28)), np.zeros(2), preset.drawing)
        with torch.no_grad():
            assert preset.build(7).eval()(drawn.take(torch.arange(2))).shape == (2, 7)


def test_the_guide_tells_the_number_of_parameters_of_every_preset():
    guide = Path(__file__).parents[3] / "docs" / "guide" / "spherical_digits.md"
    told = dict(re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", guide.read_text("utf-8"), re.MULTILINE))
    counted = {
        preset.name: f"{sum(p.numel() for p in preset.build(10).parameters()):,}"
        for preset in list_presets()
    }
    assert told == counted


def test_an_unknown_preset_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no preset 'best'; there are thesis"):
        get_preset("best")


def test_a_presets_own_drawing_holds_from_python_unless_told_otherwise():
    own = get_preset("compact").drawing
    setting = DigitSetting(preset="compact", train="plain")
    assert setting.drawing("plain") == own
    assert setting.drawing("rotated").rotated
    told = DigitSetting(preset="compact", protocol="cohen2018").drawing("plain")
    assert (told.protocol, told.warp, told.l_max) == ("cohen2018", own.warp, own.l_max)
    with pytest.raises(ValueError, match="has a map of its own"):
        DigitSetting(protocol="cohen2018", projection="lambert")


def test_a_training_depends_on_the_version_the_drawing_and_the_plan():
    kept = DigitSetting(preset="compact").configuration()
    assert {"version", "warp", "l_max", "bandwidth", "protocol", "n_epochs", "seed"} <= kept.keys()
    assert kept == DigitSetting(preset="compact", patience=3, test="plain").configuration()
    others = [DigitSetting(preset="compact", seed=1), DigitSetting(preset="compact", n_epochs=2)]
    names = {setting.folder_name() for setting in (DigitSetting(preset="compact"), *others)}
    assert len(names) == 3


def test_every_norm_of_the_correlation_network_is_shared_among_processes():
    norms = [m for m in CorrelationNet().modules() if "BatchNorm" in type(m).__name__]
    assert len(norms) == 3
    assert all(isinstance(norm, InvariantBatchNorm) for norm in norms)


def test_norms_of_several_processes_are_those_of_one_on_the_group_too(monkeypatch):
    values = torch.randn(6, 3, 4, 5, 4, generator=torch.Generator().manual_seed(0))
    expected, found = InvariantBatchNorm(3), InvariantBatchNorm(3)
    alone = expected(values)
    torch.testing.assert_close(alone, torch.nn.BatchNorm3d(3)(values))
    monkeypatch.setattr(_head, "count_processes", lambda: 2)
    monkeypatch.setattr(_head, "sum_over_processes", lambda values: values)  # the other has no rows
    torch.testing.assert_close(found(values), alone)
    assert found.running_mean is not None
    assert found.running_var is not None
    torch.testing.assert_close(found.running_mean, expected.running_mean)
    torch.testing.assert_close(found.running_var, expected.running_var)
