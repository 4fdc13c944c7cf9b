"""Selection: which setting of a problem does best on rows held out, for any learner.

    Problem ─▶ inner_splits ─▶ [(training part, held-out part), …] ─┐
    Problem.settings() ─────────────────────────────────────────────┴─▶ choose ─▶ Choice

``choose`` is successive halving (see its module); ``vote_losses`` is how classes are scored;
``Score`` a mean with its noise.
"""

from vicinal.metric.selection._halving import Choice, choose
from vicinal.metric.selection._scores import Score, vote_losses
from vicinal.metric.selection._splits import inner_splits

__all__ = ["Choice", "Score", "choose", "inner_splits", "vote_losses"]
