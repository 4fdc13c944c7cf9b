"""Gradient metrics against recursive feature machines: error, and the cost of one estimate.

``python -m benchmarks.gradients_xrfm SPLITS PEER_SPLITS [SET ...]`` measures errors on real sets
with 1,500 training rows, xRFM's on the first PEER_SPLITS, and appends them, cell by cell, to
``results/gradients_xrfm_errors.jsonl``; cells already there are not measured again.
``python -m benchmarks gradients_xrfm`` measures the cost.

xRFM is tuned over 40 settings on a quarter of the training rows and then fitted to all of them.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import Case
from vicinal import EGOP, KNNRegressor, LocalLinearRegressor, Smoothing
from vicinal.data import load_dataset

RESULTS = Path(__file__).parent / "results"
SETS = (
    "ailerons",
    "delta_ailerons",
    "puma8nm",
    "puma8nh",
    "kin8nm",
    "kin32fh",
    "pol_telecomm",
    "puma32nm",
)
TRAINING_ROWS, MOST_TEST_ROWS = 1500, 4000
NEIGHBORS = (5, 9, 15, 25, 40, 60)
KERNELS, BANDWIDTHS, RIDGES = ("l2", "l1"), (2.0, 5.0, 10.0, 20.0, 50.0), (1e-3, 1e-2, 0.1, 1.0)


def cases(*, quick: bool) -> Iterator[Case]:
    """Yield one estimate of the metric on 10,000 × 50 against one iteration of xRFM."""
    n, d = (1_000 if quick else 10_000), 50
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    y = np.sin(X[:, 0])
    metric = EGOP("analytic", bandwidth=0.5 * d**0.5, random_state=0)

    def check(fitted: Any, peer: Any) -> Mapping[str, Any]:
        ours, theirs = fitted.feature_relevance_, np.diag(peer)
        assert ours.argmax() == theirs.argmax() == 0
        shares = f"{ours[0]:.2f}; xRFM's {theirs[0] / theirs.sum():.2f}"
        return {"note": f"relevance of the feature that counts {shares}"}

    yield Case(
        name="EGOP 10,000 × 50, all points",
        peer_name="one iteration of xRFM",
        ours=lambda: metric.fit(X, y),
        peer=lambda: one_iteration(X, y),
        warm_up=lambda: (metric.fit(X[:500], y[:500]), one_iteration(X[:500], y[:500])),
        check=check,
        limits={"cpu_ratio": 0.2},
    )


class _Enough(Exception):
    """Raised to leave xRFM's loop before its final solve."""


def one_iteration(X: Any, y: Any) -> Any:
    """Solve once and average outer products once; return the matrix."""
    import torch
    from xrfm.rfm_src import RFM

    def stop(iteration: int) -> None:
        if iteration == 1:
            raise _Enough

    model = RFM("l2", bandwidth=10.0, iters=1, device="cpu", verbose=False)
    rows, targets = torch.from_numpy(X), torch.from_numpy(y)[:, None]
    few = (rows[:100], targets[:100])
    with contextlib.suppress(_Enough), quiet():
        model.fit((rows, targets), few, reg=1e-2, verbose=False, callback=stop)
    return model.M.numpy()


def quiet() -> Any:
    """Return a context in which xRFM's messages go nowhere."""
    nowhere = contextlib.ExitStack()
    nowhere.enter_context(contextlib.redirect_stdout(io.StringIO()))
    nowhere.enter_context(contextlib.redirect_stderr(io.StringIO()))
    return nowhere


def machine(setting: tuple[str, float, float], n_iter: int = 5, *, best: bool = True) -> Any:
    """Return an xRFM; ``best`` keeps the iteration of least validation error."""
    from xrfm import xRFM

    kernel, bandwidth, ridge = setting
    model = {"kernel": kernel, "bandwidth": bandwidth, "exponent": 1.0, "diag": False}
    fit = {"reg": ridge, "iters": n_iter, "verbose": False, "return_best_params": best}
    return xRFM(
        {"model": {**model, "bandwidth_mode": "constant"}, "fit": fit},
        device="cpu",
        verbose=False,
        tuning_metric="mse",
        random_state=0,
    )


