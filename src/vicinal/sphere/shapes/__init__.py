"""Shapes: meshes read off by rays, clouds of points by shells, as functions on the sphere.

.. code-block:: text

    vertices, faces ── make_mesh ──> Mesh ── Caster (rays, transform) ──> Fragments ── a network
    points ── make_cloud ──> Cloud ── PointShells (exact under turns) ──────┘ │            │
                               └── shape_histograms (D2)               cross_spectra       │
                                            └────────────────── judge ──────┴──────────────┘
                                                                  └──> lists of test shapes

`ShapeWorld` is what ``vicinal sphere train shapes`` runs; D2 histograms and cross spectra are what
a network has to beat.
"""

from vicinal.sphere.shapes._channels import (
    CHANNELS,
    Caster,
    Rays,
    cast_rays,
    cross_spectra,
    shape_histograms,
)
from vicinal.sphere.shapes._clouds import Cloud, PointShells, make_cloud
from vicinal.sphere.shapes._files import read_shape
from vicinal.sphere.shapes._meshes import Mesh, make_mesh
from vicinal.sphere.shapes._page import JudgedShapes
from vicinal.sphere.shapes._pictures import picture_cloud, picture_mesh
from vicinal.sphere.shapes._presets import ShapePreset, list_shape_presets
from vicinal.sphere.shapes._setting import RIVALS, ShapeSetting
from vicinal.sphere.shapes._sources import ShapeRows, Shapes, divide_shapes, read_shapes, shapes_of
from vicinal.sphere.shapes._world import (
    ShapeWorld,
    class_weights,
    judge,
    judge_rival,
    predict_shapes,
    smoothed_classification,
)

__all__ = [
    "CHANNELS",
    "RIVALS",
    "Caster",
    "Cloud",
    "JudgedShapes",
    "Mesh",
    "PointShells",
    "Rays",
    "ShapePreset",
    "ShapeRows",
    "ShapeSetting",
    "ShapeWorld",
    "Shapes",
    "cast_rays",
    "class_weights",
    "cross_spectra",
    "divide_shapes",
    "judge",
    "judge_rival",
    "list_shape_presets",
    "make_cloud",
    "make_mesh",
    "picture_cloud",
    "picture_mesh",
    "predict_shapes",
    "read_shape",
    "read_shapes",
    "shape_histograms",
    "shapes_of",
    "smoothed_classification",
]
