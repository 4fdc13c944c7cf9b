"""Neural maps: a metric by small networks side by side, trained on the vote of neighbours.

    rows ─▶ folds ─▶ encoding ─▶ members ── steps on the soft vote ──▶ best state of each half
                     (F, D, n)   (E, p, n)        │ looks at held-out votes     │
                                                  └─────────────────────────────┤
             one plain vector a row ◀── first axes ◀── halves and temperature ◀─┘

================  ================================================================================
``_metric``       the estimator (``_settings``: what it was told)
``_fitting``      a fit from end to end, its checkpoint and its memory
``_folds``        which rows each member does not see
``_encoding``     columns as places in bins
``_members``      the networks (``_one_map``: a module of the user's own in their place)
``_objectives``   what a batch loses, on :mod:`vicinal.losses`
``_training``     steps, looks and the best state
``_held_out``     votes on rows nobody saw, and what is chosen by them
``_applied``      the trained map on plain arrays, without torch
================  ================================================================================

Training needs the extra ``torch``; what was trained does not.
"""

from vicinal.neural._metric import NeuralMetric

__all__ = ["NeuralMetric"]
