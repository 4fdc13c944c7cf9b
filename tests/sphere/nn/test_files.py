"""Claims about networks in files."""

from __future__ import annotations

import json

import pytest
import torch
from torch import nn

from vicinal.sphere import ClebschGordanNet, Fragments, FragmentType, load_network
from vicinal.sphere.digits import list_presets
from vicinal.sphere.nn import save_network


def make_net(**options) -> ClebschGordanNet:
    torch.manual_seed(0)
    return ClebschGordanNet(
        FragmentType([1, 1, 1]), FragmentType([3, 2, 1]), 2, 4, width=5, **options
    )


@pytest.fixture
def saved(tmp_path):
    save_network(make_net(), tmp_path / "network.pt", {"classes": ["a"]})
    return tmp_path


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pairs": "unordered", "residual": True, "real": True, "invariants": "power"},
        {"normalisation": "batch", "dropout": 0.5},
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_loaded_network_gives_the_same_scores(tmp_path, options, dtype):
    network = make_net(**options).to(dtype)
    network(Fragments.randn(network.type_in, 20, dtype=dtype))  # statistics of its own
    save_network(network, tmp_path / "network.pt")
    signals = Fragments.randn(network.type_in, 4, dtype=dtype)
    expected = network.eval()(signals)
    for path in (tmp_path, tmp_path / "network.pt", str(tmp_path / "network.json")):
        loaded = load_network(path)
        assert not loaded.training
        assert torch.equal(loaded(signals), expected)


def test_every_preset_can_be_saved_and_loaded(tmp_path):
    for preset in list_presets():
        network = preset.build(7)
        save_network(network, tmp_path / "network.pt")
        found = load_network(tmp_path).state_dict()
        assert all(torch.equal(value, found[name]) for name, value in network.state_dict().items())


def test_a_network_that_cannot_be_rebuilt_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="a Linear cannot be saved"):
        save_network(nn.Linear(2, 2), tmp_path / "network.pt")


def change_weights(folder, change) -> None:
    weights = torch.load(folder / "network.pt", weights_only=True)
    change(weights)
    torch.save(weights, folder / "network.pt")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: w.pop("head.1.bias"), r"lacks 'head\.1\.bias'"),
        (lambda w: w.update(extra=torch.ones(1)), "has unknown 'extra'"),
        (lambda w: w.update({"head.1.bias": torch.ones(2)}), r"head\.1\.bias is \(2,\)"),
        (lambda w: w["head.1.bias"].fill_(torch.nan), r"head\.1\.bias holds NaN"),
        (lambda w: w.update({"head.1.bias": torch.ones(5).half()}), "float16, expected"),
        (lambda w: w.update({"head.1.bias": "five"}), r"head\.1\.bias is str"),
    ],
)
def test_weights_that_do_not_fit_are_refused_in_words(saved, change, message):
    change_weights(saved, change)
    with pytest.raises(ValueError, match=message):
        load_network(saved)


def change_configuration(folder, **changes) -> None:
    content = json.loads((folder / "network.json").read_text())
    (folder / "network.json").write_text(json.dumps({**content, **changes}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "another 7"}, "does not describe a network"),
        ({"network": "Sequential"}, "no network 'Sequential'; there are ClebschGordanNet"),
        ({"settings": {"type_in": [1, 1]}}, "needs the setting 'hidden'"),
        ({"settings": {"colour": 1}}, "has no setting 'colour'"),
        ({"settings": {"type_in": [-1], "hidden": [[1]]}}, "make no network"),
        ({"settings": {"type_in": [1, 1, 1], "hidden": [[3, 2, 1]]}}, "belong to another network"),
        ({"settings": []}, "settings must be a dict"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused_in_words(saved, changes, message):
    change_configuration(saved, **changes)
    with pytest.raises(ValueError, match=message):
        load_network(saved)


def test_missing_and_broken_files_are_named(saved, tmp_path):
    with pytest.raises(ValueError, match=r"nowhere\.json cannot be read"):
        load_network(tmp_path / "nowhere.pt")
    (saved / "network.pt").write_bytes(b"torn")
    with pytest.raises(ValueError, match=r"network\.pt is no file of weights"):
        load_network(saved)
    (saved / "network.json").write_text("{")
    with pytest.raises(ValueError, match=r"network\.json is no JSON"):
        load_network(saved)


class Evil:
    def __reduce__(self):
        return (print, ("run",))


def test_loading_runs_no_code(saved, capsys):
    torch.save({"weights": Evil()}, saved / "network.pt")
    with pytest.raises(ValueError, match="no file of weights"):
        load_network(saved)
    assert capsys.readouterr().out == ""


def test_one_damaged_byte_of_the_weights_is_noticed(saved):
    data = bytearray((saved / "network.pt").read_bytes())
    place = data.index(load_network(saved).state_dict()["head.1.bias"].numpy().tobytes())
    data[place + 1] ^= 1
    (saved / "network.pt").write_bytes(data)
    with pytest.raises(ValueError, match=r"network\.pt is no file of weights"):
        load_network(saved)


def test_a_network_larger_than_its_weights_is_not_built(saved):
    settings = {"type_in": [1, 1, 1], "hidden": [[10**12, 2, 1]]}
    change_configuration(saved, settings=settings)
    with pytest.raises(ValueError, match="does not go with"):
        load_network(saved)
