"""metric-learn's module of constraints."""

from vicinal.compat.metric_learn._constraints import Constraints, wrap_pairs

__all__ = ["Constraints", "wrap_pairs"]
