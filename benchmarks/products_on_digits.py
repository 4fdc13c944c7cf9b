"""Which products read digits on the sphere: exact ones or those of a grid, weights free or tied?

The network and the training of the preset ``compact`` but for its products: 3,000 digits of MNIST,
4 passes, all digits turned at random; 5,000 other digits of the training part are read once with
``--inner``, else the 10,000 test digits.

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

from vicinal.sphere import ClebschGordanNet
from vicinal.sphere.digits import DigitSetting, get_preset, read_labelled, split_digits
from vicinal.sphere.digits._world import TEST_SEED, draw
from vicinal.sphere.training import classification, predict, train

ZONAL = {"filters": "zonal"}
VARIANTS: dict[str, dict[str, Any]] = {
    "exact": {},
    "exact, real": {"real": True},
    "channelwise": {"pairs": "channelwise"},
    "channelwise, zonal": {"pairs": "channelwise", "grid": ZONAL},
    "grid 16": {"pairs": "grid", "grid": {"rank": 16}},
    "grid 24": {"pairs": "grid", "grid": {"rank": 24}},
    "grid 32": {"pairs": "grid", "grid": {"rank": 32}},
    "grid 24, zonal": {"pairs": "grid", "grid": {"rank": 24, **ZONAL}},
    "grid 24, zonal within .6": {"pairs": "grid", "grid": {"rank": 24, **ZONAL, "support": 0.6}},
    "grid 24, zonal, odd": {"pairs": "grid", "grid": {"rank": 24, **ZONAL, "odd": True}},
    "grid 24, zonal, real": {"pairs": "grid", "grid": {"rank": 24, **ZONAL}, "real": True},
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
    settings = {**own, "hidden": [*map(_degrees, own["hidden"])], **VARIANTS[name]}
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


def _degrees(tau: Any) -> Any:
    from vicinal.sphere import FragmentType

    return FragmentType(tau)


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
