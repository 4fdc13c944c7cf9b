"""Neighbours as sparse graphs, in scikit-learn's form."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal._validation import check_choice

MODES = ("connectivity", "distance")


class NeighborGraphs:
    """Graphs of what ``kneighbors`` and ``radius_neighbors`` find."""

    kneighbors: Any
    radius_neighbors: Any
    n_samples_fit_: int

    def kneighbors_graph(
        self, X: AnyArray | None = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> csr_matrix:
        """Return the graph of the nearest training rows.

        Parameters
        ----------
        X : array-like of shape (m, n_features), default=None
            None asks for each training row among the others.
        n_neighbors : int, default=None
        mode : {"connectivity", "distance"}
            Ones, or distances under the learned metric.

        Returns
        -------
        csr_matrix of shape (m, n)
        """
        check_choice("mode", mode, MODES)
        distances, indices = self.kneighbors(X, n_neighbors)
        indptr = np.arange(0, indices.size + 1, indices.shape[1])
        return self._graph(distances.ravel(), indices.ravel(), indptr, mode)

    def radius_neighbors_graph(
        self,
        X: AnyArray | None = None,
        radius: float | None = None,
        mode: str = "connectivity",
        sort_results: bool = False,
    ) -> csr_matrix:
        """Return the graph of all training rows within a distance.

        Parameters
        ----------
        X : array-like of shape (m, n_features), default=None
            None asks for each training row among the others.
        radius : float, default=None
        mode : {"connectivity", "distance"}
            Ones, or distances under the learned metric.
        sort_results : bool
            Neighbours ascend in distance whether or not this is asked for.

        Returns
        -------
        csr_matrix of shape (m, n)
        """
        check_choice("mode", mode, MODES)
        distances, indices = self.radius_neighbors(X, radius)
        indptr = np.concatenate([[0], np.cumsum([len(near) for near in indices])])
        return self._graph(np.concatenate(distances), np.concatenate(indices), indptr, mode)

    def _graph(
        self, distances: FloatArray, indices: IntArray, indptr: IntArray, mode: str
    ) -> csr_matrix:
        values = distances if mode == "distance" else np.ones(len(indices))
        shape = (len(indptr) - 1, self.n_samples_fit_)
        return csr_matrix(csr_array((values, indices, indptr), shape=shape))
