"""
How fast a gradient metric becomes right
========================================

The matrix :class:`~vicinal.EGOP` estimates approaches the true one as rows are added, and with it
its eigenvalues and leading directions. Here the three are measured beside the bounds that tie them
together.
"""

# %%
# A function of one direction of three, on a cube: its gradient is known at every place, and so is
# the matrix :math:`G = \mathbb E[\nabla f \nabla f^\top]`, an integral along that direction.

import matplotlib.pyplot as plt
import numpy as np

from vicinal import EGOP, Smoothing

V = np.array([2.0, 1.0, 0.0]) / np.sqrt(5)
DIMENSIONS, NOISE, ROWS = 3, 0.1, np.array([250, 500, 1000, 2000, 4000])
cube = np.random.default_rng(1).uniform(-1, 1, (200_000, DIMENSIONS))
G = np.mean((2 * np.cos(2 * cube @ V)) ** 2) * np.outer(V, V)

# %%
# The theorem :cite:p:`trivedi2014egop` asks for a bandwidth and a step that shrink together, for
# example :math:`h \propto n^{-1/(2(d+1))}` and :math:`t \propto h^{1/4}`. A difference counts
# where an indicator says that there are samples to take it from: the practical one asks for any
# at all, the theoretical one for a number that grows with the logarithm of n. Of the terms that
# bound the mean error of a gradient two are the slowest: what its entries change over a step, and
# the share of rows within a step of the border. Both shrink as t does, here as
# :math:`n^{-1/32}`: the theorem promises that errors vanish, not that they vanish fast.


def step(n):
    """Return the bandwidth and the step the theorem's example gives, up to constants."""
    h = 3.0 * n ** (-1 / (2 * (DIMENSIONS + 1)))
    return h, 0.25 * h**0.25


def deviation(n, indicator, seed):
    """Return the error of the matrix, of its eigenvalues and of its leading direction."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, DIMENSIONS))
    y = np.sin(2 * X @ V) + NOISE * rng.normal(size=n)
    h, t = step(n)
    metric = EGOP(
        "difference",
        bandwidth=h,
        smoothing=Smoothing("epanechnikov", step=t, indicator=indicator),
        n_evaluations=250,
        random_state=0,
    ).fit(X, y)
    matrix = metric.outer_product_
    values, vectors = np.linalg.eigh(matrix)
    error = np.linalg.norm(matrix - G, 2)
    eigenvalues = np.abs(values - np.linalg.eigvalsh(G)).max()
    sine = np.sqrt(max(0.0, 1 - (vectors[:, -1] @ V) ** 2))
    # The two bounds: Weyl's for eigenvalues, and Davis' and Kahan's for the direction.
    return error, eigenvalues, sine, np.linalg.norm((matrix - G) @ V) / (G.trace() - values[-2])


found = {
    name: np.array([[deviation(n, name, s) for s in range(3)] for n in ROWS]).mean(axis=1)
    for name in ("practical", "theoretical")
}

# %%
# Left: the error of the matrix against n, and how t shrinks beside it. Right, for the practical
# indicator: no eigenvalue is further off than the matrix is (Weyl), and the sine of the angle
# between the leading eigenvector and the true direction stays below the error along that direction
# over the gap of the spectrum (Davis and Kahan). The theorems of :cite:t:`trivedi2018` on
# eigenvalues and eigenspaces are these two bounds with the theorem's bound in place of the measured
# error; its constants are not known, so the measured one is drawn.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for name, values in found.items():
    slope = np.polyfit(np.log(ROWS), np.log(values[:, 0]), 1)[0]
    left.loglog(ROWS, values[:, 0], "o-", label=f"{name} indicator, n^{slope:.2f}")
    print(
        f"{name}: error {values[0, 0]:.2f} with {ROWS[0]} rows, {values[-1, 0]:.2f} with {ROWS[-1]}"
    )
pace = step(ROWS)[1]
start = found["practical"][0, 0] / pace[0]
left.loglog(ROWS, start * pace, ":", color="gray", label="pace of the step, n^-0.03")
left.set(xlabel="rows", ylabel="‖estimate − G‖", title="the matrix")
left.legend()
error, eigenvalues, sine, bound = found["practical"].T
right.loglog(ROWS, error, "--", color="C0", label="bound on eigenvalues")
right.loglog(ROWS, eigenvalues, "o-", color="C0", label="largest error of an eigenvalue")
right.loglog(ROWS, bound, "--", color="C1", label="bound on the sine")
right.loglog(ROWS, sine, "o-", color="C1", label="sine of the angle")
right.set(xlabel="rows", title="eigenvalues and direction")
right.legend()
left.set_yticks(ticks := [1.0, 1.2, 1.5, 1.8], labels=ticks)
for axes in (left, right):
    axes.set_xticks(ROWS, labels=ROWS)
    axes.minorticks_off()
plt.show()