def tuned_machine(X: Any, y: Any, seed: int) -> tuple[Any, tuple[str, float, float]]:
    """Choose setting and iterations on a quarter of the rows, then fit to all of them."""
    X, y = X.astype(np.float32), y.astype(np.float32)
    order = np.random.default_rng(seed).permutation(len(X))
    held, rest = order[: len(X) // 4], order[len(X) // 4 :]
    tried = []
    for setting in itertools.product(KERNELS, BANDWIDTHS, RIDGES):
        model = machine(setting)
        with quiet():
            model.fit(X[rest], y[rest], X[held], y[held])
            error = float(np.mean((model.predict(X[held]).ravel() - y[held]) ** 2))
        tried.append((error, setting, int(model.trees[0]["model"].best_iter)))
    _, setting, n_iter = min(tried)
    model = machine(setting, n_iter, best=False)
    with quiet():
        model.fit(X, y, X[held], y[held])
    return model, setting


def split(name: str, seed: int) -> tuple[Any, ...]:
    """Return training rows and targets, test rows and targets, z-scored by the training part."""
    data = load_dataset(name)
    order = np.random.default_rng(seed).permutation(len(data.X))
    train, test = order[:TRAINING_ROWS], order[TRAINING_ROWS : TRAINING_ROWS + MOST_TEST_ROWS]
    X, y = np.asarray(data.X, float), np.asarray(data.y, float)
    deviation = X[train].std(axis=0)
    X = (X - X[train].mean(axis=0)) / np.where(deviation > 1e-12, deviation, 1)
    y = (y - y[train].mean()) / y[train].std()
    return X[train], y[train], X[test], y[test]


def nmse(predicted: Any, y: Any) -> float:
    """Return the mean squared error in variances of the test targets."""
    return round(float(np.mean((np.ravel(predicted) - y) ** 2) / y.var()), 5)


def measure(name: str, seed: int) -> dict[str, Any]:
    """Return our errors on one split, and CPU seconds."""
    X, y, X_test, y_test = split(name, seed)
    started = time.process_time()
    metric = EGOP(n_iter=4, random_state=0).fit(X, y)
    near, near_test = metric.transform(X), metric.transform(X_test)
    head = LocalLinearRegressor().fit(near, y)
    planes, k = nmse(head.predict(near_test), y_test), best_neighbors(metric, X, y)
    ours = time.process_time() - started
    neighbors = {j: KNNRegressor(j).fit(near, y).predict(near_test) for j in {9, k}}
    return {
        "set": name,
        "split": seed,
        "local_linear": planes,
        "knn": nmse(neighbors[k], y_test),
        "knn_9": nmse(neighbors[9], y_test),
        "k": k,
        "estimator": metric.estimator_,
        "n_iter": metric.n_iter_,
        "power": metric.power_,
        "cpu_seconds": round(ours, 2),
    }


def measure_peer(name: str, seed: int) -> dict[str, Any]:
    """Return xRFM's error on the same split, and CPU seconds, its tuning's among them."""
    X, y, X_test, y_test = split(name, seed)
    started = time.process_time()
    peer, setting = tuned_machine(X, y, seed)
    with quiet():
        error = nmse(peer.predict(X_test.astype(np.float32)), y_test)
    return {
        "xrfm": error,
        "xrfm_setting": setting,
        "xrfm_cpu_seconds": round(time.process_time() - started, 2),
    }


def best_neighbors(metric: Any, X: Any, y: Any) -> int:
    """Return the k of least five-fold error, the metric refitted without the rows it predicts.

    A metric draws its own rows' targets together, so that in it few neighbours look too good.
    """
    errors = dict.fromkeys(NEIGHBORS, 0.0)
    for held in np.array_split(np.random.default_rng(0).permutation(len(X)), 5):
        rest = np.setdiff1d(np.arange(len(X)), held)
        near = refittable(metric).fit(X[rest], y[rest])
        search = KNNRegressor(max(NEIGHBORS)).fit(near.transform(X[rest]), y[rest])
        nearest = search.kneighbors(near.transform(X[held]), return_distance=False)
        for k in NEIGHBORS:
            errors[k] += float(np.sum((y[rest][nearest[:, :k]].mean(axis=1) - y[held]) ** 2))
    return min(errors, key=errors.__getitem__)


def refittable(metric: Any) -> Any:
    """Return an unfitted metric that need not choose: it has what a fitted one chose last."""
    return EGOP(
        metric.estimator_,
        bandwidth=metric.bandwidth_,
        smoothing=Smoothing(n_local=metric.n_local_, ridge=metric.ridge_),
        power=metric.power_,
        n_iter=metric.n_iter_,
        random_state=0,
    )


def table(records: list[dict[str, Any]]) -> str:
    """Return the means over splits as Markdown; the ratio is over the splits both were run on."""
    head = "| set | splits | k-NN | 9-NN | local linear | CPU-s | splits of both | local linear "
    lines = [head + "| xRFM | ratio | xRFM's CPU-s |\n" + "|---" * 11 + "|\n"]
    for name in SETS:
        of = [record for record in records if record["set"] == name]
        both = [record for record in of if "xrfm" in record]
        if not both:
            continue
        means = [_mean(of, key) for key in ("knn", "knn_9", "local_linear", "cpu_seconds")]
        peers = [_mean(both, key) for key in ("local_linear", "xrfm", "xrfm_cpu_seconds")]
        ours = "{:.4f} | {:.4f} | {:.4f} | {:.1f}".format(*means)
        ratio = peers[0] / peers[1]
        theirs = f"{peers[0]:.4f} | {peers[1]:.4f} | {ratio:.2f} | {peers[2]:.1f}"
        lines.append(f"| {name} | {len(of)} | {ours} | {len(both)} | {theirs} |\n")
    return "".join(lines)


def _mean(records: list[dict[str, Any]], key: str) -> float:
    return float(np.mean([record[key] for record in records]))


def read(path: Path) -> list[dict[str, Any]]:
    """Return the records so far, of two for one cell the later."""
    lines = path.read_text().splitlines() if path.exists() else []
    records = [json.loads(line) for line in lines]
    return list({(record["set"], record["split"]): record for record in records}.values())


def main(n_splits: int, n_peer_splits: int, sets: Sequence[str]) -> None:
    """Measure every cell that is not there yet and write the table."""
    path = RESULTS / "gradients_xrfm_errors.jsonl"
    for seed, name in itertools.product(range(n_splits), sets):
        cell = {(r["set"], r["split"]): r for r in read(path)}.get((name, seed), {})
        record = dict(cell or measure(name, seed))
        if seed < n_peer_splits and "xrfm" not in record:
            record.update(measure_peer(name, seed))
        if record == cell:
            continue
        with path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(json.dumps(record), flush=True)
        title = (
            "# Gradient metrics and xRFM, 1,500 training rows\n\nMean errors in variances of y.\n"
        )
        (RESULTS / "gradients_xrfm_errors.md").write_text(f"{title}\n{table(read(path))}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or SETS)
