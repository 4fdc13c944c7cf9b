"""Metrics from the gradients of an estimated regression function: GW, EGOP, EJOP, diffusion maps.

    parameters ─▶ check_options ─▶ GradientOptions
    y ─▶ real_targets, class_targets ─▶ Targets
    X ─▶ distinct_rows, span_of ────────────┤
                                            ▼
    some rows ─▶ plan_fit: a race of paths ─▶ SmootherChoice: a Smoother, and its first metric
                                            ▼
    follow_plan:  fit_smoother ─▶ gradients at points ─▶ GradientSums ─▶ MetricKind.components
                                            ▼
    GradientFit ─▶ attributes of EGOP, EJOP, GradientWeights

Inside, from the bottom up:

- ``_targets``, ``_rows``, ``_sample``: y and X as a smoother wants them;
- ``_analytic``, ``_differences``, ``_local_linear``, ``_kernel_ridge``: four gradients of f;
- ``_smoother``, ``_evaluation``: which of them, fitted to a sample, and evaluated block by block;
- ``_sums``, ``_spectrum``: sums that merge, their matrix, its metric, rank and intervals;
- ``_options``, ``_yardstick``, ``_candidates``: what is asked for, and what may be tried;
- ``_trials``, ``_choice``: what a candidate is worth, and the race of paths that chooses;
- ``_fit``: one fit, whatever holds the rows; ``mergeable``: what a fit on parts is made of;
- ``_local``: neighbours ranked by the metric at their places;
- ``_kept``, ``_base``, ``_outer_products``: what a fit leaves, and the estimators; ``_graph``,
  ``_diffusion``: the diffusion map.

Others may use the names below and the module ``mergeable``; ``local_fits`` and its kin are the
local planes that :class:`~vicinal.LocalLinearRegressor` predicts by.
"""

from ._diffusion import GradientDiffusionMap
from ._local_linear import BATCH_ENTRIES, local_fits, neighbour_weights
from ._outer_products import EGOP, EJOP, GradientWeights, gradient_metric
from ._sample import COMPACT
from ._smoother import Smoothing

__all__ = [
    "BATCH_ENTRIES",
    "COMPACT",
    "EGOP",
    "EJOP",
    "GradientDiffusionMap",
    "GradientWeights",
    "Smoothing",
    "gradient_metric",
    "local_fits",
    "neighbour_weights",
]
