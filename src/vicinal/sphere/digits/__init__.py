"""Images on the sphere: drawn, learned by preset networks and their rivals, tested, predicted.

.. code-block:: text

    images ── Drawing ──> batches ── Preset (network, plan) ── run_on_sphere ──> SphereOutcome
                 │ own map, or _cohen2018                            │
                 └────────────── predict_images <── network.pt, .json ┘

`run_on_sphere` is what ``vicinal sphere train`` calls, `predict_images` what ``predict`` and
`check_network` what ``check`` calls. Presets are Clebsch–Gordan networks and two rivals, one of
correlations on the rotation group, one planar.
"""

from vicinal.sphere.digits._check import NetworkErrors, check_network, write_errors
from vicinal.sphere.digits._drawing import Drawing, draw_digits
from vicinal.sphere.digits._experiment import (
    JudgedDigits,
    SphereOutcome,
    run_on_sphere,
    split_digits,
    to_json,
)
from vicinal.sphere.digits._pictures import picture_spheres
from vicinal.sphere.digits._prediction import SpherePredictions, predict_images, read_pictures
from vicinal.sphere.digits._presets import Preset, get_preset, list_presets
from vicinal.sphere.digits._settings import SphereSetting

__all__ = [
    "Drawing",
    "JudgedDigits",
    "NetworkErrors",
    "Preset",
    "SphereOutcome",
    "SpherePredictions",
    "SphereSetting",
    "check_network",
    "draw_digits",
    "get_preset",
    "list_presets",
    "picture_spheres",
    "predict_images",
    "read_pictures",
    "run_on_sphere",
    "split_digits",
    "to_json",
    "write_errors",
]
