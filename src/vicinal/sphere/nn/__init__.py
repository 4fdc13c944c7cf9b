"""Layers and networks on fragments that commute with every rotation.

.. code-block:: text

    Fragments ── ClebschGordanLayer ── norm ── … ──> Fragments ── Invariants ── head ──> scores
                  │ products: _pairs (which), _product_numba | _torch (how)
                  └ CovariantLinear (the residual's)

`equivariance_error` measures how exactly any of them does; `save_network` and `load_network` keep
them in files.
"""

from vicinal.sphere.nn._equivariance import equivariance_error, precision_of
from vicinal.sphere.nn._files import (
    load_network,
    predict_with,
    read_configuration,
    save_network,
    saveable,
)
from vicinal.sphere.nn._head import InvariantBatchNorm, make_head
from vicinal.sphere.nn._invariants import Invariants
from vicinal.sphere.nn._linear import CovariantLinear
from vicinal.sphere.nn._network import ClebschGordanNet
from vicinal.sphere.nn._normalisation import (
    CovariantBatchNorm,
    SampleNorm,
    fix_statistics,
)
from vicinal.sphere.nn._product import ClebschGordanLayer

__all__ = [
    "ClebschGordanLayer",
    "ClebschGordanNet",
    "CovariantBatchNorm",
    "CovariantLinear",
    "InvariantBatchNorm",
    "Invariants",
    "SampleNorm",
    "equivariance_error",
    "fix_statistics",
    "load_network",
    "make_head",
    "precision_of",
    "predict_with",
    "read_configuration",
    "save_network",
    "saveable",
]
