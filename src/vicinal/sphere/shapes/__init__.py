"""Shapes: meshes read off by rays from their centre, as functions on the sphere.

.. code-block:: text

    vertices, faces ── make_mesh ── Mesh ── Caster (rays, transform) ──> Fragments of 6 channels
                                      │                                      │ cross_spectra
                                      └─ shape_histograms (D2)               └─ a network
"""

from vicinal.sphere.shapes._channels import (
    CHANNELS,
    Caster,
    cast_rays,
    cross_spectra,
    shape_histograms,
)
from vicinal.sphere.shapes._meshes import Mesh, Shapes, make_mesh, shapes_of

__all__ = [
    "CHANNELS",
    "Caster",
    "Mesh",
    "Shapes",
    "cast_rays",
    "cross_spectra",
    "make_mesh",
    "shape_histograms",
    "shapes_of",
]
