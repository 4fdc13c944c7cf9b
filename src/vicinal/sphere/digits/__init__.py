"""Images on the sphere: drawn, learned by preset networks and their rivals, tested.

.. code-block:: text

    Dataset of images ── Drawing ──> batches ── Preset (network, plan) ── train ──> SphereOutcome

`run_on_sphere` is what ``vicinal sphere train`` calls, `check_network` what ``check`` calls.
"""

from vicinal.sphere.digits._check import NetworkErrors, check_network, write_errors
from vicinal.sphere.digits._drawing import Drawing, draw_digits, draw_rotations
from vicinal.sphere.digits._experiment import (
    TEST_SEED,
    JudgedDigits,
    SphereOutcome,
    SphereSetting,
    configure,
    name_folder,
    run_on_sphere,
    split_digits,
    to_json,
)
from vicinal.sphere.digits._presets import Preset, get_preset, list_presets

__all__ = [
    "TEST_SEED",
    "Drawing",
    "JudgedDigits",
    "NetworkErrors",
    "Preset",
    "SphereOutcome",
    "SphereSetting",
    "check_network",
    "configure",
    "draw_digits",
    "draw_rotations",
    "get_preset",
    "list_presets",
    "name_folder",
    "run_on_sphere",
    "split_digits",
    "to_json",
    "write_errors",
]
