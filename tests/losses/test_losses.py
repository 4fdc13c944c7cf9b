"""Losses for torch networks: the NumPy inference, finite differences and their peers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import targets as target_oracle
from tests.oracles import voting

from vicinal import gerrymandering_loss
from vicinal.losses import GerrymanderingLoss, GerrymanderingRegressionLoss, NeighborhoodLoss
from vicinal.losses import _batch as batch_module


def batch(seed, m=12, p=3, n_classes=3, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(m, p, generator=generator, dtype=dtype)
    return embeddings, torch.randint(0, n_classes, (m,), generator=generator)


def gradient(tensor) -> torch.Tensor:
    assert tensor.grad is not None
    return tensor.grad


def squared_distances(queries, references):
    gaps = queries[:, None] - references[None]
    return (gaps**2).sum(-1).numpy()


def leave_one_out(embeddings):
    found = squared_distances(embeddings, embeddings)
    np.fill_diagonal(found, np.inf)
    return found


def can_win(distances, labels, target, k):
    return voting.least_total(distances, labels, target, k, ties=False) is not None


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 3))
def test_the_loss_is_the_mean_of_the_rows_losses_by_exhaustive_search(seed, k, n_classes):
    embeddings, labels = batch(seed, m=9, n_classes=n_classes)
    distances, codes = leave_one_out(embeddings), labels.numpy()
    costs = 1 - np.eye(n_classes)
    expected = []
    for i in range(9):
        if can_win(distances[i], codes, codes[i], k):
            value = voting.largest_value(distances[i], codes, codes[i], k, costs)
            near = voting.least_total(distances[i], codes, codes[i], k, ties=False)
            expected.append(value + near)
    loss = GerrymanderingLoss(n_neighbors=k)
    assert loss(embeddings, labels).item() == pytest.approx(np.mean(expected or [0.0]), abs=1e-9)
    assert loss.n_skipped == 9 - len(expected)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_costs_are_those_of_the_vote_by_exhaustive_search(seed, k):
    embeddings, labels = batch(seed, m=9, n_classes=3)
    labels = 2 * labels  # classes 1 and 3 of the costs do not occur
    distances, codes = leave_one_out(embeddings), labels.numpy()
    costs = np.random.default_rng(seed).uniform(0.1, 3, (5, 5)) * (1 - np.eye(5))
    expected = []
    for i in range(9):
        if can_win(distances[i], codes, codes[i], k):
            value = voting.largest_value(distances[i], codes, codes[i], k, 2 * costs)
            near = voting.least_total(distances[i], codes, codes[i], k, ties=False)
            expected.append(value + near)
    loss = GerrymanderingLoss(n_neighbors=k, margin=2.0, costs=costs)
    assert loss(embeddings, labels).item() == pytest.approx(np.mean(expected or [0.0]), abs=1e-9)


def test_labels_that_costs_do_not_know_are_refused():
    embeddings, labels = batch(0, m=9, n_classes=3)
    with pytest.raises(ValueError, match="costs have 2 rows"):
        GerrymanderingLoss(3, costs=1 - np.eye(2))(embeddings, labels)
    with pytest.raises(ValueError, match="zero on the diagonal"):
        GerrymanderingLoss(3, costs=np.eye(2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_references_of_their_own_are_another_map_or_a_memory(dtype):
    queries, labels = batch(0, dtype=dtype)
    references, ref_labels = batch(1, m=30, dtype=dtype)
    loss = GerrymanderingLoss(n_neighbors=3)(queries, labels, None, references, ref_labels)
    distances = squared_distances(queries.double(), references.double())
    known = ref_labels.numpy()
    expected = [
        gerrymandering_loss(d, known, int(y), 3) for d, y in zip(distances, labels, strict=True)
    ]
    assert loss.dtype == dtype
    assert loss.item() == pytest.approx(np.mean(expected), rel=1e-5)


def test_the_loss_does_not_depend_on_the_size_of_blocks(monkeypatch):
    embeddings, labels = batch(4, m=40)
    whole = GerrymanderingLoss(3)(embeddings, labels)
    monkeypatch.setattr(batch_module, "BLOCK_ENTRIES", 100)
    assert GerrymanderingLoss(3)(embeddings, labels).item() == pytest.approx(whole.item())


@pytest.mark.parametrize(
    "loss",
    [
        GerrymanderingLoss(3),
        GerrymanderingLoss(2, margin=4.0, distance=torch.cdist),
        GerrymanderingRegressionLoss(3, gamma=2.0),
        NeighborhoodLoss(),
        NeighborhoodLoss(0.5, distance=torch.cdist),
    ],
    ids=repr,
)
def test_gradients_are_those_of_finite_differences(loss):
    queries, labels = batch(2, m=7)
    references, ref_labels = batch(3, m=11)
    numeric = isinstance(loss, GerrymanderingRegressionLoss)
    y, z = (part.double() if numeric else part for part in (labels, ref_labels))
    inputs = (queries.requires_grad_(), references.requires_grad_())
    assert torch.autograd.gradcheck(lambda a, b: loss(a, y, None, b, z), inputs)
    if not isinstance(loss.distance, type(torch.cdist)) or loss.distance is None:
        assert torch.autograd.gradcheck(lambda a: loss(a, y), inputs[:1])


def test_a_satisfied_batch_has_no_loss_and_no_gradient():
    embeddings = torch.tensor([[0.0], [0.1], [9.0], [9.1]], requires_grad=True)
    loss = GerrymanderingLoss(1)(embeddings, torch.tensor([0, 0, 1, 1]))
    loss.backward()
    assert loss.item() == 0
    assert not gradient(embeddings).any()


def test_only_points_of_one_set_alone_move():
    embeddings = torch.tensor([[0.0], [0.2], [0.3], [50.0], [51.0]], requires_grad=True)
    labels = torch.tensor([0, 0, 1, 1, 1])
    query, references = embeddings[:1], embeddings[1:]
    GerrymanderingLoss(1)(query, labels[:1], None, references, labels[1:]).backward()
    assert gradient(embeddings)[1:3].all()
    assert not gradient(embeddings)[3:].any()


def test_rows_that_cannot_win_are_left_out_and_counted():
    embeddings, _ = batch(5, m=8)
    labels = torch.tensor([0, 0, 0, 0, 1, 1, 1, 2])
    loss = GerrymanderingLoss(1)
    distances = leave_one_out(embeddings)
    expected = [
        gerrymandering_loss(distances[i], labels.numpy(), int(labels[i]), 1) for i in range(7)
    ]
    assert loss(embeddings, labels).item() == pytest.approx(np.mean(expected))
    assert loss.n_skipped == 1


@pytest.mark.parametrize("loss", [GerrymanderingLoss(1), NeighborhoodLoss()], ids=repr)
def test_where_no_row_can_win_the_loss_is_a_zero_that_can_be_differentiated(loss):
    embeddings = torch.randn(3, 2, requires_grad=True)
    value = loss(embeddings, torch.tensor([0, 1, 2]))
    value.backward()
    assert value.item() == 0
    assert not gradient(embeddings).any()
    assert loss.n_skipped == 3


def test_mined_pairs_are_the_only_ones_used():
    embeddings, labels = batch(6, m=10)
    distances = leave_one_out(embeddings)
    generator = np.random.default_rng(0)
    allowed = generator.random((10, 10)) < 0.7
    np.fill_diagonal(allowed, False)
    same = labels.numpy()[:, None] == labels.numpy()
    pairs = [np.nonzero(allowed & same), np.nonzero(allowed & ~same)]
    mined = tuple(torch.from_numpy(part) for pair in pairs for part in pair)
    barred = np.where(allowed, distances, np.inf)
    y = labels.numpy()
    rows = [i for i in range(10) if can_win(barred[i], y, y[i], 2)]
    expected = np.mean([gerrymandering_loss(barred[i], y, int(y[i]), 2) for i in rows])
    assert GerrymanderingLoss(2)(embeddings, labels, mined).item() == pytest.approx(expected)


def test_triplets_name_the_pairs_of_their_anchors():
    mined = batch_module.mined_pairs([torch.tensor(p) for p in ([0, 1], [2, 3], [4, 5])], 6, 6)
    assert mined.tolist() == [[0, 1, 0, 1], [2, 3, 4, 5]]


def test_the_neighborhood_loss_is_the_softmax_mass_of_the_own_class():
    embeddings, labels = batch(7, m=8)
    distances = np.sqrt(leave_one_out(embeddings) + 1e-6)
    mass = np.exp(-distances / 0.7)
    own = labels.numpy()[:, None] == labels.numpy()
    expected = -np.log((mass * own).sum(1) / mass.sum(1))
    loss = NeighborhoodLoss(temperature=0.7)
    assert loss(embeddings, labels).item() == pytest.approx(expected[own.sum(1) > 1].mean())


def test_the_regression_loss_is_that_of_exhaustive_search():
    embeddings, _ = batch(8, m=8)
    y = torch.randn(8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    distances, known = leave_one_out(embeddings), y.numpy()
    cost = target_oracle.error_mean
    expected = [
        target_oracle.least(d, known, w, 3, 1.5, cost)
        - target_oracle.least(d, known, w, 3, -1.5, cost)
        for d, w in zip(distances, known, strict=True)
    ]
    loss = GerrymanderingRegressionLoss(3, gamma=1.5)
    assert loss(embeddings, y).item() == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("loss", [GerrymanderingLoss(2), NeighborhoodLoss()], ids=repr)
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda z, y: (z[0], y), "must be a tensor of shape"),
        (lambda z, y: (z.long(), y), "must hold floats"),
        (lambda z, y: (z, y[:-1]), "one to a row"),
        (lambda z, y: (z, y.float()), "whole numbers"),
        (lambda z, y: (z, y, None, z), "come together"),
        (lambda z, y: (z, y, None, z[:, :2], y), "one space"),
        (lambda z, y: (z, y, (y,)), "three parts"),
    ],
)
def test_bad_calls_are_refused_in_words(loss, call, message):
    with pytest.raises(ValueError, match=message):
        loss(*call(*batch(0)))


def test_more_neighbours_than_a_batch_has_are_refused():
    with pytest.raises(ValueError, match="n_neighbors=12 is more than the 11 references"):
        GerrymanderingLoss(12)(*batch(0))
    with pytest.raises(ValueError, match="at least 1"):
        GerrymanderingLoss(0)
    with pytest.raises(ValueError, match="margin"):
        GerrymanderingLoss(3, margin=-1.0)


def test_embeddings_that_are_not_numbers_are_refused():
    embeddings, labels = batch(0)
    embeddings[3, 1] = torch.nan
    with pytest.raises(ValueError, match="diverged"):
        GerrymanderingLoss(3)(embeddings, labels)
    with pytest.raises(ValueError, match="finite"):
        GerrymanderingRegressionLoss(3)(batch(0)[0], torch.full((12,), torch.nan))


# Peers -------------------------------------------------------------------------------------------


@pytest.fixture
def peers():
    return pytest.importorskip("pytorch_metric_learning")


@pytest.mark.parametrize("loss", [GerrymanderingLoss(3), NeighborhoodLoss()], ids=repr)
def test_a_memory_of_earlier_batches_can_be_wrapped_around_a_loss(peers, loss):
    from pytorch_metric_learning.losses import CrossBatchMemory

    class Memory(CrossBatchMemory):
        """The peer's memory, which keeps a list of losses that it takes."""

        @classmethod
        def supported_losses(cls):
            return [type(loss).__name__]

    memory = Memory(loss, embedding_size=3, memory_size=40)
    for seed in range(3):
        embeddings, labels = batch(seed, dtype=torch.float32)
        value = memory(embeddings.requires_grad_(), labels)
        value.backward()
    assert np.isfinite(value.item())
    assert gradient(embeddings).any()


