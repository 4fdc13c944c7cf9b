"""Maximally collapsing metric learning: all rows of a class to one point, all others far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vicinal._types import FloatArray, IntArray
from vicinal.pairs import SoftRule
from vicinal.rivals._nca import NCA, neighbour_shares


class MCML(NCA):
    """Draw the random neighbours of a row near to an ideal: all rows of its class, no others.

    With p_ij ∝ exp(−‖A x_i − A x_j‖²), j ≠ i, and q_ij = 1/(n_c − 1) for rows of one class, else 0,

        minimise over A   (1/n) Σ_i KL(q_i, p_i),                                              (1)

    which is convex in AᵀA, and 0 where the rows of each class are one point, far from the others.

    Parameters
    ----------
    n_components, init, solver, max_iter, tol, n_references, early_stopping, random_state, verbose
        As in :class:`~vicinal.NCA`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
    classes_ : ndarray of shape (R,)
    n_iter_ : int
    loss_curve_ : list of float
        (1), as :class:`~vicinal.NCA` has its loss.
    init_, solver_ : str
    settings_ : dict of str to list of float

    Notes
    -----
    Time and memory as of :class:`~vicinal.NCA`. Departures from the source: steps on the factor A,
    whose minima of full rank are those of AᵀA, in place of projected ones; named starts are
    scaled, and where to stop is chosen on held-out rows. A row alone in its class has no ideal and
    no loss.

    References
    ----------
    Globerson and Roweis, "Metric learning by collapsing classes", NIPS 2005 [globerson2005].

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import MCML
    >>> X, y = load_iris(return_X_y=True)
    >>> MCML(n_components=2, random_state=0).fit(X, y).transform(X).shape
    (150, 2)
    """

    def _rule(self, labels: IntArray) -> SoftRule:
        return CollapsedClass(labels)


@dataclass(frozen=True)
class CollapsedClass:
    """The loss KL(q_i, p_i) of row i, and its derivatives q_ij − p_ij by D_ij."""

    labels: IntArray

    def __call__(
        self, squared_distances: FloatArray, queries: IntArray, references: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return losses (b,) and derivatives (b, m)."""
        same = self.labels[queries][:, None] == self.labels[references]
        same &= np.isfinite(squared_distances)  # a row is not its own neighbour
        counts = same.sum(axis=1)
        ideal = (same / np.maximum(counts, 1)[:, None]).astype(squared_distances.dtype)
        near = squared_distances.min(axis=1, where=np.isfinite(squared_distances), initial=np.inf)
        near = np.where(np.isfinite(near), near, 0.0)
        pulled = np.sum(squared_distances - near[:, None], axis=1, where=same)
        totals = np.exp(near[:, None] - squared_distances).sum(axis=1)
        losses = pulled / np.maximum(counts, 1) + np.log(totals / np.maximum(counts, 1))
        alone = counts == 0
        derivatives = ideal - neighbour_shares(squared_distances)
        derivatives[alone] = 0.0
        return np.where(alone, 0.0, losses).astype(derivatives.dtype), derivatives
