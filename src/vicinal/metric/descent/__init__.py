"""Descent: from a start to a map, on any problem.

    X ─▶ make_frame ─▶ Frame.enter ─▶ rows ─┐
                                            ├─▶ Descent (an Objective, a Rule) ─▶ L
    Problem.begin(setting) ─────────────────┘         or minimise (L-BFGS)            │
    components_ ◀────────────────────────── Frame.fold ◀──────────────────────────────┘

``Problem`` and ``Objective`` are the seam: a new learner brings these, and nothing here knows
more of it. ``Descent`` takes stochastic steps by a rule (:class:`Adam`, :class:`FallingRate`,
:class:`InverseTime`);
``minimise`` is L-BFGS on all rows; ``project_to_cone`` keeps a matrix a metric.
"""

from vicinal.metric.descent._cone import project_to_cone
from vicinal.metric.descent._frame import Frame, FramedRows, enter_frame, frame_rows, make_frame
from vicinal.metric.descent._full_batch import Listener, minimise
from vicinal.metric.descent._problem import (
    DescentSetting,
    Objective,
    Problem,
    Progress,
    Rule,
    Watch,
    Watcher,
    watch_of,
)
from vicinal.metric.descent._stochastic import (
    LEAST_ROWS,
    STEPS,
    Adam,
    Descent,
    FallingRate,
    InverseTime,
    spread_strata,
)

__all__ = [
    "LEAST_ROWS",
    "STEPS",
    "Adam",
    "Descent",
    "DescentSetting",
    "FallingRate",
    "Frame",
    "FramedRows",
    "InverseTime",
    "Listener",
    "Objective",
    "Problem",
    "Progress",
    "Rule",
    "Watch",
    "Watcher",
    "enter_frame",
    "frame_rows",
    "make_frame",
    "minimise",
    "project_to_cone",
    "spread_strata",
    "watch_of",
]
