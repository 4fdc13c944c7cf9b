"""
A map that follows the target
=============================

A gradient diffusion map walks along the data and across the changes of a target: its first
coordinate is what the target depends on, not where the data happen to spread.
"""

# %%
# Rows on a rectangle, longer one way; the target changes along the *short* side only.

import matplotlib.pyplot as plt
import numpy as np

from vicinal import EGOP, GradientDiffusionMap

random = np.random.default_rng(0)
X = random.uniform(size=(700, 2)) * [1.6, 1.0]
y = np.sin(2 * X[:, 1]) + 0.05 * random.normal(size=700)

how = EGOP("analytic", bandwidth=0.15)
plain = GradientDiffusionMap(gradients=how, sigma2=np.inf).fit(X, y)
learned = GradientDiffusionMap(gradients=how).fit(X, y)

# %%
# Colour is the first coordinate of each map. Without the target it runs along the long side, with
# it along the side that matters.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained", sharey=True)
panels = {
    "the target": y,
    "first coordinate, rows alone": plain.embedding_[:, 0],
    "first coordinate, rows and target": learned.embedding_[:, 0],
}
for axis, (title, values) in zip(axes, panels.items(), strict=True):
    axis.scatter(X[:, 0], X[:, 1], c=values, s=9, linewidths=0)
    axis.set(title=title, xlabel="long side", aspect="equal")
axes[0].set_ylabel("short side")
plt.show()

for name, map_ in {"rows alone": plain, "rows and target": learned}.items():
    r = np.corrcoef(map_.embedding_[:, 0], y)[0, 1]
    print(f"{name:16s} correlation with the target {abs(r):.2f}")

# %%
# New rows are placed without a new fit.

new = random.uniform(size=(5, 2)) * [1.6, 1.0]
print(learned.transform(new).round(4))
