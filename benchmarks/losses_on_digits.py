"""Which loss trains a small network best for k-NN: the vote, the softmax, triplets or pairs?

A network of two convolutions is trained on MNIST with each loss for the same batches and epochs;
the learning rate and an option of each are chosen on held-out training rows, and the k-NN error
measured once on the test part. Results go to ``results/losses_on_digits.json``.

    python -m benchmarks.losses_on_digits [--rows 10000] [--epochs 6] [--seeds 1]

Needs pytorch-metric-learning beside the extra ``torch``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from pytorch_metric_learning.losses import ContrastiveLoss, TripletMarginLoss

from vicinal import KNNClassifier, load_dataset
from vicinal.losses import GerrymanderingLoss, NeighborhoodLoss

KS = (1, 5, 30)
RATES = (1e-3, 3e-3)
FILE = Path(__file__).parent / "results" / "losses_on_digits.json"
LOSSES = {
    "gerrymandering": {
        f"k={k}, margin={margin:g}": (
            lambda k=k, margin=margin: GerrymanderingLoss(k, margin=margin)
        )
        for k in (1, 5)
        for margin in (1.0, 10.0)
    },
    "neighborhood": {"": NeighborhoodLoss},
    "triplet, all": {
        f"margin={margin}": (lambda margin=margin: TripletMarginLoss(margin=margin))
        for margin in (0.05, 0.2)
    },
    "contrastive": {
        f"margin={margin}": (lambda margin=margin: ContrastiveLoss(neg_margin=margin))
        for margin in (0.5, 1.0)
    },
}


def make_network() -> torch.nn.Module:
    """Return two convolutions and a linear map to 32 dimensions."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 5, stride=2), torch.nn.ReLU(),
        torch.nn.Conv2d(16, 32, 5, stride=2), torch.nn.ReLU(),
        torch.nn.Flatten(), torch.nn.Linear(512, 32),
    )  # fmt: skip


def train(make, X, y, rate, epochs, seed, batch=200):
    """Return the trained network and the CPU-seconds it took."""
    torch.manual_seed(seed)
    network, loss = make_network(), make()
    optimiser = torch.optim.Adam(network.parameters(), rate)
    order = torch.Generator().manual_seed(seed)
    began = time.process_time()
    for _ in range(epochs):
        rows = torch.randperm(len(X), generator=order)
        for part in rows[: len(rows) // batch * batch].reshape(-1, batch):
            optimiser.zero_grad()
            loss(network(X[part]), y[part]).backward()
            optimiser.step()
    return network, time.process_time() - began


def errors(network, X, y, Z, z):
    """Return the k-NN errors in percent, by k."""
    with torch.no_grad():
        near, asked = (
            torch.cat([network(part) for part in side.split(1000)]).numpy() for side in (X, Z)
        )
    return [
        100 * float(np.mean(KNNClassifier(k).fit(near, y).predict(asked) != z.numpy())) for k in KS
    ]


def main() -> None:
    """Print one line a loss and seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("--rows", 10000), ("--epochs", 6), ("--seeds", 1)):
        parser.add_argument(name, type=int, default=default)
    told = parser.parse_args()
    torch.set_num_threads(1)
    sides = []
    for split in ("train", "test"):
        data = load_dataset("mnist", split)
        X = torch.as_tensor(np.asarray(data.X, np.float32).reshape(-1, 1, 28, 28) / 255)
        sides.append((X, torch.as_tensor(np.asarray(data.y, np.int64))))
    (X, y), (Z, z) = sides
    records = []
    for seed in range(told.seeds):
        rows = torch.randperm(len(X), generator=torch.Generator().manual_seed(seed))
        kept, held = rows[: told.rows], rows[-2000:]
        for name, options in LOSSES.items():
            scored = []
            for option, make in options.items():
                for rate in RATES:
                    network, taken = train(make, X[kept], y[kept], rate, told.epochs, seed)
                    inner = errors(network, X[kept], y[kept], X[held], y[held])
                    scored.append((sum(inner), f"{option} rate={rate:g}".strip(), network, taken))
            _, chosen, network, taken = min(scored, key=lambda entry: entry[0])
            found = errors(network, X[kept], y[kept], Z, z)
            told_errors = ", ".join(f"k={k}: {e:.2f} %" for k, e in zip(KS, found, strict=True))
            print(f"{name:22} {told_errors}  {chosen}, {taken:.1f} CPU-s", flush=True)
            records.append({
                "loss": name, "seed": seed, "rows": told.rows, "epochs": told.epochs,
                "chosen": chosen, "errors": dict(zip(map(str, KS), found, strict=True)),
                "cpu_seconds": round(taken, 1), "inner": {s[1]: round(s[0] / 3, 2) for s in scored},
            })  # fmt: skip
    FILE.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
