"""Rivals: learners of other authors under the same surface, by adapters where a library has them.

A rival is fitted by the code its users trust, where such code is kept up; this package then only
gives it the verbs and the fitted attributes every metric learner here has. The others are written
anew from their papers.
"""

from __future__ import annotations

from vicinal.rivals._euclidean import Euclidean
from vicinal.rivals._lda import LDA
from vicinal.rivals._lmnn import LMNN
from vicinal.rivals._nca import NCA

__all__ = ["LDA", "LMNN", "NCA", "Euclidean"]
