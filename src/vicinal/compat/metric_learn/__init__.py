"""The names and signatures that metric-learn documents, over vicinal's learners.

    from metric_learn import ITML_Supervised
    from vicinal.compat.metric_learn import ITML_Supervised

``_input`` reads points and tuples (with a ``preprocessor``), ``_base`` holds the verbs of all
learners and of those of pairs, triplets and quadruplets, ``_weak`` the learners of tuples,
``_supervised`` those of points and labels, ``_table`` what each takes, ``_starts`` their priors and
initial maps, ``_constraints`` what is drawn from labels. Written from that library's documentation;
the learners are vicinal's own, so fitted numbers differ where its algorithms differ.
"""

from vicinal.compat.metric_learn._base import (
    BaseMetricLearner,
    MahalanobisMixin,
    MetricTransformer,
)
from vicinal.compat.metric_learn._constraints import Constraints
from vicinal.compat.metric_learn._input import PreprocessorError
from vicinal.compat.metric_learn._supervised import (
    LFDA,
    LMNN,
    MLKR,
    NCA,
    Covariance,
    ITML_Supervised,
    LSML_Supervised,
    MMC_Supervised,
    RCA_Supervised,
    SCML_Supervised,
    SDML_Supervised,
)
from vicinal.compat.metric_learn._weak import ITML, LSML, MMC, RCA, SCML, SDML

__all__ = [
    "ITML",
    "LFDA",
    "LMNN",
    "LSML",
    "MLKR",
    "MMC",
    "NCA",
    "RCA",
    "SCML",
    "SDML",
    "BaseMetricLearner",
    "Constraints",
    "Covariance",
    "ITML_Supervised",
    "LSML_Supervised",
    "MMC_Supervised",
    "MahalanobisMixin",
    "MetricTransformer",
    "PreprocessorError",
    "RCA_Supervised",
    "SCML_Supervised",
    "SDML_Supervised",
]
