"""Trained members on plain arrays: what was learned needs no torch.

X ─▶ standard ─▶ entries ─▶ E places (E, p, n) ─▶ side by side, turned to the first axes (n, q)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from vicinal._types import AnyArray, BoolArray, FloatArray, IntArray
from vicinal.neural._encoding import Encoding

BLOCK = 1024
# Rows at most by which the axes are turned and the relevance of features is measured.
MOST_ROWS = 20_000
# Half of what a difference quotient of the encoding reaches over, in standard deviations.
STEP = 0.25
_EPS = 1e-5  # of torch's batch norms
Parameters = Mapping[str, FloatArray]


@dataclass(frozen=True)
class Applied:
    """Members that are trained, those that were chosen, and the axes of their common space.

    Attributes
    ----------
    encoding : Encoding
    parameters : mapping of str to float32 ndarray
        As :class:`vicinal.neural._members.Members` names them.
    chosen : int ndarray
        The members that count.
    centre : ndarray of shape (C p,)
        The mean place, for C chosen members of p numbers each.
    axes : ndarray of shape (C p, q)
    """

    encoding: Encoding
    parameters: Parameters
    chosen: IntArray
    centre: FloatArray
    axes: FloatArray

    def __call__(self, X: AnyArray) -> FloatArray:
        """Return the places (n, q) of rows (n, d); memory of a block of rows beside them."""
        mapped = np.empty((len(X), self.axes.shape[1]), X.dtype)
        for rows, places in self._blocks(X):
            mapped[rows] = (_beside(places) - self.centre) @ self.axes
        return mapped

    def _blocks(self, X: AnyArray) -> Iterator[tuple[slice, FloatArray]]:
        members = self._members()
        for start in range(0, len(X), BLOCK):
            rows = slice(start, start + BLOCK)
            entries = self.encoding.entries(self.encoding.standard(X[rows]))
            yield rows, _places(members, self._inputs(entries))[0]

    def _members(self) -> Parameters:
        """Return the chosen members' parameters as float64, in which blocks change no digit."""
        E = len(self.parameters["first"])
        by_member = {
            name: values.reshape(E, -1, *values.shape[2:])
            if values.ndim > 1
            else values.reshape(E, -1)
            for name, values in self.parameters.items()
        }
        return {name: each[self.chosen].astype(np.float64) for name, each in by_member.items()}

    def _inputs(self, entries: FloatArray) -> FloatArray:
        """Return the entries (C, D, n) that each chosen member sees, or (1, D, n) of all."""
        return entries if len(entries) == 1 else entries[self.chosen % len(entries)]

    def turned(self, X: AnyArray, q: int | None, head: FloatArray | None = None) -> Applied:
        """Return the same members in a space of its first q principal axes, all where q is None.

        ``head`` (C p,), a direction that is read off the places, becomes the first axis.
        """
        width = len(self.chosen) * self.parameters["first"].shape[1]
        total, products, n = np.zeros(width), np.zeros((width, width)), 0
        for _, places in self._blocks(X):
            beside = _beside(places)
            total += beside.sum(axis=0)
            products += beside.T @ beside
            n += len(beside)
        centre = total / n
        spread = products / n - np.outer(centre, centre)
        axes = np.zeros((width, 0))
        if head is not None and np.any(head):
            axes = (head / np.linalg.norm(head))[:, None]
            away = np.eye(width) - axes @ axes.T
            spread = away @ spread @ away
        principal = np.linalg.eigh(spread)[1][:, ::-1]
        q = width if q is None else min(q, width)
        return replace(self, centre=centre, axes=np.hstack([axes, principal])[:, :q])

    def blind_to(self, f: int, n_folds: int, X: AnyArray, q: int | None) -> Applied:
        """Return the map by the chosen members that are blind to a fold, turned to axes of X."""
        chosen = self.chosen[self.chosen % n_folds == f]
        width = len(chosen) * self.parameters["first"].shape[1]
        some = replace(self, chosen=chosen, centre=np.zeros(width), axes=np.eye(width))
        return some.turned(X, q)

    def gradients(self, X: AnyArray, rng: np.random.Generator) -> FloatArray:
        """Return the mean square slope (d,) of the map by each standard score over rows.

        The diagonal of the expected gradient outer product E[Jᵀ J], J (q, d) the slopes of the map
        at a row: for v of independent signs E[(vᵀ J)_j²] = Σ_i J_ij², so that one product with v a
        row measures it. The slopes of the encoding are difference quotients.
        """
        members = self._members()
        squares = np.zeros(self.encoding.centre.shape[0])
        for start in range(0, len(X), BLOCK):
            z = self.encoding.standard(X[start : start + BLOCK])
            entries = self.encoding.entries(z)
            _, hidden = _places(members, self._inputs(entries))
            signs = rng.choice([-1.0, 1.0], (self.axes.shape[1], len(z)))
            C = len(self.chosen)
            back = (self.axes @ signs).reshape(C, -1, len(z)) / np.sqrt(C)
            by_entry = _pulled(members, back, hidden)
            by_score = self._by_score(by_entry, self.encoding.slopes(z, STEP))
            squares += np.square(by_score).sum(axis=1)
        return squares * np.isfinite(self.encoding.scale) / len(X)

    def _by_score(self, by_entry: FloatArray, slopes: FloatArray) -> FloatArray:
        """Return derivatives (d, n) by standard scores from those (C, D, n) by entries."""
        d = self.encoding.centre.shape[0]
        n_folds = len(slopes)
        total = np.zeros((d, by_entry.shape[2]))
        for member, part in zip(self.chosen, by_entry, strict=True):
            fold = member % n_folds
            np.add.at(total, self.encoding.column[fold], part * slopes[fold])
        return total


def _beside(places: FloatArray) -> FloatArray:
    """Return places (C, p, n) as rows (n, C p) whose squared distances are the members' mean."""
    return places.reshape(-1, places.shape[2]).T / np.sqrt(len(places))


def _places(members: Parameters, entries: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return places (C, p, n), and which hidden units are above zero (C, h, n)."""
    x = members["first"] @ entries
    inner = members["up"] @ _normal(members, "inner", x) + members["bias"]
    hidden = inner > 0
    x += members["down"] @ np.maximum(inner, 0.0)
    return _normal(members, "last", x), hidden


def _normal(members: Parameters, name: str, x: FloatArray) -> FloatArray:
    scale, mean, shift = _norm(members, name)
    return (x - mean) * scale + shift


def _norm(members: Parameters, name: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    weight, mean = members[f"{name}.weight"], members[f"{name}.running_mean"]
    scale = weight / np.sqrt(members[f"{name}.running_var"] + _EPS)
    return scale[..., None], mean[..., None], members[f"{name}.bias"][..., None]


def _pulled(members: Parameters, back: FloatArray, hidden: AnyArray) -> FloatArray:
    """Return vectors (C, p, n) at the places pulled back to the entries (C, D, n)."""
    by_sum = back * _norm(members, "last")[0]
    by_hidden = (members["down"].swapaxes(1, 2) @ by_sum) * hidden
    by_x = by_sum + (members["up"].swapaxes(1, 2) @ by_hidden) * _norm(members, "inner")[0]
    return members["first"].swapaxes(1, 2) @ by_x
