"""Training of any network: steps, checkpoints, several processes.

.. code-block:: text

    rows of an epoch ── train ──> network at its best epoch, history
                          │ every half minute, and after each epoch
                          └──> checkpoint ── goes on to the same weights

It knows nothing of spheres: networks and rows are passed in.
"""

from vicinal.sphere.training._checkpoints import write_checkpoint
from vicinal.sphere.training._processes import (
    count_processes,
    process_rank,
    sum_over_processes,
)
from vicinal.sphere.training._trainer import (
    Batches,
    Epoch,
    Step,
    TrainingPlan,
    predict_labels,
    train,
)

__all__ = [
    "Batches",
    "Epoch",
    "Step",
    "TrainingPlan",
    "count_processes",
    "predict_labels",
    "process_rank",
    "sum_over_processes",
    "train",
    "write_checkpoint",
]
