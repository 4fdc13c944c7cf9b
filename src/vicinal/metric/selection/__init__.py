"""Selection: which setting of a problem does best on rows held out, for any learner.

    Problem ─▶ inner_splits ─▶ [(training part, held-out part), …] ─┐
    Problem.settings() ─────────────────────────────────────────────┴─▶ choose ─▶ Choice
    Problem.begin ◀── the chosen setting, all rows ◀── learn ─▶ Learned

``learn`` is all of it, ``choose`` successive halving; ``vote_losses`` is how classes are scored,
``Score`` a mean with its noise.
"""

from vicinal.metric.selection._judging import Score, inner_splits, vote_losses
from vicinal.metric.selection._learning import Choice, Learned, choose, learn

__all__ = ["Choice", "Learned", "Score", "choose", "inner_splits", "learn", "vote_losses"]
