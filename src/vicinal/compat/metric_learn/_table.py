"""The table of learners: what each takes, in metric-learn's order, with its defaults.

A parameter whose default is ``OLD`` is the former name of another (``RENAMED``).
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any, TypeVar

from vicinal.compat.metric_learn._starts import renamed

Learner = TypeVar("Learner", bound=type)

OLD = "deprecated"
RENAMED = {
    "k": "n_neighbors",
    "num_constraints": "n_constraints",
    "num_chunks": "n_chunks",
    "convergence_threshold": "tol",
}

_POINTS: dict[str, dict[str, Any]] = {
    "Covariance": {"preprocessor": None},
    "LMNN": {
        "init": "auto", "n_neighbors": 3, "min_iter": 50, "max_iter": 1000, "learn_rate": 1e-7,
        "regularization": 0.5, "convergence_tol": 0.001, "verbose": False, "preprocessor": None,
        "n_components": None, "random_state": None, "k": OLD,
    },
    "NCA": {
        "init": "auto", "n_components": None, "max_iter": 100, "tol": None, "verbose": False,
        "preprocessor": None, "random_state": None,
    },
    "MLKR": {
        "n_components": None, "init": "auto", "tol": None, "max_iter": 1000, "verbose": False,
        "preprocessor": None, "random_state": None,
    },
    "LFDA": {
        "n_components": None, "k": None, "embedding_type": "weighted", "preprocessor": None,
    },
}  # fmt: skip

_TUPLES: dict[str, dict[str, Any]] = {
    "ITML": {
        "gamma": 1.0, "max_iter": 1000, "tol": 1e-3, "prior": "identity", "verbose": False,
        "preprocessor": None, "random_state": None, "convergence_threshold": OLD,
    },
    "MMC": {
        "max_iter": 100, "max_proj": 10000, "tol": 1e-3, "init": "identity", "diagonal": False,
        "diagonal_c": 1.0, "verbose": False, "preprocessor": None, "random_state": None,
        "convergence_threshold": OLD,
    },
    "SDML": {
        "balance_param": 0.5, "sparsity_param": 0.01, "prior": "identity", "verbose": False,
        "preprocessor": None, "random_state": None,
    },
    "LSML": {
        "tol": 1e-3, "max_iter": 1000, "prior": "identity", "verbose": False,
        "preprocessor": None, "random_state": None,
    },
    "SCML": {
        "beta": 1e-5, "basis": "triplet_diffs", "n_basis": None, "gamma": 5e-3,
        "max_iter": 10000, "output_iter": 500, "batch_size": 10, "verbose": False,
        "preprocessor": None, "random_state": None,
    },
    "RCA": {"n_components": None, "preprocessor": None},
}  # fmt: skip

_FROM_LABELS: dict[str, dict[str, Any]] = {
    "ITML_Supervised": {
        "gamma": 1.0, "max_iter": 1000, "tol": 1e-3, "n_constraints": None, "prior": "identity",
        "verbose": False, "preprocessor": None, "random_state": None, "num_constraints": OLD,
        "convergence_threshold": OLD,
    },
    "MMC_Supervised": {
        "max_iter": 100, "max_proj": 10000, "tol": 1e-6, "n_constraints": None,
        "init": "identity", "diagonal": False, "diagonal_c": 1.0, "verbose": False,
        "preprocessor": None, "random_state": None, "num_constraints": OLD,
        "convergence_threshold": OLD,
    },
    "SDML_Supervised": {
        "balance_param": 0.5, "sparsity_param": 0.01, "prior": "identity",
        "n_constraints": None, "verbose": False, "preprocessor": None, "random_state": None,
        "num_constraints": OLD,
    },
    "LSML_Supervised": {
        "tol": 1e-3, "max_iter": 1000, "prior": "identity", "n_constraints": None,
        "weights": None, "verbose": False, "preprocessor": None, "random_state": None,
        "num_constraints": OLD,
    },
    "SCML_Supervised": {
        "k_genuine": 3, "k_impostor": 10, "beta": 1e-5, "basis": "lda", "n_basis": None,
        "gamma": 5e-3, "max_iter": 10000, "output_iter": 500, "batch_size": 10,
        "verbose": False, "preprocessor": None, "random_state": None,
    },
    "RCA_Supervised": {
        "n_components": None, "n_chunks": 100, "chunk_size": 2, "preprocessor": None,
        "random_state": None, "num_chunks": OLD,
    },
}  # fmt: skip

LEARNERS = _POINTS | _TUPLES | _FROM_LABELS


def from_table(learner: Learner) -> Learner:
    """Give a class the ``__init__`` of its line in the table, with that signature."""
    name, defaults = learner.__name__, LEARNERS[learner.__name__]
    kind = Parameter.POSITIONAL_OR_KEYWORD
    signature = Signature(
        [Parameter(each, kind, default=value) for each, value in defaults.items()]
    )

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            arguments = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}.__init__() {error}") from None
        arguments.apply_defaults()
        values = arguments.arguments
        for old in (each for each, value in defaults.items() if value is OLD):
            new = RENAMED[old]
            values[new] = renamed(values[new], old, values[old], new)
            values[old] = OLD
        vars(self).update(values)

    itself = Parameter("self", kind)
    __init__.__signature__ = Signature([itself, *signature.parameters.values()])  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{name}.__init__"
    learner.__init__ = __init__  # type: ignore[misc]
    return learner
