"""Gradient diffusion maps with dense matrices and loops over pairs."""

from __future__ import annotations

import numpy as np


def numerical_gradients(function, X, step=1e-5):
    """Return the Jacobians (n, C, d) of a function of one row, by central differences."""
    eye = step * np.eye(X.shape[1])
    return np.array(
        [[(function(x + e) - function(x - e)) / (2 * step) for e in eye] for x in X]
    ).transpose(0, 2, 1)


def terms(x, g, z, h):
    """Return ‖x − z‖² and (½(g + h)·(x − z))²."""
    return np.sum((x - z) ** 2), (np.dot(g + h, x - z) / 2) ** 2


def nearest(x, X, k, but=None):
    """Return the k rows nearest to x, lower rows first, without row ``but``."""
    order = np.argsort([np.sum((x - z) ** 2) for z in X], kind="stable")
    return [j for j in order if j != but][:k]


def median_scales(X, gradients, k):
    """Return the medians of both terms over the directed edges i → j."""
    n = range(len(X))
    found = np.array(
        [terms(X[i], gradients[i], X[j], gradients[j]) for i in n for j in nearest(X[i], X, k, i)]
    )
    return [np.median(column[column > 0]) for column in found.T]


def kernel(X, gradients, k, sigma1, sigma2):
    """Return W (n, n): 0 on the diagonal and where neither row is a neighbour of the other."""
    W = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        for j in nearest(X[i], X, k, i):
            squared, change = terms(X[i], gradients[i], X[j], gradients[j])
            W[i, j] = W[j, i] = np.exp(-squared / sigma1 - change / sigma2)
    return W


def diffusion_map(W, n_components):
    """Return λ and φ of D⁻¹W by the normalised Laplacian's eigenvectors 2, 3, ..."""
    degrees = W.sum(axis=1)
    laplacian = np.eye(len(W)) - W / np.sqrt(np.outer(degrees, degrees))
    values, vectors = np.linalg.eigh(laplacian)
    values, vectors = values[1 : n_components + 1], vectors[:, 1 : n_components + 1]
    phi = vectors * np.sqrt(degrees.sum()) / np.sqrt(degrees)[:, None]
    largest = phi[np.abs(phi).argmax(axis=0), range(n_components)]
    return 1 - values, phi * np.sign(largest)


def nystroem(x, g, X, gradients, k, sigma1, sigma2, phi):
    """Return Σ_j W(x, x_j) φ_j / Σ_j W(x, x_j) over the k nearest rows."""
    near = nearest(x, X, k)
    found = np.array([terms(x, g, X[j], gradients[j]) for j in near])
    weights = np.exp(-found[:, 0] / sigma1 - found[:, 1] / sigma2)
    return weights @ phi[near] / weights.sum()
