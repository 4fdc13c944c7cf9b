"""Which products read digits on the sphere: exact ones or those of a grid, weights free or tied?

The network and the training of the preset ``compact`` but for its products: 3,000 digits of MNIST,
4 passes, all digits turned at random; 5,000 other digits of the training part are read once with
``--inner``, else the 10,000 test digits.

Weights are real, but for the first variant.

    python benchmarks/products_on_digits.py [--inner] [--seeds 3] [--json FILE] [--only NAME]

With ``--json`` what the file already holds is not measured again.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from vicinal.sphere import ClebschGordanNet, FragmentType
from vicinal.sphere.digits import DigitSetting, get_preset, read_labelled, split_digits
from vicinal.sphere.digits._world import TEST_SEED, draw
from vicinal.sphere.training import classification, predict, train

# A filter acts on all degrees of a channel, so that each layer has as many channels of each.
FUNCTIONS = [[10] * 10, [10] * 9, [20] * 6]


def _grid(rank: int, **options: Any) -> dict[str, Any]:
    functions = {"hidden": FUNCTIONS} if "filters" in options else {}
    return {"pairs": "grid", "grid": {"rank": rank, **options}, "real": True, **functions}


VARIANTS: dict[str, dict[str, Any]] = {
    "exact, complex weights": {},
    "exact": {"real": True},
    "channelwise": {"pairs": "channelwise", "real": True},
    "channelwise, zonal": {
        "pairs": "channelwise",
        "grid": {"filters": "zonal"},
        "real": True,
        "hidden": FUNCTIONS,
    },
    "grid 16": _grid(16),
    "grid 24": _grid(24),
    "grid 32": _grid(32),
    "grid 24, odd": _grid(24, odd=True),
    "grid 24, zonal": _grid(24, filters="zonal"),
    "grid 24, zonal within .6": _grid(24, filters="zonal", support=0.6),
}


def measure(name: str, seed: int, *, inner: bool) -> dict[str, Any]:
    """Train a variant once and return its figures."""
    setting = DigitSetting(
        source="mnist", preset="compact", n_validation=5000, n_train=3000, n_epochs=4, seed=seed
    )
    parts = split_digits(read_labelled("mnist", panoramas=False), setting)
    drawing = replace(setting.drawing("rotated"), warp=0.0)
    rows = draw(parts.training, drawing)
    torch.manual_seed(seed)
    own = get_preset("compact").build(10).settings
    settings = {**own, **VARIANTS[name]}
    settings["hidden"] = [FragmentType(tau) for tau in settings["hidden"]]
    network = ClebschGordanNet(settings.pop("type_in"), **settings)
    began = time.process_time()
    network, _ = train(network, lambda epoch: rows, None, setting.plan(), classification())
    seconds = time.process_time() - began
    judged = draw(parts.held_out if inner else parts.testing, drawing.faithful(TEST_SEED))
    found = predict(network, judged).argmax(1)
    return {
        "variant": name,
        "seed": seed,
        "part": "held out" if inner else "test",
        "percent_right": round(100 * float((found == judged.targets).double().mean()), 2),
        "cpu_seconds": round(seconds, 1),
        "n_parameters": sum(of.numel() for of in network.parameters()),
    }


def main() -> None:
    """Print a line a training, and write all of them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inner", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default=";".join(VARIANTS))
    parser.add_argument("--json", type=Path)
    told = parser.parse_args()
    torch.set_num_threads(1)
    found = json.loads(told.json.read_text()) if told.json and told.json.exists() else []
    known = {(record["variant"], record["seed"], record["part"]) for record in found}
    for seed in range(told.seeds):
        for name in told.only.split(";"):
            if (name, seed, "held out" if told.inner else "test") in known:
                continue
            found.append(measure(name, seed, inner=told.inner))
            print(json.dumps(found[-1]), flush=True)
            if told.json:
                told.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
