"""Layers and networks on fragments that commute with every rotation.

.. code-block:: text

    Fragments ── ClebschGordanLayer ── norm ── … ──> Fragments ── Invariants ── head ──> scores
                  │ products: _pairs (which), _product_numba | _torch | _reference (how)
                  └ CovariantLinear (the residual's)

`equivariance_error` measures how exactly any of them does.
"""

from vicinal.sphere.nn._equivariance import equivariance_error, precision_of
from vicinal.sphere.nn._frame_net import FrameNet
from vicinal.sphere.nn._head import InvariantBatchNorm
from vicinal.sphere.nn._invariants import Invariants
from vicinal.sphere.nn._linear import CovariantLinear
from vicinal.sphere.nn._network import ClebschGordanNet
from vicinal.sphere.nn._normalisation import CovariantBatchNorm, SampleNorm
from vicinal.sphere.nn._product import ClebschGordanLayer

__all__ = [
    "ClebschGordanLayer",
    "ClebschGordanNet",
    "CovariantBatchNorm",
    "CovariantLinear",
    "FrameNet",
    "InvariantBatchNorm",
    "Invariants",
    "SampleNorm",
    "equivariance_error",
    "precision_of",
]
