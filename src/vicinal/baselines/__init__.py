"""Rivals: learners of other authors under the same surface, by adapters where a library has them.

A rival is fitted by the code its users trust; this package only gives it the verbs and the
fitted attributes every metric learner here has.
"""

from __future__ import annotations

from vicinal.baselines._lda import LDA
from vicinal.baselines._nca import NCA

__all__ = ["LDA", "NCA"]
