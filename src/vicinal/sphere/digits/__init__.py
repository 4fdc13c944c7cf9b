"""Images on the sphere: drawn, learned by preset networks and their rivals, tested, predicted.

.. code-block:: text

    images ── Drawing ──> batches ── Preset (network, plan) ── DigitWorld ──> records, page
                 │ own map, _cohen2018, _panoramas                  │
                 └────────────── predict_images <── network.pt, .json ┘

`DigitWorld` is what ``vicinal sphere train digits`` runs, `check_network` what ``check`` calls.
Presets are Clebsch–Gordan networks and two rivals, one of correlations on the rotation group, one
planar.
"""

from vicinal.sphere.digits._check import NetworkErrors, check_network, write_errors
from vicinal.sphere.digits._drawing import Drawing, draw_digits
from vicinal.sphere.digits._images import Images, read_labelled, read_pictures
from vicinal.sphere.digits._pictures import picture_spheres
from vicinal.sphere.digits._presets import Preset, get_preset, list_presets
from vicinal.sphere.digits._setting import DigitSetting
from vicinal.sphere.digits._world import DigitWorld, predict_images, split_digits

__all__ = [
    "DigitSetting",
    "DigitWorld",
    "Drawing",
    "Images",
    "NetworkErrors",
    "Preset",
    "check_network",
    "draw_digits",
    "get_preset",
    "list_presets",
    "picture_spheres",
    "predict_images",
    "read_labelled",
    "read_pictures",
    "split_digits",
    "write_errors",
]
