"""Selection: which candidate does best on rows held out. One race, whatever is chosen.

    candidates ─▶ Entry each ─▶ race ─▶ scores of held-out rows ─▶ lowest, or first_within noise
                                  │
             judge_maps, prediction_losses: by the search that predicts

``race`` yields rounds and lets entries go by ``halve`` or ``drop_behind``; ``Score`` is a mean with
its noise, and ``Score.is_behind`` the one rule for what noise does not tell apart. On it stand
``learn`` (the settings and epochs of a descent, then the fit of all rows) and ``choose_held_out``
(those of a learner that tells of its iterations); the choice among learners and that of smoothers
stand elsewhere, on the same race.
"""

from vicinal.metric.selection._curves import (
    PATIENCE,
    HeldOutChoice,
    choose_by_votes,
    choose_held_out,
)
from vicinal.metric.selection._judges import SHARE, judge_maps, prediction_losses, vote_losses
from vicinal.metric.selection._learning import Learned, Plan, SettingChoice, choose, learn, plan_fit
from vicinal.metric.selection._race import (
    CLEARLY,
    Entry,
    Fate,
    Score,
    drop_behind,
    first_within,
    halve,
    race,
)

__all__ = [
    "CLEARLY",
    "PATIENCE",
    "SHARE",
    "Entry",
    "Fate",
    "HeldOutChoice",
    "Learned",
    "Plan",
    "Score",
    "SettingChoice",
    "choose",
    "choose_by_votes",
    "choose_held_out",
    "drop_behind",
    "first_within",
    "halve",
    "judge_maps",
    "learn",
    "plan_fit",
    "prediction_losses",
    "race",
    "vote_losses",
]
