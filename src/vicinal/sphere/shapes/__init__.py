"""Shapes: meshes read off by rays from their centre, as functions on the sphere.

.. code-block:: text

    vertices, faces ── make_mesh ── Mesh ── Caster (rays, transform) ──> Fragments of 6 channels
                                      │                                      │         │
                                      └─ shape_histograms (D2)     cross_spectra    a network
                                                  └───────────┬──────────┴─────────────┘
                                                            judge ──> lists of test meshes

`run_on_shapes` is what ``vicinal sphere train shrec2012`` calls; `describe_spectra` and
`describe_histograms` are what a network has to beat.
"""

from vicinal.sphere.shapes._channels import (
    CHANNELS,
    Caster,
    cast_rays,
    cross_spectra,
    shape_histograms,
)
from vicinal.sphere.shapes._experiment import (
    JudgedShapes,
    ShapeOutcome,
    ShapeSetting,
    describe_histograms,
    describe_spectra,
    judge,
    run_on_shapes,
    smoothed_classification,
)
from vicinal.sphere.shapes._meshes import Mesh, Shapes, make_mesh, shapes_of
from vicinal.sphere.shapes._pictures import picture_mesh
from vicinal.sphere.shapes._presets import ShapePreset, list_shape_presets
from vicinal.sphere.shapes._rows import ShapeRows, load_shapes

__all__ = [
    "CHANNELS",
    "Caster",
    "JudgedShapes",
    "Mesh",
    "ShapeOutcome",
    "ShapePreset",
    "ShapeRows",
    "ShapeSetting",
    "Shapes",
    "cast_rays",
    "cross_spectra",
    "describe_histograms",
    "describe_spectra",
    "judge",
    "list_shape_presets",
    "load_shapes",
    "make_mesh",
    "picture_mesh",
    "run_on_shapes",
    "shape_histograms",
    "shapes_of",
    "smoothed_classification",
]
