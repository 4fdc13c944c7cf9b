"""Selection: which setting of a problem does best on rows held out, for any learner.

    Problem ─▶ inner_splits ─▶ [(training part, held-out part), …] ─┐
    Problem.settings() ─────────────────────────────────────────────┴─▶ choose ─▶ Choice
    Problem.begin ◀── the chosen setting, all rows ◀── learn ─▶ Learned

``learn`` is all of it, ``choose`` successive halving; ``vote_losses`` is how classes are scored,
``Score`` a mean with its noise, ``VOTES`` how many rows are enough to judge by.
"""

from vicinal.metric.selection._judging import VOTES, Score, inner_splits, vote_losses
from vicinal.metric.selection._learning import Choice, Learned, choose, learn

__all__ = ["VOTES", "Choice", "Learned", "Score", "choose", "inner_splits", "learn", "vote_losses"]
