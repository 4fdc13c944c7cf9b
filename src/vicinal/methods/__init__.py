"""The methods that every command knows by name: one entry in ``_table`` adds one.

::

    "mlng"  ──► _table: Method ──► _making: MLNG(n_neighbors=3, random_state=0)

A method measures nearness by a learned metric (or by the plain Euclidean distance); a *reference*
is a model that asks no neighbours, for those who would use one instead.
"""

from vicinal.methods._making import make_learner
from vicinal.methods._table import (
    EUCLIDEAN,
    METHODS,
    Method,
    choose_methods,
    get_method,
    list_methods,
    own_method,
    refuse_missing,
)

__all__ = [
    "EUCLIDEAN",
    "METHODS",
    "Method",
    "choose_methods",
    "get_method",
    "list_methods",
    "make_learner",
    "own_method",
    "refuse_missing",
]
