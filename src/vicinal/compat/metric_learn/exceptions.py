"""metric-learn's module of exceptions."""

from vicinal.compat.metric_learn._input import PreprocessorError

__all__ = ["PreprocessorError"]
