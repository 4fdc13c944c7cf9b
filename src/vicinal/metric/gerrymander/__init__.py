"""Gerrymandering: metrics learned by the k-NN vote itself.

    MLNG.fit ─▶ check_options, make_frame ─▶ LinearProblem
                                                 │
        learn ─▶ inner_splits, choose ◀──────────┤ settings, begin, score
          │                                      │
          └────▶ walk a Descent ◀────────────────┘ FactoredObjective or ConeObjective:
                      │                            look (candidates), infer (h*, ĥ), gradient
                      ▼
              Frame.fold ─▶ components_

``AsymmetricMLNG`` has two maps in the same objective (``PartedObjective``), ``RegressionMLNG`` sets
for numbers (``RegressionProblem``). A variant brings a problem and a thin estimator; choosing and
walking are shared.
"""

from vicinal.metric.gerrymander._asymmetric import AsymmetricMLNG
from vicinal.metric.gerrymander._mlng import MLNG
from vicinal.metric.gerrymander._options import scale_costs
from vicinal.metric.gerrymander._parted import part
from vicinal.metric.gerrymander._published import PublishedMLNG
from vicinal.metric.gerrymander._published_variants import (
    PublishedAsymmetricMLNG,
    PublishedRegressionMLNG,
)
from vicinal.metric.gerrymander._regression import RegressionMLNG

__all__ = [
    "MLNG",
    "AsymmetricMLNG",
    "PublishedAsymmetricMLNG",
    "PublishedMLNG",
    "PublishedRegressionMLNG",
    "RegressionMLNG",
    "part",
    "scale_costs",
]
