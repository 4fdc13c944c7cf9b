"""Rivals: learners of other authors, written from their papers under the surface all learners have.

One paper, one file, and a test of the same name; what several share (pairs drawn from classes,
priors, soft neighbours, rankings, trees) has a file of its own.
"""

from __future__ import annotations

from vicinal.rivals._covariance import Covariance
from vicinal.rivals._euclidean import Euclidean
from vicinal.rivals._gblmnn import GBLMNN
from vicinal.rivals._hashing import ITQ, LSH, ClassifierCodes
from vicinal.rivals._hdml import HDML
from vicinal.rivals._itml import ITML
from vicinal.rivals._knca import KNCA
from vicinal.rivals._lda import LDA
from vicinal.rivals._lfda import LFDA
from vicinal.rivals._lmnn import LMNN
from vicinal.rivals._lsml import LSML
from vicinal.rivals._mcml import MCML
from vicinal.rivals._mlkr import MLKR
from vicinal.rivals._mlr import MLR
from vicinal.rivals._mmc import MMC
from vicinal.rivals._nca import NCA
from vicinal.rivals._rca import RCA
from vicinal.rivals._scml import SCML, local_discriminants
from vicinal.rivals._sdml import SDML
from vicinal.rivals._spectral_hashing import SpectralHashing

__all__ = [
    "GBLMNN",
    "HDML",
    "ITML",
    "ITQ",
    "KNCA",
    "LDA",
    "LFDA",
    "LMNN",
    "LSH",
    "LSML",
    "MCML",
    "MLKR",
    "MLR",
    "MMC",
    "NCA",
    "RCA",
    "SCML",
    "SDML",
    "ClassifierCodes",
    "Covariance",
    "Euclidean",
    "SpectralHashing",
    "local_discriminants",
]
