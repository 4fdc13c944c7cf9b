"""Training of any network: an objective, steps, checkpoints, several processes.

.. code-block:: text

    Objective (loss, score, scaling) ──┐
    rows of an epoch, TrainingPlan ────┴── train ──> network at its best epoch, history
                                             │ every half minute, and after each epoch
                                             └──> checkpoint ── goes on to the same weights

It knows nothing of spheres: network, rows and objective are passed in. `classification`,
`regression` and `retrieval` are the objectives at hand.
"""

from vicinal.sphere.training._checkpoints import load_weights, read_tensors, write_checkpoint
from vicinal.sphere.training._embeddings import (
    EMBEDDING,
    JudgedEmbeddings,
    class_embedding,
    judge_embeddings,
    score_embeddings,
)
from vicinal.sphere.training._objectives import (
    Objective,
    TargetScaling,
    classification,
    regression,
    retrieval,
)
from vicinal.sphere.training._plan import TrainingPlan
from vicinal.sphere.training._processes import count_processes, process_rank, sum_over_processes
from vicinal.sphere.training._trainer import Batches, Epoch, Step, measure, predict, train

__all__ = [
    "EMBEDDING",
    "Batches",
    "Epoch",
    "JudgedEmbeddings",
    "Objective",
    "Step",
    "TargetScaling",
    "TrainingPlan",
    "class_embedding",
    "classification",
    "count_processes",
    "judge_embeddings",
    "load_weights",
    "measure",
    "predict",
    "process_rank",
    "read_tensors",
    "regression",
    "retrieval",
    "score_embeddings",
    "sum_over_processes",
    "train",
    "write_checkpoint",
]