def test_distances_and_miners_of_peers_will_do(peers):
    from pytorch_metric_learning.distances import CosineSimilarity, LpDistance
    from pytorch_metric_learning.miners import TripletMarginMiner

    embeddings, labels = batch(0, m=20, dtype=torch.float32)
    squared = LpDistance(normalize_embeddings=False, power=2)
    plain = GerrymanderingLoss(3)(embeddings, labels)
    assert GerrymanderingLoss(3, distance=squared)(embeddings, labels).item() == pytest.approx(
        plain.item(), rel=1e-4
    )
    assert GerrymanderingLoss(3, distance=CosineSimilarity())(embeddings, labels).item() > 0
    mined = TripletMarginMiner(margin=5.0)(embeddings, labels)
    assert GerrymanderingLoss(1)(embeddings, labels, mined).item() > 0


@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")
def test_a_trainer_and_an_accuracy_calculator_of_peers_work_with_the_loss(peers):
    pytest.importorskip("faiss", reason="the calculator searches by faiss")
    from pytorch_metric_learning.samplers import MPerClassSampler
    from pytorch_metric_learning.trainers import MetricLossOnly
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

    generator = torch.Generator().manual_seed(0)
    X, y = torch.randn(96, 6, generator=generator), torch.arange(96) % 3
    X[:, 0] += 1.5 * y
    torch.manual_seed(0)
    trunk = torch.nn.Linear(6, 2)
    trainer = MetricLossOnly(
        models={"trunk": trunk},
        optimizers={"trunk_optimizer": torch.optim.Adam(trunk.parameters(), 0.05)},
        batch_size=48,
        loss_funcs={"metric_loss": GerrymanderingLoss(3)},
        dataset=torch.utils.data.TensorDataset(X, y),
        sampler=MPerClassSampler(y, m=16, batch_size=48, length_before_new_iter=96),
        dataloader_num_workers=0,
    )
    calculator = AccuracyCalculator(include=("precision_at_1",), k=1, device=torch.device("cpu"))

    def accuracy():
        with torch.no_grad():
            return calculator.get_accuracy(trunk(X), y)["precision_at_1"]

    before = accuracy()
    trainer.train(num_epochs=15)
    assert accuracy() > before


