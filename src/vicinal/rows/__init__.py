"""Rows: X, y, weights and groups read once, and the parts a split makes of them.

    X, y, sample_weight, groups ─▶ read_rows ─▶ Rows(X, target, weights, groups, names)
                                                │        └─ Classes | Numbers
                                                └─▶ take ─▶ kfold, grouped_kfold, inner_splits

Checks return rows and write nothing. Who gets a ``Rows`` need not ask what it is made of: numbers
are finite and in range, y is read, rows without weight are gone.
"""

from vicinal.rows._checks import (
    FLOATS,
    check_at_least_two_classes,
    check_groups,
    check_pairs,
    check_transform_input,
    check_weights,
    follow_set_output,
    is_distributed,
    name_columns,
    read_rows,
    refuse_distributed,
    remember_columns,
    take_rows,
)
from vicinal.rows._disguises import (
    refuse_disguises,
    refuse_extremes,
    refuse_far_queries,
    refuse_long_whole_numbers,
    refuse_masked,
    refuse_strange_labels,
    widen,
)
from vicinal.rows._rows import Rows, feature_spread
from vicinal.rows._splits import (
    FOLDS,
    MOST_ROWS,
    VOTES,
    grouped_kfold,
    inner_folds,
    inner_splits,
    kfold,
)
from vicinal.rows._target import (
    MANY_CLASSES,
    TASKS,
    USUAL_NEIGHBORS,
    Classes,
    Numbers,
    Target,
    as_classes,
    as_numbers,
    holds_classes,
    read_target,
    usual_neighbors,
)

__all__ = [
    "FLOATS",
    "FOLDS",
    "MANY_CLASSES",
    "MOST_ROWS",
    "TASKS",
    "USUAL_NEIGHBORS",
    "VOTES",
    "Classes",
    "Numbers",
    "Rows",
    "Target",
    "as_classes",
    "as_numbers",
    "check_at_least_two_classes",
    "check_groups",
    "check_pairs",
    "check_transform_input",
    "check_weights",
    "feature_spread",
    "follow_set_output",
    "grouped_kfold",
    "holds_classes",
    "inner_folds",
    "inner_splits",
    "is_distributed",
    "kfold",
    "name_columns",
    "read_rows",
    "read_target",
    "refuse_disguises",
    "refuse_distributed",
    "refuse_extremes",
    "refuse_far_queries",
    "refuse_long_whole_numbers",
    "refuse_masked",
    "refuse_strange_labels",
    "remember_columns",
    "take_rows",
    "usual_neighbors",
    "widen",
]
