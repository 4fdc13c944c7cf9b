"""Gerrymandering: metrics learned by the k-NN vote itself.

    MLNG.fit ─▶ check_options, make_frame ─▶ LinearProblem
                                                 │
        learn ─▶ inner_splits, choose ◀──────────┤ settings, begin, score
          │                                      │
          └────▶ walk a Descent ◀────────────────┘ the objective, of a map or of W:
                      │                            look (candidates), infer (h*, ĥ), gradient
                      ▼
              Frame.fold ─▶ components_

``AsymmetricMLNG`` has two maps in the same objective (``PartedObjective``), ``RegressionMLNG`` sets
for numbers (``RegressionProblem``), ``HammingMLNG`` bits instead of coordinates
(``HammingProblem``; a hash function is ``Layers`` of one flat vector of parameters). A variant
brings a problem and a thin estimator; choosing and walking are shared. ``PublishedMLNG`` and its
like walk their own way, the source's.
"""

from vicinal.metric.gerrymander._asymmetric import AsymmetricMLNG
from vicinal.metric.gerrymander._hamming import HammingMLNG
from vicinal.metric.gerrymander._layers import Layers
from vicinal.metric.gerrymander._mlng import MLNG
from vicinal.metric.gerrymander._published import PublishedMLNG
from vicinal.metric.gerrymander._published_codes import PublishedHammingMLNG
from vicinal.metric.gerrymander._published_variants import (
    PublishedAsymmetricMLNG,
    PublishedRegressionMLNG,
)
from vicinal.metric.gerrymander._regression import RegressionMLNG

__all__ = [
    "MLNG",
    "AsymmetricMLNG",
    "HammingMLNG",
    "Layers",
    "PublishedAsymmetricMLNG",
    "PublishedHammingMLNG",
    "PublishedMLNG",
    "PublishedRegressionMLNG",
    "RegressionMLNG",
]
