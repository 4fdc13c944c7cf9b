"""vicinal learns what "near" means: metric learning for nearest-neighbour methods.

The names below are imported on first use, so that ``import vicinal`` stays light.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "vicinal.data": ("load_dataset", "list_datasets", "read_table", "Dataset"),
    "vicinal.metric": (
        "best_voting_set",
        "most_violating_set",
        "gerrymandering_loss",
        "infer_sets",
        "MetricLearner",
        "MLNG",
        "AsymmetricMLNG",
        "RegressionMLNG",
        "HammingMLNG",
        "EGOP",
        "EJOP",
        "GradientDiffusionMap",
        "GradientWeights",
        "Smoothing",
        "gradient_metric",
        "ReliefF",
    ),
    "vicinal.rivals": (
        "Covariance",
        "Euclidean",
        "GBLMNN",
        "ITML",
        "KNCA",
        "LDA",
        "LFDA",
        "LMNN",
        "LSML",
        "MCML",
        "MLKR",
        "HDML",
        "ITQ",
        "LSH",
        "ClassifierCodes",
        "SpectralHashing",
        "MLR",
        "MMC",
        "NCA",
        "RCA",
        "SCML",
        "SDML",
    ),
    "vicinal.neural": ("NeuralMetric",),
    "vicinal.combine": ("AutoMetric", "MeanMetric", "UnitLength"),
    "vicinal.search": ("QueryAdapter", "export_metric"),
    "vicinal.scale": ("fit_distributed", "nearest_distributed"),
    "vicinal.comparison": ("compare",),
    "vicinal.report": (
        "Comparison",
        "plot_errors",
        "plot_map",
        "plot_relevance",
        "plot_spectrum",
        "plot_summary",
    ),
    "vicinal.index": ("ExactIndex", "BinaryIndex", "FaissIndex", "SparseIndex"),
    "vicinal.predict": (
        "KNNClassifier",
        "KNNRegressor",
        "KernelClassifier",
        "KernelRegressor",
        "LocalLinearRegressor",
        "NearestNeighbors",
        "unseen_class_error",
        "RadiusClassifier",
        "RadiusRegressor",
    ),
    "vicinal.models": ("save_model", "load_model", "read_metadata"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'vicinal' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