HOSTILE = {
    "NaN": lambda rows: torch.where(rows > 0, torch.nan, rows),
    "infinity": lambda rows: torch.where(rows > 1, torch.inf, rows),
    "sparse": lambda rows: rows.to_sparse(),
    "no values": lambda rows: rows.to("meta"),
    "squares beyond float32": lambda rows: rows * 1e30,
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("loss", [GerrymanderingLoss(2), NeighborhoodLoss()], ids=["sets", "soft"])
def test_embeddings_without_a_finite_loss_are_refused(loss, change):
    torch.manual_seed(0)
    with pytest.raises(ValueError, match=r"NaN or infinity|dense tensor|is beyond torch\.float32"):
        loss(change(torch.randn(12, 3)), torch.arange(12) % 2)


@pytest.mark.parametrize("loss", [GerrymanderingLoss(2), NeighborhoodLoss()], ids=["sets", "soft"])
def test_half_floats_are_measured_in_wider_ones(loss):
    torch.manual_seed(0)
    rows = (300 * torch.randn(12, 3)).half().requires_grad_()
    found = loss(rows, torch.arange(12) % 2, None, 300 * torch.randn(9, 3), torch.arange(9) % 2)
    found.backward()
    assert torch.isfinite(found)
    assert gradient(rows).dtype == torch.half


@pytest.mark.parametrize(
    "indices",
    [
        (torch.arange(3), torch.arange(3) + 1, torch.arange(3) + 12),
        (torch.arange(3) - 1, torch.arange(3) + 1, torch.arange(3)),
        (torch.arange(3.0), torch.arange(3.0), torch.arange(3.0)),
        (torch.arange(3), torch.arange(2), torch.arange(3)),
        ([0], [1], [2]),
        3,
    ],
)
@pytest.mark.parametrize("loss", [GerrymanderingLoss(2), NeighborhoodLoss()], ids=["sets", "soft"])
def test_mined_rows_that_are_not_there_are_refused(loss, indices):
    with pytest.raises(ValueError, match="indices_tuple"):
        loss(torch.eye(12), torch.arange(12) % 2, indices)


def test_complex_targets_are_refused():
    with pytest.raises(ValueError, match="real numbers"):
        GerrymanderingRegressionLoss(2)(torch.eye(12), torch.arange(12) + 1j)
