"""The source's algorithm for codes against a plain loop over its formulas."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from tests.oracles import inference

from vicinal import LSH, HammingMLNG, KNNClassifier
from vicinal.metric.gerrymander import Layers
from vicinal.metric.gerrymander._published_codes import CodeDescent

COSTS, BITS, K, BALANCE = 1 - np.eye(3), 8, 3, 0.5


def descent(n_maps: int, bent: bool = False, widths: tuple[int, ...] = (4, BITS)) -> CodeDescent:
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1, 2], 5)
    X = rng.normal(size=(15, 4)) + np.eye(3, 4)[y]
    layers = Layers(widths)
    start = rng.normal(size=(n_maps, layers.n_parameters))
    return CodeDescent(X, y, layers, bent, K, COSTS, BALANCE, start, rng, 4, 100)


def weights_of(walked: CodeDescent) -> list[np.ndarray]:
    return [walked.layers.split(side)[0][0].copy() for side in walked.parameters]


def printed_slopes(X, y, U, V, rows, bent):
    """Return the gradients in U and V of the mean loss of some rows, term by term, and the loss."""
    slopes, total = [np.zeros_like(U), np.zeros_like(V)], 0.0
    sign = [np.where(X @ side.T > 0, 1.0, -1.0) for side in (U, V)]
    bend = [1 - np.tanh(X @ side.T) ** 2 if bent else np.ones_like(X @ side.T) for side in (U, V)]
    for i in rows:
        distances = BITS - sign[1] @ sign[0][i]
        distances[i] = np.inf
        star = inference.best_voting_set(distances, y, y[i], K)
        hat = inference.most_violating_set(distances, y, y[i], K, costs=COSTS)
        total += hat.value + star.total
        for way, members in ((1, hat.indices), (-1, star.indices)):
            for j in members:
                slopes[0] += way * np.outer(bend[0][i] * sign[1][j], X[i]) / len(rows)
                slopes[1] += way * np.outer(sign[0][i] * bend[1][j], X[j]) / len(rows)
    for side, part in ((0, rows), (1, np.arange(len(X)))):
        mean = sign[side][part].mean(axis=0)
        slopes[side] += BALANCE * mean[:, None] * (bend[side][part].T @ X[part]) / len(part)
    return slopes, total


@pytest.mark.parametrize("bent", [False, True])
@pytest.mark.parametrize("n_maps", [1, 2])
def test_every_step_is_that_of_the_text(n_maps, bent):
    walked = descent(n_maps, bent)
    speed = [np.zeros((BITS, 4))] * n_maps
    for t, rows in enumerate(([0, 7, 13], [3, 5, 11], [2, 8, 14]), 1):
        maps = weights_of(walked)
        slopes, loss = printed_slopes(walked.X, walked.codes, maps[0], maps[-1], rows, bent)
        if n_maps == 1:
            slopes = [slopes[0] + slopes[1]]
        speed = [0.9 * v - slope / t for v, slope in zip(speed, slopes, strict=True)]
        moved = [side + v for side, v in zip(maps, speed, strict=True)]
        assert walked.walk(np.array(rows), np.arange(15)) == pytest.approx(loss)
        for side, expected in zip(weights_of(walked), moved, strict=True):
            assert_allclose(side, expected / np.linalg.norm(expected), atol=1e-12)


def test_every_layer_has_length_one_and_no_offset():
    walked = descent(2, True, (4, 6, BITS))
    walked.advance()
    for side in walked.parameters:
        for weight, offset in walked.layers.split(side):
            assert np.linalg.norm(weight) == pytest.approx(1)
            assert not offset.any()


def test_sets_are_sought_among_a_sample_of_many_rows(monkeypatch):
    walked = descent(2)
    walked.n_references = 6
    seen, infer = [], walked.infer

    def note(a, b, rows, among):
        seen.append(among)
        return infer(a, b, rows, among)

    monkeypatch.setattr(walked, "infer", note)
    walked.advance()
    assert [len(np.unique(among)) for among in seen] == [6, 6, 6, 6]
    assert not np.array_equal(seen[0], seen[1])


def test_published_codes_err_less_than_random_ones():
    X, y = (part[:500] for part in load_digits(return_X_y=True))
    codes = HammingMLNG.as_published(32, balance=1.0, asymmetric=False, max_iter=8, random_state=0)
    model = KNNClassifier(3, codes).fit(X[::2], y[::2])
    plain = KNNClassifier(3, LSH(32, random_state=0)).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > plain.score(X[1::2], y[1::2])
    assert not hasattr(model.metric_, "query_components_")


def test_two_random_functions_come_to_agree():
    X, y = (part[:500] for part in load_digits(return_X_y=True))
    codes = HammingMLNG.as_published(32, balance=0.1, hash_function="tanh", random_state=0)
    codes.fit(X, y)
    assert codes.loss_curve_[-1] < 0.2 * codes.loss_curve_[0]
    agreeing = np.mean((codes.transform(X) > 0) == (codes.soften_queries(X) > 0))
    assert agreeing > 0.7
    assert codes.query_components_.shape == codes.components_.shape == (32, 64)


def test_the_weight_of_even_bits_is_chosen_and_the_choice_told():
    X, y = (part[:160] for part in load_digits(return_X_y=True))
    first, second = (
        HammingMLNG.as_published(16, max_iter=1, hash_function="tanh", random_state=1).fit(X, y)
        for _ in range(2)
    )
    assert [row["balance"] for row in first.settings_] == [0.1, 1.0, 10.0]
    chosen = [row for row in first.settings_ if row["chosen"]]
    assert [row["balance"] for row in chosen] == [first.balance_]
    assert chosen[0]["score"] == min(row["score"] for row in first.settings_)
    assert_array_equal(first.encode(X), second.encode(X))


@pytest.mark.parametrize(
    "wrong", [{"hash_function": "cubic"}, {"n_bits": 7}, {"balance": -1}, {"n_references": 1}]
)
def test_what_makes_no_sense_is_refused(wrong):
    X, y = (part[:40] for part in load_digits(return_X_y=True))
    with pytest.raises(ValueError, match=next(iter(wrong))):
        HammingMLNG.as_published(**wrong).fit(X, y)
