"""Spectral hashing: codes that are signs of the smoothest waves along principal directions."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from vicinal._types import AnyArray, FloatArray, IntArray
from vicinal.metric.encoder import BinaryEncoder, check_bits, query_scale
from vicinal.metric.maps import CodeMaps
from vicinal.rivals._hashing import spread_unit
from vicinal.rows import Rows


class SpectralHashing(BinaryEncoder):
    """Encode rows by signs of the smoothest functions on them: waves along principal directions.

    Balanced, uncorrelated bits in which near rows agree are the eigenvectors of the rows' graph
    Laplacian. Were the rows uniform on a box with the principal directions v_i for sides, from a_i
    to b_i, these would be, the smallest eigenvalues first,

        f(x) = cos(ω (v_i · x − a_i)),   ω = m π / (b_i − a_i),   m = 1, 2, …,            (1)

    of which the n_bits lowest frequencies ω are taken: wide directions have several bits, narrow
    ones none. Bits are the signs of f.

    Parameters
    ----------
    n_bits : int, default=64
        A multiple of 8.

    Attributes
    ----------
    directions_ : ndarray of shape (p, n_features)
        The principal directions v_i, at most n_bits, the widest spread first.
    origins_ : ndarray of shape (p,)
        a_i, the least of a direction among the rows, from their mean.
    places_ : int ndarray of shape (n_bits,)
        The direction of each bit.
    frequencies_ : ndarray of shape (n_bits,)
        ω of each bit, ascending; 0 where all rows are one.

    Notes
    -----
    Time O(n d² + d³), memory O(d²). The classes are not looked at. A row outside of the box goes on
    along the wave. Products of waves along several directions, which are eigenfunctions too, are
    left out, as in the paper: their signs are no bits of their own.

    References
    ----------
    weiss2009

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal import SpectralHashing
    >>> X, _ = load_digits(return_X_y=True)
    >>> SpectralHashing(n_bits=16).fit(X).encode(X[:3]).shape
    (3, 2)
    """

    _task = None
    _least_rows = 2

    def __init__(self, n_bits: int = 64) -> None:
        self.n_bits = n_bits

    def learn(self, rows: Rows) -> CodeMaps:
        """Find the directions and their waves."""
        X = rows.X
        bits = check_bits(self.n_bits)
        self.centre_ = X.mean(axis=0)
        centred = (X - self.centre_).astype(np.float64)
        unit = spread_unit(centred)  # or squares of large and small values would leave the range
        centred /= unit
        _, directions = eigh(centred.T @ centred)
        widest = np.ascontiguousarray(directions[:, ::-1][:, :bits].T)
        projected = centred @ widest.T
        self.directions_ = widest.astype(X.dtype)
        self.origins_ = (unit * projected.min(axis=0)).astype(X.dtype)
        self.places_, frequencies = lowest_frequencies(np.ptp(projected, axis=0), bits)
        self.frequencies_ = frequencies / unit
        self.n_bits_ = bits
        self.query_scale_ = query_scale(self._project(X))
        return self.maps_

    def _project(self, X: AnyArray) -> FloatArray:
        along: FloatArray = (X - self.centre_.astype(X.dtype)) @ self.directions_.astype(X.dtype).T
        depth = along.astype(np.float64) - self.origins_
        waves: FloatArray = np.cos(self.frequencies_ * depth[:, self.places_]).astype(X.dtype)
        return waves


def lowest_frequencies(widths: FloatArray, n_waves: int) -> tuple[IntArray, FloatArray]:
    """Return the direction and the frequency m π / width of the slowest waves, ascending.

    Equals come in order of their directions; widths that are rounding have no waves. Frequencies
    are 0 where no direction is wide.
    """
    wide = np.flatnonzero(widths > 1e-9 * widths.max(initial=0.0))
    if not len(wide):
        return np.zeros(n_waves, np.int64), np.zeros(n_waves)
    frequencies = np.pi * np.arange(1, n_waves + 1) / widths[wide, None]
    slowest = np.argsort(frequencies, axis=None, kind="stable")[:n_waves]
    return wide[slowest // n_waves], frequencies.reshape(-1)[slowest]
