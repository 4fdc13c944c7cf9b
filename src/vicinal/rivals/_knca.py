"""Neighbourhood components analysis for the vote of k neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._kernels._vote_chance import vote_chances
from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_whole
from vicinal.pairs import SoftRule
from vicinal.rivals._nca import NCA
from vicinal.rows import USUAL_NEIGHBORS


class KNCA(NCA):
    """Maximise the chance that k neighbours, drawn together, vote for a row's class.

    A set s of k other rows is drawn for row i with chance p_i(s) ∝ exp(−Σ_{j∈s} ‖A x_i − A x_j‖²),

        maximise over A   (1/n) Σ_i Σ_{s : y_i has more rows in s than any other class} p_i(s).  (1)

    For k = 1 this is :class:`~vicinal.NCA`.

    Parameters
    ----------
    n_neighbors : int or None
        k. None follows the predictor the metric stands in, and is 3 where there is none.
    n_components, init, solver, max_iter, tol, n_references, early_stopping, random_state, verbose
        As in :class:`~vicinal.NCA`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    classes_ : ndarray of shape (R,)
    n_iter_ : int
    loss_curve_ : list of float
        1 − (1), as :class:`~vicinal.NCA` has it.
    init_, solver_ : str
    settings_ : dict of str to list of float

    Notes
    -----
    The sums over all sets are dynamic programmes over the number of rows of each class; their
    derivatives are exact. Time O(k n m + n R k³) a pass, with m rows to choose among that are not
    vanishingly far; memory O(n d). Departures from the source: as in :class:`~vicinal.NCA`; a
    weight below e⁻⁴⁴ of the k-th nearest row's counts as zero.

    References
    ----------
    Tarlow, Swersky, Charlin, Sutskever and Zemel, "Stochastic k-neighborhood selection for
    supervised and unsupervised learning", ICML 2013 [tarlow2013].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import KNCA
    >>> X, y = load_iris(return_X_y=True)
    >>> KNCA(3, n_components=2, random_state=0).fit(X, y).transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        n_neighbors: int | None = None,
        *,
        n_components: int | None = None,
        init: str | AnyArray = "auto",
        solver: str = "auto",
        max_iter: int = 50,
        tol: float = 1e-5,
        n_references: int = 5000,
        early_stopping: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_components,
            init=init,
            solver=solver,
            max_iter=max_iter,
            tol=tol,
            n_references=n_references,
            early_stopping=early_stopping,
            random_state=random_state,
            verbose=verbose,
        )
        self.n_neighbors = n_neighbors

    def _judges(self) -> int:
        k = USUAL_NEIGHBORS if self.n_neighbors is None else self.n_neighbors
        return check_whole("n_neighbors", k, most=100)

    def _rule(self, labels: IntArray) -> SoftRule:
        return VoteOfMany(labels, min(self._judges(), len(labels) - 1))


@dataclass(frozen=True)
class VoteOfMany:
    """The loss 1 − (chance of a right vote of k neighbours), and its derivatives by D_ij."""

    labels: IntArray
    n_neighbors: int

    def __call__(
        self, squared_distances: FloatArray, queries: IntArray, references: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return losses (b,) and derivatives (b, m)."""
        classes = self.labels[references]
        order = np.argsort(classes, kind="stable")
        starts = np.searchsorted(classes[order], np.arange(int(self.labels.max()) + 2))
        distances = squared_distances.astype(np.float64, copy=False)
        chances, weights = np.empty(len(queries)), np.empty(distances.shape)
        own = self.labels[queries]
        vote_chances(distances, order, starts, own, self.n_neighbors, chances, weights)
        return 1 - chances, weights.astype(squared_distances.dtype, copy=False)
