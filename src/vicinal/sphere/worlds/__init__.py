"""Worlds: what digits, molecules and shapes bring to one training, one judge's table, one command.

.. code-block:: text

    SOURCE ── world.tasks ──> networks to train ── run_world ──> world.judge ──> records, page
    (a registered set,          (folds, members)      │
     a folder)                                        └── network.pt ── world.predict ──> a table

A world's setting has the options of its command as fields. What lies above this package, losses by
name and learners of metrics, is handed in as `Helpers`.
"""

from vicinal.sphere.worlds._folders import LabelledFiles, divide, list_files, list_labelled
from vicinal.sphere.worlds._known import WORLDS, find_world, get_world
from vicinal.sphere.worlds._networks import find_networks, read_facts, world_name
from vicinal.sphere.worlds._setting import (
    CLASSES,
    LabelledSetting,
    TrainingSetting,
    option,
    read_names,
)
from vicinal.sphere.worlds._world import (
    Helpers,
    Outcome,
    Predictions,
    Task,
    Trained,
    World,
    common_record,
    describe_choice,
    errors_of,
    find_preset,
    labelled_objective,
    mean_shares,
    member_folder,
    run_world,
)

__all__ = [
    "CLASSES",
    "WORLDS",
    "Helpers",
    "LabelledFiles",
    "LabelledSetting",
    "Outcome",
    "Predictions",
    "Task",
    "Trained",
    "TrainingSetting",
    "World",
    "common_record",
    "describe_choice",
    "divide",
    "errors_of",
    "find_networks",
    "find_preset",
    "find_world",
    "get_world",
    "labelled_objective",
    "list_files",
    "list_labelled",
    "mean_shares",
    "member_folder",
    "option",
    "read_facts",
    "read_names",
    "run_world",
    "world_name",
]
