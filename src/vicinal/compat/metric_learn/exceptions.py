"""metric-learn's module of exceptions."""

from vicinal.compat.metric_learn._input import PreprocessorError
from vicinal.compat.metric_learn._starts import NonPSDError

__all__ = ["NonPSDError", "PreprocessorError"]
