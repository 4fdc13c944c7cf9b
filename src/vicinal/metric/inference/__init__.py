"""Exact inference of h* and ĥ, from distances and labels alone.

    one query    best_voting_set, most_violating_set, gerrymandering_loss ┐ checked input,
    a block      infer_sets                                               ┘ records out

    lists        distances to candidates ─► rows with no loss passed by ─┐
                 infer_pairs                                             ├─► h*, ĥ ─► SignedPairs
    all rows     mapped rows ─► rounded products ─► points that matter ──┘
                 infer_all
    numbers      target_sets: sets whose mean is near a numeric target, or far from it

h* is the nearest set of k points that votes for the query's class, ĥ the one of largest cost minus
total distance. A learner needs of both only where they differ: which points a row pulls nearer
and which it pushes away.
"""

from vicinal.metric.inference._pairs import SignedPairs, infer_all, infer_pairs, sets_difference
from vicinal.metric.inference._sets import (
    best_voting_set,
    gerrymandering_loss,
    infer_sets,
    most_violating_set,
)
from vicinal.metric.inference._targets import TARGET_SETS, target_sets

__all__ = [
    "TARGET_SETS",
    "SignedPairs",
    "best_voting_set",
    "gerrymandering_loss",
    "infer_all",
    "infer_pairs",
    "infer_sets",
    "most_violating_set",
    "sets_difference",
    "target_sets",
]
